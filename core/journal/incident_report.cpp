// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/incident_report.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/journal/incident_svg.h"
#include "core/journal/journal_export.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenure
{
namespace
{

constexpr int kLanePixels = 800;
constexpr std::size_t kMostLeases = 40;
constexpr std::size_t kMostEvents = 500;
constexpr std::size_t kMostCharts = 10;
constexpr int kCells = 100;

/// Text within a Markdown table or paragraph: nothing in it means anything.
std::string plain(const std::string& bytes)
{
    std::string out;
    for (const char c : printable(bytes, 400)) {
        if (std::string_view("\\`*_{}[]<>#|~").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out.empty() ? "nobody" : out;
}

/// Bars of eight heights; a blank where nobody looked.
std::string bars(const std::vector<DensityCell>& cells)
{
    static constexpr std::array kBars{"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
    std::uint64_t most = 0;
    for (const DensityCell& cell : cells)
        most = std::max(most, cell.transitions);
    std::string out;
    for (const DensityCell& cell : cells) {
        const std::size_t step = most == 0 ? 0 : (cell.transitions * (kBars.size() - 1) + most - 1) / most;
        out += cell.observed < 0.05 ? " " : kBars[step];
    }
    return out;
}

void addChanges(std::string& out, const IncidentReport& report)
{
    for (const IncidentReport::Density& row : report.density)
        out += "\nChanges on " + plain(report.connectionName(row.connection)) + " over the time (blank: not observed):\n\n    "
            + bars(row.cells) + "\n";
}

/// How the renewals were, in a sentence; empty when there were too few.
std::string renewalsText(const std::vector<RenewalBucket>& renewals)
{
    std::uint64_t count = 0;
    std::uint64_t late = 0;
    Duration most{};
    double headroom = 1;
    for (const RenewalBucket& bucket : renewals) {
        count += bucket.count;
        late += bucket.late;
        most = std::max(most, bucket.intervalMost);
        headroom = std::min(headroom, bucket.headroomLeast);
    }
    if (count == 0)
        return {};
    return " " + std::to_string(count) + " renewals, " + std::to_string(late) + " of them late, at most "
        + durationText(most) + " apart, the least time left " + std::to_string(std::lround(headroom * 100))
        + " % of the ttl.";
}

void addLeases(std::string& out, const IncidentReport& report)
{
    out += "\n## Who led when\n";
    if (report.leases.empty())
        out += "\nNothing happened to any lease in this time.\n";
    for (const IncidentReport::Lease& lease : report.leases) {
        out += "\n### " + plain(lease.key.lease.name()) + " on " + plain(report.connectionName(lease.key.connection))
            + "\n\n" + summaryWords(lease.summary) + "." + renewalsText(lease.renewals) + "\n\n| from | to | who led | token | for |\n|---|---|---|---|---|\n";
        for (const TermSegment& term : lease.lane.segments) {
            const bool blind = term.kind == TermKind::NotObserved;
            std::string who;
            switch (term.kind) {
            case TermKind::Led:
                who = plain(term.holder);
                break;
            case TermKind::Leaderless:
                who = "**nobody**";
                break;
            case TermKind::OperatorHold:
                who = "operator hold";
                break;
            case TermKind::NotObserved:
                who = "*not observed*";
                break;
            case TermKind::Dense:
                who = std::to_string(term.transitions) + " changes, " + durationText(term.leaderless)
                    + " without a leader";
                break;
            }
            out += "| " + rfc3339(term.from) + (term.begins || blind ? "" : " or earlier") + " | " + rfc3339(term.to)
                + (term.ends || blind ? "" : " or later") + " | " + who + " | "
                + (term.token ? std::to_string(term.token.value) : "") + " | "
                + durationText(term.to - term.from) + " |\n";
        }
    }
    if (report.quietLeases > 0)
        out += "\n" + std::to_string(report.quietLeases) + " more leases are not listed.\n";
}

void addEvents(std::string& out, const IncidentReport& report)
{
    out += "\n## Causes\n\n";
    if (report.events.empty())
        out += "No change was seen.\n";
    for (const JournalEvent& event : report.events) {
        out += "- " + rfc3339(event.at) + " **" + plain(event.lease.lease.name()) + "** "
            + transitionWord(event.kind) + ": " + plain(event.explanation)
            + (event.inBlindSpot ? " (while nobody looked)" : "") + "\n";
    }
    if (report.eventsCut)
        out += "\nOnly the first " + std::to_string(report.events.size()) + " are listed.\n";
}

void addDeeds(std::string& out, const IncidentReport& report)
{
    out += "\n## What operators did\n\n";
    if (report.actions.empty())
        out += "Nothing.\n";
    for (const JournalAction& action : report.actions) {
        out += "- " + rfc3339(action.at) + " " + plain(action.by) + " **" + plain(action.verb) + "** "
            + plain(action.lease.lease.name().empty() ? report.connectionName(action.lease.connection)
                                                      : action.lease.lease.name());
        if (!action.expected.empty())
            out += ", expecting " + plain(action.expected);
        if (!action.reason.empty())
            out += ", because \"" + plain(action.reason) + "\"";
        out += action.outcome.empty() ? "" : " -> **" + plain(action.outcome) + "** " + plain(action.sentence);
        out += "\n";
    }
    out += "\n## Alerts\n\n";
    if (report.alerts.empty())
        out += "None.\n";
    for (const JournalAlert& alert : report.alerts) {
        out += "- " + rfc3339(alert.firstAt) + " P" + std::to_string(alert.priority) + " **" + plain(alert.rule)
            + "** "
            + plain(alert.lease.lease.name().empty() ? report.connectionName(alert.lease.connection)
                                                     : alert.lease.lease.name())
            + ": " + plain(alert.text) + "; now " + alertStateWord(alert.state) + "\n";
    }
}

} // namespace

std::string IncidentReport::connectionName(const std::string& id) const
{
    for (const JournalConnection& one : connections) {
        if (one.id == id)
            return one.name;
    }
    return id;
}

Result<IncidentReport> gatherIncident(JournalQuery& query, const JournalFilter& filter, TimeWindow window)
{
    IncidentReport report;
    report.window = window;
    report.notes = query.notes();
    report.title = "Leadership from " + rfc3339(window.from) + " to " + rfc3339(window.to);
    JournalFilter within = filter;
    within.from = window.from;
    within.to = window.to;
    const auto connections = query.connections();
    const auto leases = query.leases(filter);
    auto actions = query.actions(within, 0, 10'000);
    auto alerts = query.alerts(within, 0, 10'000);
    if (!connections)
        return fail(connections.error());
    if (!leases)
        return fail(leases.error());
    if (!actions)
        return fail(actions.error());
    if (!alerts)
        return fail(alerts.error());
    report.actions.assign(actions->rbegin(), actions->rend());
    report.alerts.assign(alerts->rbegin(), alerts->rend());
    for (const LeaseKey& key : *leases) {
        const auto summary = query.summary(key, window);
        if (!summary)
            return fail(summary.error());
        if (summary->transitions > 0 || summary->leaderless > Duration::zero() || leases->size() <= 3)
            report.leases.push_back({key, *summary, {}});
    }
    std::stable_sort(report.leases.begin(), report.leases.end(), [](const auto& a, const auto& b) {
        return std::pair(a.summary.leaderless, a.summary.transitions)
            > std::pair(b.summary.leaderless, b.summary.transitions);
    });
    report.leases.resize(std::min(report.leases.size(), kMostLeases));
    report.quietLeases = leases->size() - report.leases.size();
    for (IncidentReport::Lease& lease : report.leases) {
        auto lane = query.terms(lease.key, window, kLanePixels);
        if (!lane)
            return fail(lane.error());
        lease.lane = std::move(*lane);
        if (static_cast<std::size_t>(&lease - report.leases.data()) >= kMostCharts)
            continue;
        if (auto renewals = query.renewals(lease.key, window, 2 * kCells))
            lease.renewals = std::move(*renewals);
    }
    for (const JournalConnection& one : *connections) {
        if (std::none_of(leases->begin(), leases->end(),
                [&](const LeaseKey& key) { return key.connection == one.id; }))
            continue;
        report.connections.push_back(one);
        if (auto cells = query.density(one.id, window, kCells))
            report.density.push_back({one.id, std::move(*cells)});
        const auto blind = query.notObserved(one.id, window);
        for (const TimeWindow& stretch : blind ? *blind : std::vector<TimeWindow>())
            report.notObserved.emplace_back(one.id, stretch);
    }
    const auto told = eachEvent(query, within, [&](const JournalEvent& event) {
        report.eventsCut = report.events.size() >= kMostEvents;
        if (!report.eventsCut && event.kind != TransitionKind::Appeared)
            report.events.push_back(event);
        return !report.eventsCut;
    });
    if (!told)
        return fail(told.error());
    return report;
}

std::string incidentMarkdown(const IncidentReport& report)
{
    std::string out = "# " + report.title + "\n\n";
    for (const JournalConnection& one : report.connections)
        out += "- " + plain(one.name) + ": " + plain(one.url) + "\n";
    for (const std::string& note : report.notes)
        out += "- Note: " + plain(note) + "\n";
    out += "- Times are of the clock of the machine that watched, in UTC.\n";
    addChanges(out, report);
    addLeases(out, report);
    addEvents(out, report);
    addDeeds(out, report);
    out += "\n## Not observed\n\n";
    if (report.notObserved.empty())
        out += "The whole time was observed.\n";
    for (const auto& [connection, stretch] : report.notObserved) {
        out += "- " + plain(report.connectionName(connection)) + ": " + rfc3339(stretch.from) + " to "
            + rfc3339(stretch.to) + " (" + durationText(stretch.length()) + "): what changed then is not known\n";
    }
    return out;
}

} // namespace tenure
