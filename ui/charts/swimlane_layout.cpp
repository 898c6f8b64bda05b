// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/swimlane_layout.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::ui
{
namespace
{

SwimBar barOf(const TermSeen &term, const SwimWindow &window, Instant now)
{
    SwimBar bar;
    const Instant end = term.until.value_or(now);
    bar.left = std::max(window.x(term.from), 0.0);
    bar.right = std::min(window.x(end), window.width);
    bar.isOpen = !term.until;
    const std::string length = durationText(end - term.from);
    if (term.operatorHold) {
        bar.kind = SwimBar::Kind::Hold;
        bar.label = "hold " + length;
        bar.tip = "Operator hold, " + length;
    } else if (term.holder.empty()) {
        bar.kind = SwimBar::Kind::NoLeader;
        bar.label = length;
        bar.tip = "No leader for " + length;
    } else {
        bar.label = term.token ? std::to_string(term.token.value) : std::string();
        bar.tip = printable(term.holder, 120) + (term.token ? ", term " + bar.label : std::string())
            + ", " + (term.observedStart ? "" : "at least ") + length;
    }
    return bar;
}

/// Puts neighbours that are too narrow to be seen into one bar with a count.
void append(std::vector<SwimBar> &bars, SwimBar bar)
{
    const bool narrow = bar.right - bar.left < kLeastBar && !bar.isOpen;
    if (!narrow) {
        bars.push_back(std::move(bar));
        return;
    }
    const bool joins = !bars.empty() && bars.back().kind == SwimBar::Kind::Merged
        && bar.left - bars.back().right < kLeastBar;
    if (joins) {
        bars.back().right = std::max(bar.right, bars.back().right);
        ++bars.back().merged;
    } else {
        bar.kind = SwimBar::Kind::Merged;
        bar.right = bar.left + kLeastBar;
        bar.merged = 1;
        bars.push_back(std::move(bar));
    }
    SwimBar &last = bars.back();
    last.label = last.merged > 1 ? std::to_string(last.merged) : std::string();
    if (last.merged > 1)
        last.tip = std::to_string(last.merged) + " terms: zoom in to see them";
}

void addBlind(SwimLane &lane, const LeaseStatus &status, const SwimWindow &window)
{
    for (const BlindSpot &spot : status.blind) {
        SwimBar bar;
        bar.kind = SwimBar::Kind::NotObserved;
        bar.left = std::max(window.x(spot.from), 0.0);
        bar.right = std::min(window.x(spot.until), window.width);
        bar.tip = "Not observed for " + durationText(spot.until - spot.from)
            + ": changes in this gap are unknown";
        if (bar.right > bar.left)
            lane.bars.push_back(std::move(bar));
    }
}

} // namespace

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
    const LeaseStatus &status, const SwimWindow &window, Instant now, std::size_t mostHolders)
{
    std::vector<SwimLane> lanes(1);
    for (auto term = status.terms.rbegin(); term != status.terms.rend(); ++term) {
        const bool known = std::any_of(lanes.begin() + 1, lanes.end(),
            [&](const SwimLane &lane) { return lane.holder == term->holder; });
        if (!term->holder.empty() && !term->operatorHold && !known && lanes.size() <= mostHolders)
            lanes.push_back({term->holder, {}});
    }
    for (const TermSeen &term : status.terms) {
        if (window.x(term.until.value_or(now)) < 0 || window.x(term.from) > window.width)
            continue;
        const SwimBar bar = barOf(term, window, now);
        append(lanes.front().bars, bar);
        if (term.holder.empty() || term.operatorHold)
            continue;
        for (std::size_t i = 1; i < lanes.size(); ++i) {
            if (lanes[i].holder == term.holder)
                append(lanes[i].bars, bar);
        }
    }
    for (SwimLane &lane : lanes)
        addBlind(lane, status, window);
    return lanes;
}

} // namespace tenure::ui
