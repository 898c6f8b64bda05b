// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/journal/incident_report.h"

#include <algorithm>
#include <cmath>

namespace tenure
{
namespace
{

constexpr int kLabel = 220; ///< room for the names, in picture units
constexpr int kLane = 800;
constexpr int kRow = 34;
constexpr int kBar = 18;
constexpr int kHead = 26;

std::string escaped(const std::string& bytes, std::size_t most = 400)
{
    std::string out;
    for (const char c : printable(bytes, most)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

constexpr const char* kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;background:#fff;color:#1b1f24}
h1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;width:100%;font-size:.9em}
td,th{text-align:left;padding:.3em .6em;border-bottom:1px solid #d0d7de;vertical-align:top}
.muted{color:#57606a}.none{color:#8a0e12;font-weight:600}code{font-size:.95em}
svg{width:100%;height:auto;margin:1em 0}
@media(prefers-color-scheme:dark){body{background:#15191e;color:#e6eaee}td,th{border-color:#3a4350}
.muted{color:#a3adb8}.none{color:#ff8a80}})";

constexpr const char* kSvgStyle = R"(<style>text{font:12px system-ui,sans-serif;fill:#1b1f24}
.axis{stroke:#6e7781;stroke-width:1}.soft{fill:#57606a}.led{fill:#c3cad2;stroke:#57606a}.none{fill:#a31515}
.hold{fill:#0550ae}.blind{fill:url(#blind);stroke:#6e7781;stroke-dasharray:3 2}.dense{fill:#7a5c00}
@media(prefers-color-scheme:dark){text{fill:#e6eaee}.soft{fill:#a3adb8}.led{fill:#3a4350;stroke:#a3adb8}
.none{fill:#ff8a80}.hold{fill:#79b8ff}.dense{fill:#f0ba43}}</style>
<defs><pattern id="blind" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0" stroke="#6e7781"
stroke-width="1"/></pattern></defs>)";

const char* classOf(TermKind kind)
{
    switch (kind) {
    case TermKind::Led:
        return "led";
    case TermKind::Leaderless:
        return "none";
    case TermKind::OperatorHold:
        return "hold";
    case TermKind::NotObserved:
        return "blind";
    case TermKind::Dense:
        return "dense";
    }
    return "";
}

std::string wordsOf(const TermSegment& term)
{
    switch (term.kind) {
    case TermKind::Led:
        return term.holder + ", token " + std::to_string(term.token.value);
    case TermKind::Leaderless:
        return "nobody led";
    case TermKind::OperatorHold:
        return "operator hold";
    case TermKind::NotObserved:
        return "not observed";
    case TermKind::Dense:
        return std::to_string(term.transitions) + " changes";
    }
    return {};
}

std::string number(double value)
{
    return std::to_string(static_cast<double>(std::lround(value * 10)) / 10).substr(0, 7);
}

class Scale
{
public:
    explicit Scale(const TimeWindow& window) : m_window(window) { }
    [[nodiscard]] double x(WallTime at) const
    {
        const double share = static_cast<double>((at - m_window.from).count())
            / static_cast<double>(std::max<std::int64_t>(1, (m_window.to - m_window.from).count()));
        return kLabel + std::clamp(share, 0.0, 1.0) * kLane;
    }

private:
    const TimeWindow m_window;
};

std::string laneSvg(const IncidentReport::Lease& lease, const Scale& scale, int top)
{
    std::string out = "<text x=\"0\" y=\"" + std::to_string(top + 14) + "\">"
        + escaped(lease.key.lease.name(), 28) + "</text>\n";
    for (const TermSegment& term : lease.lane.segments) {
        const double from = scale.x(term.from);
        const double width = std::max(1.0, scale.x(term.to) - from);
        // Who leads is told by the words; the shapes differ in height too, not only in colour.
        const bool thin = term.kind == TermKind::Leaderless || term.kind == TermKind::Dense;
        const int height = term.kind == TermKind::NotObserved ? kBar / 2 : kBar;
        out += std::string("<rect class=\"") + classOf(term.kind) + "\" x=\"" + number(from) + "\" y=\""
            + std::to_string(top + (kBar - height) / 2) + "\" width=\"" + number(width) + "\" height=\""
            + std::to_string(thin ? kBar + 4 : height) + "\"><title>" + escaped(wordsOf(term)) + ", "
            + rfc3339(term.from) + " to " + rfc3339(term.to) + "</title></rect>\n";
        const std::string label = term.kind == TermKind::Led ? printable(term.holder, 40) : std::string();
        if (!label.empty() && width > 7.0 * static_cast<double>(label.size()) + 8)
            out += "<text x=\"" + number(from + 4) + "\" y=\"" + std::to_string(top + 13) + "\">" + escaped(label)
                + "</text>\n";
    }
    return out;
}

void cell(std::string& out, const std::string& text, const char* kind = "")
{
    out += std::string("<td") + (*kind == '\0' ? "" : std::string(" class=\"") + kind + "\"") + ">" + text + "</td>";
}

void addLeaseTables(std::string& out, const IncidentReport& report)
{
    for (const IncidentReport::Lease& lease : report.leases) {
        out += "<h3>" + escaped(lease.key.lease.name()) + " <span class=\"muted\">on "
            + escaped(report.connectionName(lease.key.connection)) + "</span></h3>\n<p>"
            + std::to_string(lease.summary.transitions) + " changes of leadership, "
            + durationText(lease.summary.leaderless) + " without a leader, the longest gap "
            + durationText(lease.summary.longestGap)
            + ".</p>\n<table><tr><th>from</th><th>to</th><th>who led</th><th>token</th><th>for</th></tr>\n";
        for (const TermSegment& term : lease.lane.segments) {
            out += "<tr>";
            cell(out, rfc3339(term.from) + (term.begins ? "" : " or earlier"));
            cell(out, rfc3339(term.to) + (term.ends ? "" : " or later"));
            cell(out, term.kind == TermKind::Led ? escaped(term.holder) : wordsOf(term),
                term.kind == TermKind::Leaderless ? "none" : term.kind == TermKind::Led ? "" : "muted");
            cell(out, term.token ? std::to_string(term.token.value) : std::string());
            cell(out, durationText(term.to - term.from));
            out += "</tr>\n";
        }
        out += "</table>\n";
    }
    if (report.quietLeases > 0)
        out += "<p class=\"muted\">" + std::to_string(report.quietLeases) + " more leases are not listed.</p>\n";
}

void addEventTable(std::string& out, const IncidentReport& report)
{
    out += "<h2>Causes</h2>\n";
    if (report.events.empty())
        out += "<p>No change was seen.</p>\n";
    else
        out += "<table><tr><th>at</th><th>lease</th><th>change</th><th>why</th></tr>\n";
    for (const JournalEvent& event : report.events) {
        out += "<tr>";
        cell(out, rfc3339(event.at));
        cell(out, escaped(event.lease.lease.name()));
        cell(out, transitionWord(event.kind));
        cell(out, escaped(event.explanation) + (event.inBlindSpot ? " (while nobody looked)" : ""));
        out += "</tr>\n";
    }
    out += report.events.empty() ? "" : "</table>\n";
    if (report.eventsCut)
        out += "<p class=\"muted\">Only the first ones are listed.</p>\n";
}

void addDeedTables(std::string& out, const IncidentReport& report)
{
    out += "<h2>What operators did</h2>\n";
    if (report.actions.empty())
        out += "<p>Nothing.</p>\n";
    else
        out += "<table><tr><th>at</th><th>who</th><th>what</th><th>why</th><th>outcome</th></tr>\n";
    for (const JournalAction& action : report.actions) {
        out += "<tr>";
        cell(out, rfc3339(action.at));
        cell(out, escaped(action.by));
        cell(out, escaped(action.verb) + " " + escaped(action.lease.lease.name())
                + (action.expected.empty() ? std::string() : ", expecting " + escaped(action.expected)));
        cell(out, escaped(action.reason));
        cell(out, escaped(action.outcome) + " " + escaped(action.sentence));
        out += "</tr>\n";
    }
    out += report.actions.empty() ? "" : "</table>\n";
    out += "<h2>Alerts</h2>\n";
    if (report.alerts.empty())
        out += "<p>None.</p>\n";
    else
        out += "<table><tr><th>at</th><th></th><th>rule</th><th>about</th><th>text</th><th>state</th></tr>\n";
    for (const JournalAlert& alert : report.alerts) {
        const std::string& lease = alert.lease.lease.name();
        out += "<tr>";
        cell(out, rfc3339(alert.firstAt));
        cell(out, "P" + std::to_string(alert.priority));
        cell(out, escaped(alert.rule));
        cell(out, escaped(lease.empty() ? report.connectionName(alert.lease.connection) : lease));
        cell(out, escaped(alert.text));
        cell(out, alertStateWord(alert.state));
        out += "</tr>\n";
    }
    out += report.alerts.empty() ? "" : "</table>\n";
}

} // namespace

std::string incidentSvg(const IncidentReport& report)
{
    const Scale scale(report.window);
    const int height = kHead + kRow * static_cast<int>(report.leases.size()) + 10;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(kLabel + kLane + 10)
        + " " + std::to_string(height) + "\" role=\"img\" aria-label=\"" + escaped(report.title) + "\">" + kSvgStyle
        + "\n";
    for (int i = 0; i <= 4; ++i) {
        const WallTime at = report.window.from + (report.window.to - report.window.from) * i / 4;
        const std::string x = number(scale.x(at));
        out += "<line class=\"axis\" x1=\"" + x + "\" y1=\"18\" x2=\"" + x + "\" y2=\"" + std::to_string(height - 8)
            + "\" stroke-opacity=\".3\"/><text class=\"soft\" text-anchor=\""
            + (i == 0       ? "start"
                    : i == 4 ? "end"
                             : "middle")
            + "\" x=\"" + x + "\" y=\"12\">" + clockText(at) + "Z</text>\n";
    }
    int top = kHead;
    for (const IncidentReport::Lease& lease : report.leases) {
        out += laneSvg(lease, scale, top);
        top += kRow;
    }
    return out + "</svg>\n";
}

std::string incidentHtml(const IncidentReport& report)
{
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                      "content=\"width=device-width\"><title>"
        + escaped(report.title) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + escaped(report.title)
        + "</h1>\n<ul>\n";
    for (const JournalConnection& one : report.connections)
        out += "<li>" + escaped(one.name) + ": <code>" + escaped(one.url) + "</code></li>\n";
    for (const std::string& note : report.notes)
        out += "<li>" + escaped(note) + "</li>\n";
    out += "<li class=\"muted\">Times are of the clock of the machine that watched, in UTC.</li>\n</ul>\n"
           "<h2>Who led when</h2>\n";
    out += report.leases.empty() ? "<p>Nothing happened to any lease in this time.</p>\n" : incidentSvg(report);
    addLeaseTables(out, report);
    addEventTable(out, report);
    addDeedTables(out, report);
    out += "<h2>Not observed</h2>\n";
    out += report.notObserved.empty() ? "<p>The whole time was observed.</p>\n" : "<ul>\n";
    for (const auto& [connection, stretch] : report.notObserved) {
        out += "<li>" + escaped(report.connectionName(connection)) + ": " + rfc3339(stretch.from) + " to "
            + rfc3339(stretch.to) + " (" + durationText(stretch.length()) + "): what changed then is not known</li>\n";
    }
    out += report.notObserved.empty() ? "" : "</ul>\n";
    return out + "</body></html>\n";
}

} // namespace tenure
