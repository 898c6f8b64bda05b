// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/drill/drill.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

std::string inTable(const std::string &text)
{
    std::string out;
    for (const char c : printable(text, 120))
        out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string html(const std::string &text)
{
    std::string out;
    for (const char c : printable(text, 500)) {
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

std::string gapText(const DrillRound &round)
{
    return round.to.empty() ? "> " + durationText(round.gap) : durationText(round.gap) + " ± " + durationText(round.uncertainty);
}

const char *gradeWord(DrillCheck::Grade grade)
{
    return grade == DrillCheck::Grade::Good ? "ok" : grade == DrillCheck::Grade::Warning ? "warning" : "stop";
}

/// One bar a round, and the limit as a line.
std::string chart(const DrillReport &report)
{
    const double most = std::max({1.0, static_cast<double>(report.worstGap().count()), static_cast<double>(report.plan.maxGap.count())}) * 1.05;
    const auto x = [most](Duration gap) { return std::to_string(static_cast<int>(560 * static_cast<double>(gap.count()) / most)); };
    const std::size_t height = report.rounds.size() * 24 + 8;
    std::string out = "<svg width=\"640\" height=\"" + std::to_string(height) + "\" role=\"img\" aria-label=\"Gap of each round\">";
    for (std::size_t i = 0; i < report.rounds.size(); ++i) {
        const DrillRound &round = report.rounds[i];
        const std::string y = std::to_string(i * 24 + 4);
        out += "<rect x=\"30\" y=\"" + y + "\" width=\"" + x(std::max<Duration>(round.gap, Duration(static_cast<std::int64_t>(most / 300)))) + "\" height=\"18\" class=\"" + (round.passed ? "good" : "bad") + "\"/>";
        out += "<text x=\"2\" y=\"" + std::to_string(i * 24 + 18) + "\">" + std::to_string(i + 1) + "</text>";
    }
    const std::string limit = std::to_string(30 + std::stoi(x(report.plan.maxGap)));
    return out + "<line x1=\"" + limit + "\" x2=\"" + limit + "\" y1=\"0\" y2=\"" + std::to_string(height) + "\"/></svg>";
}

} // namespace

std::string drillMarkdown(const DrillReport &report)
{
    std::string out = "# Failover drill: " + inTable(report.plan.lease.name()) + "\n\n**" + inTable(report.verdict()) + "**\n\n";
    out += "| | |\n|---|---|\n| Lease | `" + inTable(report.plan.lease.name()) + "` on " + inTable(report.backend) + " |\n";
    out += "| Began | " + rfc3339(report.began) + " |\n| By | " + inTable(report.plan.by) + " |\n| Reason | " + inTable(report.plan.reason) + " |\n";
    out += std::string("| How | ") + drillActWord(report.plan.act) + ", " + std::to_string(report.plan.times) + " times |\n| Limit | " + durationText(report.plan.maxGap) + " without a leader |\n";
    out += std::string("| Lease left clean | ") + (report.clean ? "yes" : "NO, look at it") + " |\n\n## Rounds\n\n";
    out += "| # | at | from | to | without leader | act to next leader | |\n|--:|---|---|---|--:|--:|---|\n";
    for (std::size_t i = 0; i < report.rounds.size(); ++i) {
        const DrillRound &round = report.rounds[i];
        out += "| " + std::to_string(i + 1) + " | " + rfc3339(round.at) + " | " + inTable(round.from) + " (" + std::to_string(round.fromToken.value) + ") | "
            + (round.to.empty() ? "nobody" : inTable(round.to) + " (" + std::to_string(round.toToken.value) + ")") + " | " + gapText(round) + " | "
            + durationText(round.toTaken) + " | " + (round.passed ? "pass" : "FAIL") + " |\n";
    }
    out += "\n## Looked at before\n\n";
    for (const DrillCheck &check : report.checks)
        out += std::string("- ") + gradeWord(check.grade) + ": " + inTable(check.sentence) + "\n";
    return out + "\nAll times by one clock, that of the machine that ran the drill; numbers in brackets are fencing tokens.\n";
}

std::string drillHtml(const DrillReport &report)
{
    std::string out = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Failover drill " + html(report.plan.lease.name()) + "</title><style>"
        "body{font:15px sans-serif;margin:2em;max-width:60em}table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #ccc;text-align:left}"
        ".good{fill:#488054}.bad{fill:#a31515}line{stroke:#1b1f24;stroke-dasharray:4}text{font:13px sans-serif}</style>";
    out += "<h1>Failover drill: " + html(report.plan.lease.name()) + "</h1><p><strong>" + html(report.verdict()) + "</strong></p>";
    out += "<p>" + html(report.backend) + ", began " + rfc3339(report.began) + ", by " + html(report.plan.by) + ": " + html(report.plan.reason) + ". How: " + drillActWord(report.plan.act) + ".</p>";
    out += "<h2>Time without a leader</h2>" + chart(report) + "<p>The dashed line is the limit of " + durationText(report.plan.maxGap) + ".</p>";
    out += "<table><tr><th>#<th>at<th>from<th>to<th>without leader<th>act to next leader<th>verdict</tr>";
    for (std::size_t i = 0; i < report.rounds.size(); ++i) {
        const DrillRound &round = report.rounds[i];
        out += "<tr><td>" + std::to_string(i + 1) + "<td>" + rfc3339(round.at) + "<td>" + html(round.from) + "<td>" + (round.to.empty() ? "nobody" : html(round.to))
            + "<td>" + html(gapText(round)) + "<td>" + durationText(round.toTaken) + "<td>" + (round.passed ? "pass" : "FAIL") + "</tr>";
    }
    out += "</table><h2>Looked at before</h2><ul>";
    for (const DrillCheck &check : report.checks)
        out += std::string("<li>") + gradeWord(check.grade) + ": " + html(check.sentence) + "</li>";
    return out + "</ul></html>\n";
}

} // namespace tenure
