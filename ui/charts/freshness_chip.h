// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/link.h"
#include "ui/charts/ticking.h"

namespace tenure::ui
{

/// How far a connection's data may be believed, in the textures of UX.md section 2: LIVE is plain,
/// POLLING dotted, STALE dashed violet with an age that counts up, DISCONNECTED hatched.
class FreshnessChip final : public Ticking
{
    Q_OBJECT
public:
    FreshnessChip(const Theme &theme, const Clock &clock, QWidget *parent);
    void setLink(const LinkStatus &link);
    [[nodiscard]] QString text() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    void tick() override;

private:
    LinkStatus m_link;
    QString m_shownText;
};

} // namespace tenure::ui
