// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/tokens.h"

#include <QAbstractButton>

namespace tenure::ui
{

class Theme;

/// A number with its name above and a note below, to be chosen with the others of its group: what is
/// counted is what one then looks at. Painted; follows the theme.
class CountTile final : public QAbstractButton
{
    Q_OBJECT
public:
    /// `ink`: of the number while it is above zero.
    CountTile(const Theme &theme, const QString &caption, Token ink, QWidget *parent);
    void setCount(std::uint64_t count, const QString &note);
    /// Nothing is known (yet): a dash. Old: what was known, in the colour of old data.
    void setUnknown();
    void setStale(bool stale);
    [[nodiscard]] QString numberText() const { return m_number; }
    [[nodiscard]] QString note() const { return m_note; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void show(const QString &number, const QString &note, bool warns);

    const Theme &m_theme;
    const Token m_ink;
    QString m_number, m_note;
    bool m_warns = false;
    bool m_stale = false;
};

} // namespace tenure::ui
