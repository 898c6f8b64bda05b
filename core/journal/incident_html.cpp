// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/journal/incident_report.h"
#include "core/journal/incident_svg.h"

namespace tenure
{
namespace
{

constexpr const char* kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;background:#fff;color:#1b1f24}
h1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;width:100%;font-size:.9em}
td,th{text-align:left;padding:.3em .6em;border-bottom:1px solid #d0d7de;vertical-align:top}
.muted{color:#57606a}.none{color:#8a0e12;font-weight:600}code{font-size:.95em}
svg{width:100%;height:auto;margin:1em 0}
@media(prefers-color-scheme:dark){body{background:#15191e;color:#e6eaee}td,th{border-color:#3a4350}
.muted{color:#a3adb8}.none{color:#ff8a80}})";

void cell(std::string& out, const std::string& text, const char* kind = "")
{
    out += std::string("<td") + (*kind == '\0' ? "" : std::string(" class=\"") + kind + "\"") + ">" + text + "</td>";
}

void addLeaseTables(std::string& out, const IncidentReport& report)
{
    for (const IncidentReport::Lease& lease : report.leases) {
        out += "<h3>" + htmlEscaped(lease.key.lease.name()) + " <span class=\"muted\">on "
            + htmlEscaped(report.connectionName(lease.key.connection)) + "</span></h3>\n<p>"
            + summaryWords(lease.summary)
            + ".</p>\n<table><tr><th>from</th><th>to</th><th>who led</th><th>token</th><th>for</th></tr>\n";
        for (const TermSegment& term : lease.lane.segments) {
            const bool blind = term.kind == TermKind::NotObserved;
            out += "<tr>";
            cell(out, rfc3339(term.from) + (term.begins || blind ? "" : " or earlier"));
            cell(out, rfc3339(term.to) + (term.ends || blind ? "" : " or later"));
            cell(out, term.kind == TermKind::Led ? htmlEscaped(term.holder) : termWords(term),
                term.kind == TermKind::Leaderless ? "none" : term.kind == TermKind::Led ? "" : "muted");
            cell(out, term.token ? std::to_string(term.token.value) : std::string());
            cell(out, durationText(term.to - term.from));
            out += "</tr>\n";
        }
        out += "</table>\n" + renewalsSvg(report, lease);
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
        cell(out, htmlEscaped(event.lease.lease.name()));
        cell(out, transitionWord(event.kind));
        cell(out, htmlEscaped(event.explanation) + (event.inBlindSpot ? " (while nobody looked)" : ""));
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
        cell(out, htmlEscaped(action.by));
        cell(out, htmlEscaped(action.verb) + " " + htmlEscaped(action.lease.lease.name())
                + (action.expected.empty() ? std::string() : ", expecting " + htmlEscaped(action.expected)));
        cell(out, htmlEscaped(action.reason));
        cell(out, "<strong>" + htmlEscaped(action.outcome) + "</strong> " + htmlEscaped(action.sentence));
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
        cell(out, htmlEscaped(alert.rule));
        cell(out, htmlEscaped(lease.empty() ? report.connectionName(alert.lease.connection) : lease));
        cell(out, htmlEscaped(alert.text));
        cell(out, alertStateWord(alert.state));
        out += "</tr>\n";
    }
    out += report.alerts.empty() ? "" : "</table>\n";
}

} // namespace

std::string incidentHtml(const IncidentReport& report)
{
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                      "content=\"width=device-width\"><title>"
        + htmlEscaped(report.title) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + htmlEscaped(report.title)
        + "</h1>\n<ul>\n";
    for (const JournalConnection& one : report.connections)
        out += "<li>" + htmlEscaped(one.name) + ": <code>" + htmlEscaped(one.url) + "</code></li>\n";
    for (const std::string& note : report.notes)
        out += "<li>" + htmlEscaped(note) + "</li>\n";
    out += "<li class=\"muted\">Times are of the clock of the machine that watched, in UTC.</li>\n</ul>\n"
           "<h2>Who led when</h2>\n";
    out += report.leases.empty() ? "<p>Nothing happened to any lease in this time.</p>\n" : incidentSvg(report);
    for (const IncidentReport::Density& row : report.density)
        out += changesSvg(report, row);
    addLeaseTables(out, report);
    addEventTable(out, report);
    addDeedTables(out, report);
    out += "<h2>Not observed</h2>\n";
    out += report.notObserved.empty() ? "<p>The whole time was observed.</p>\n" : "<ul>\n";
    for (const auto& [connection, stretch] : report.notObserved) {
        out += "<li>" + htmlEscaped(report.connectionName(connection)) + ": " + rfc3339(stretch.from) + " to "
            + rfc3339(stretch.to) + " (" + durationText(stretch.length()) + "): what changed then is not known</li>\n";
    }
    out += report.notObserved.empty() ? "" : "</ul>\n";
    return out + "</body></html>\n";
}

} // namespace tenure
