// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QAbstractButton>
#include <QWidget>

#include <map>

namespace tenure::ui
{

class Theme;

/// One count with its glyph and word; a click filters by it. Its shape differs by severity, not only
/// its colour: pill, square, dashed.
class Chip final : public QAbstractButton
{
    Q_OBJECT
public:
    enum class Shape { Plain, Warn, Crit, Stale };
    Chip(const Theme &theme, Shape shape, QString glyph, QString word, QWidget *parent);
    void setCount(std::size_t count);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] QString label() const;
    const Theme &m_theme;
    Shape m_shape;
    QString m_glyph, m_word;
    std::size_t m_count = 0;
};

/// Counts by state, what is abnormal first; empty ones are not shown.
class ChipBar final : public QWidget
{
    Q_OBJECT
public:
    ChipBar(const Theme &theme, QWidget *parent);
    void setSummary(const FleetSummary &summary);
    /// Marks the chip whose filter this is.
    void setFilter(const QString &filter);

Q_SIGNALS:
    void filterPicked(const QString &filter); ///< empty: all

private:
    Chip *add(Chip::Shape shape, const QString &glyph, const QString &word, const QString &filter);

    const Theme &m_theme;
    Chip *m_all;
    Chip *m_churn;
    std::map<LeaseState, Chip *> m_states;
};

} // namespace tenure::ui
