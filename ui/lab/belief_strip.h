// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "core/runtime/local_instances.h"
#include "ui/charts/ticking.h"

#include <QString>

#include <deque>
#include <map>
#include <vector>

namespace tenure::ui
{

/// The last minute of every instance: what the backend says of each lease (truth lane), and below it
/// what each of its instances believes of itself. Two believers of one lease at once are drawn as
/// CONTESTED in the truth lane. Fed by samples.
class BeliefStrip final : public Ticking
{
    Q_OBJECT
public:
    static constexpr Duration kWindow = std::chrono::seconds(60);
    BeliefStrip(const Theme &theme, const Clock &clock, QWidget *parent);

    /// One look at all instances. `truth`: the holder of each lease, nothing when not observed.
    void sample(Instant now, const std::vector<InstanceView> &views,
        const std::map<LeaseId, std::optional<std::string>> &truth);
    /// Believers of `lease` at the last sample.
    [[nodiscard]] int believersNow(const LeaseId &lease) const;
    /// Longest stretch within the window in which two believed at once.
    [[nodiscard]] Duration contested() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] Milliseconds tickEvery() const override { return std::chrono::milliseconds(200); }

private:
    /// A stretch of time with one value: a holder, a belief, a number of believers.
    struct Piece {
        Instant from, until;
        std::string value;
    };
    struct Lane {
        QString label;
        std::deque<Piece> pieces;
        Instant lastSeen;
        void add(Instant now, std::string value);
    };
    struct LeaseLanes {
        Lane truth;
        Lane contested;
        std::map<std::uint64_t, Lane> beliefs;
        int believers = 0;
    };
    void forgetOld(Instant now);
    [[nodiscard]] int laneHeight() const;
    [[nodiscard]] int labelWidth() const;
    void paintTruth(QPainter &painter, const LeaseLanes &lanes, const QRect &box) const;
    void paintBelief(QPainter &painter, const Lane &lane, const QRect &box) const;
    [[nodiscard]] QRectF boxOf(const Piece &piece, const QRect &lane) const;

    std::map<LeaseId, LeaseLanes> m_leases;
};

} // namespace tenure::ui
