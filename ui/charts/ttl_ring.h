// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/charts/spoken.h"
#include "ui/charts/ticking.h"

namespace tenure::ui
{

/// The countdown of one lease as a ring with the seconds inside. Shows "?" and no arc when the data is
/// not fresh, and never a number that would be a guess (R1).
class TtlRing final : public Ticking, public Spoken
{
    Q_OBJECT
public:
    TtlRing(const Theme &theme, const Clock &clock, QWidget *parent);
    void setLease(const LeaseStatus &status, const LinkStatus &link);
    /// "13.4 s", "?", "none" (nobody leads) or "no end" (never expires).
    [[nodiscard]] QString text() const;

    [[nodiscard]] QString spokenValue() const override;
    [[nodiscard]] QAccessible::Role spokenRole() const override { return QAccessible::ProgressBar; }
    [[nodiscard]] std::optional<std::pair<double, double>> spokenNumber() const override;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] Milliseconds tickEvery() const override;
    void tick() override;

private:
    [[nodiscard]] std::optional<Duration> left() const;
    [[nodiscard]] bool isKnown() const;

    LeaseStatus m_status;
    LinkStatus m_link;
};

} // namespace tenure::ui
