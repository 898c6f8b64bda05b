// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/swimlane_layout.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::ui
{
namespace
{

using Kind = SwimStretch::Kind;

SwimBar barOf(const SwimStretch &stretch, const SwimWindow &window)
{
    SwimBar bar;
    bar.left = std::max(window.x(stretch.from), 0.0);
    bar.right = std::min(window.x(stretch.until), window.width);
    bar.isOpen = stretch.isOpen;
    const std::string length = durationText(stretch.until - stretch.from);
    switch (stretch.kind) {
    case Kind::Hold:
        bar.kind = SwimBar::Kind::Hold;
        bar.label = "hold " + length;
        bar.tip = "Operator hold, " + length;
        break;
    case Kind::NoLeader:
        bar.kind = SwimBar::Kind::NoLeader;
        bar.label = length;
        bar.tip = "No leader for " + length;
        break;
    case Kind::NotObserved:
        bar.kind = SwimBar::Kind::NotObserved;
        bar.tip = "Not observed for " + length + ": changes in this gap are unknown";
        break;
    case Kind::Dense:
        bar.kind = SwimBar::Kind::Merged;
        bar.merged = static_cast<int>(stretch.transitions);
        break;
    case Kind::Term:
        bar.label = stretch.token ? std::to_string(stretch.token.value) : std::string();
        bar.tip = printable(stretch.holder, 120) + (stretch.token ? ", term " + bar.label : std::string())
            + ", " + (stretch.observedStart ? "" : "at least ") + length;
        break;
    }
    return bar;
}

void describe(SwimBar &merged)
{
    merged.label = merged.merged > 1 ? std::to_string(merged.merged) : std::string();
    if (merged.merged > 1)
        merged.tip = std::to_string(merged.merged) + " changes: zoom in to see them";
}

/// Puts neighbours that are too narrow to be seen into one bar with a count.
void append(std::vector<SwimBar> &bars, SwimBar bar)
{
    const bool dense = bar.kind == SwimBar::Kind::Merged;
    const bool narrow = bar.right - bar.left < kLeastBar && !bar.isOpen && bar.kind != SwimBar::Kind::NotObserved;
    if (!narrow && !dense) {
        bars.push_back(std::move(bar));
        return;
    }
    const int count = dense ? std::max(1, bar.merged) : 1;
    const bool joins = !bars.empty() && bars.back().kind == SwimBar::Kind::Merged
        && bar.left - bars.back().right < kLeastBar;
    if (joins) {
        bars.back().right = std::max(bar.right, bars.back().right);
        bars.back().merged += count;
    } else {
        bar.kind = SwimBar::Kind::Merged;
        bar.right = std::max(bar.right, bar.left + kLeastBar);
        bar.merged = count;
        bars.push_back(std::move(bar));
    }
    describe(bars.back());
}

Kind kindOf(TermKind kind)
{
    switch (kind) {
    case TermKind::Led:
        return Kind::Term;
    case TermKind::Leaderless:
        return Kind::NoLeader;
    case TermKind::OperatorHold:
        return Kind::Hold;
    case TermKind::Dense:
        return Kind::Dense;
    case TermKind::NotObserved:
        break;
    }
    return Kind::NotObserved;
}

} // namespace

std::vector<SwimStretch> stretchesOf(const LeaseStatus &status, Instant now)
{
    std::vector<SwimStretch> out;
    for (const TermSeen &term : status.terms) {
        SwimStretch one;
        one.kind = term.operatorHold ? Kind::Hold : term.holder.empty() ? Kind::NoLeader : Kind::Term;
        one.from = term.from;
        one.until = term.until.value_or(now);
        one.isOpen = !term.until;
        one.observedStart = term.observedStart;
        one.holder = term.operatorHold ? std::string() : term.holder;
        one.token = term.token;
        one.leaderless = one.kind == Kind::NoLeader ? one.until - one.from : Duration::zero();
        out.push_back(std::move(one));
    }
    for (const BlindSpot &spot : status.blind) {
        SwimStretch one;
        one.kind = Kind::NotObserved;
        one.from = spot.from;
        one.until = spot.until;
        out.push_back(std::move(one));
    }
    return out;
}

std::vector<SwimStretch> stretchesOf(const TermLane &lane, const Clock &clock)
{
    const Instant now = clock.now();
    const WallTime wall = clock.wall();
    const auto local = [&](WallTime at) { return now - Duration(wall - at); };
    std::vector<SwimStretch> out;
    out.reserve(lane.segments.size());
    for (const TermSegment &segment : lane.segments) {
        SwimStretch one;
        one.kind = kindOf(segment.kind);
        one.from = local(segment.from);
        one.until = std::min(local(segment.to), now); // what is to come is not "not observed"
        if (one.until <= one.from)
            continue;
        one.observedStart = segment.begins;
        one.holder = segment.holder;
        one.token = segment.token;
        one.transitions = segment.transitions;
        one.leaderless = segment.leaderless;
        out.push_back(std::move(one));
    }
    return out;
}

std::vector<SwimStretch> joined(const std::vector<SwimStretch> &journal, const std::vector<SwimStretch> &session)
{
    if (session.empty())
        return journal;
    const Instant known = std::min_element(session.begin(), session.end(), [](const auto &a, const auto &b) {
        return a.from < b.from;
    })->from;
    std::vector<SwimStretch> out;
    for (const SwimStretch &stretch : journal) {
        if (stretch.from >= known)
            break;
        out.push_back(stretch);
        out.back().until = std::min(stretch.until, known);
    }
    out.insert(out.end(), session.begin(), session.end());
    return out;
}

SwimSummary summaryOf(const std::vector<SwimStretch> &stretches, Instant from, Instant until)
{
    SwimSummary out;
    for (const SwimStretch &stretch : stretches) {
        const Duration inside = std::min(stretch.until, until) - std::max(stretch.from, from);
        if (inside < Duration::zero())
            continue;
        const bool begins = stretch.from >= from && stretch.from < until && stretch.observedStart;
        if (stretch.kind == Kind::Dense)
            out.transitions += stretch.transitions;
        else if (begins && stretch.kind != Kind::NotObserved)
            ++out.transitions;
        if (stretch.kind == Kind::NoLeader) {
            out.leaderless += inside;
            out.longestGap = std::max(out.longestGap, inside);
        } else if (stretch.kind == Kind::Dense) {
            out.leaderless += stretch.leaderless;
        } else if (stretch.kind == Kind::NotObserved) {
            out.notObserved += inside;
        }
    }
    return out;
}

double SwimWindow::x(Instant at) const
{
    const auto span = static_cast<double>((until - from).count());
    return span <= 0 ? 0 : width * static_cast<double>((at - from).count()) / span;
}

Instant SwimWindow::at(double pixel) const
{
    const auto span = static_cast<double>((until - from).count());
    return from + Duration(static_cast<Duration::rep>(span * pixel / std::max(width, 1.0)));
}

std::vector<SwimLane> layoutSwimlane(
    const std::vector<SwimStretch> &stretches, const SwimWindow &window, std::size_t mostHolders)
{
    std::vector<SwimLane> lanes(1);
    const auto inside = [&](const SwimStretch &one) { return one.until >= window.from && one.from <= window.until; };
    // Lanes of those that led in this window come first, then, while there is room, others.
    for (const bool seen : {true, false}) {
        for (auto one = stretches.rbegin(); one != stretches.rend(); ++one) {
            const bool known = std::any_of(
                lanes.begin() + 1, lanes.end(), [&](const SwimLane &lane) { return lane.holder == one->holder; });
            if (!one->holder.empty() && inside(*one) == seen && !known && lanes.size() <= mostHolders)
                lanes.push_back({one->holder, {}});
        }
    }
    for (const SwimStretch &one : stretches) {
        if (!inside(one))
            continue;
        const SwimBar bar = barOf(one, window);
        append(lanes.front().bars, bar);
        for (std::size_t i = 1; i < lanes.size(); ++i) {
            if (lanes[i].holder == one.holder || one.kind == Kind::NotObserved)
                append(lanes[i].bars, bar);
        }
    }
    return lanes;
}

std::vector<SwimLane> layoutSwimlane(
    const LeaseStatus &status, const SwimWindow &window, Instant now, std::size_t mostHolders)
{
    return layoutSwimlane(stretchesOf(status, now), window, mostHolders);
}

} // namespace tenure::ui
