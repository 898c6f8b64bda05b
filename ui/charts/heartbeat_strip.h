// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/charts/spoken.h"
#include "ui/charts/ticking.h"

namespace tenure::ui
{

/// The last 60 renewals in order: a tall tick is a renewal in time, a short one came late, an empty
/// place is one that was missed.
class HeartbeatStrip final : public Ticking, public Spoken
{
    Q_OBJECT
public:
    enum class Beat { Renewed, Late, Missed };

    HeartbeatStrip(const Theme &theme, const Clock &clock, QWidget *parent);
    void setLease(const LeaseStatus &status);
    [[nodiscard]] const std::vector<Beat> &beats() const { return m_beats; }
    /// Newest last, at most `most`; gaps are counted from intervals longer than 1.75 times the usual.
    [[nodiscard]] static std::vector<Beat> beatsOf(const LeaseStatus &status, std::size_t most);

    [[nodiscard]] QString spokenValue() const override { return accessibleDescription(); }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] Milliseconds tickEvery() const override { return Milliseconds::zero(); }

private:
    std::vector<Beat> m_beats;
};

} // namespace tenure::ui
