// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of an incident's report: lanes of leadership, changes, renewals.
#include "core/journal/incident_svg.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tenure
{
namespace
{

constexpr int kLabel = 220; ///< room for the names, in picture units
constexpr int kLane = 800;
constexpr int kRow = 34;
constexpr int kBar = 18;
constexpr int kHead = 26;

constexpr int kChart = 90; ///< height of a chart's area

/// One block for other colours, and last: not every viewer reads on after it.
constexpr const char* kSvgStyle = R"(<style>text{font:12px system-ui,sans-serif;fill:#1b1f24}
.axis{stroke:#6e7781;stroke-width:1}.soft{fill:#57606a}.led{fill:#c3cad2;stroke:#57606a}.none{fill:#a31515}
.hold{fill:#0550ae}.blind{fill:none;stroke:#6e7781;stroke-dasharray:3 2}.dense{fill:#7a5c00}
.curve{fill:none;stroke:#0550ae;stroke-width:1.5}.most{fill:none;stroke:#7a5c00;stroke-dasharray:4 2}
.bar{fill:#57606a}
@media(prefers-color-scheme:dark){text{fill:#e6eaee}.soft{fill:#a3adb8}.led{fill:#3a4350;stroke:#a3adb8}
.none{fill:#ff8a80}.hold{fill:#79b8ff}.dense{fill:#f0ba43}.curve{stroke:#79b8ff}.most{stroke:#f0ba43}
.bar{fill:#a3adb8}}</style>)";

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
        + htmlEscaped(lease.key.lease.name(), 28) + "</text>\n";
    for (const TermSegment& term : lease.lane.segments) {
        const double from = scale.x(term.from);
        const double width = std::max(1.0, scale.x(term.to) - from);
        // Who leads is told by the words; the shapes differ in height too, not only in colour.
        const bool taller = term.kind == TermKind::Leaderless || term.kind == TermKind::Dense;
        out += std::string("<rect class=\"") + classOf(term.kind) + "\" x=\"" + number(from) + "\" y=\""
            + std::to_string(top) + "\" width=\"" + number(width) + "\" height=\""
            + std::to_string(taller ? kBar + 4 : kBar) + "\"><title>" + htmlEscaped(termWords(term)) + ", "
            + rfc3339(term.from) + " to " + rfc3339(term.to) + "</title></rect>\n";
        const std::string label = term.kind == TermKind::Led ? printable(term.holder, 40)
            : term.kind == TermKind::NotObserved             ? "not observed"
                                                             : "";
        if (!label.empty() && width > 7.0 * static_cast<double>(label.size()) + 8)
            out += std::string("<text class=\"") + (term.kind == TermKind::NotObserved ? "soft" : "") + "\" x=\""
                + number(from + 4) + "\" y=\"" + std::to_string(top + 13) + "\">" + htmlEscaped(label)
                + "</text>\n";
    }
    return out;
}

/// "02:13:44Z", with the date where a clock alone would be ambiguous.
std::string axisText(WallTime at, const TimeWindow& window)
{
    const std::string whole = rfc3339(at);
    return window.length() < std::chrono::hours(24) ? clockText(at) + "Z" : whole.substr(5, 11) + "Z";
}

/// The frame of a picture: its size, its times, its lines.
std::string frame(const IncidentReport& report, int height, const std::string& label)
{
    const Scale scale(report.window);
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(kLabel + kLane + 10)
        + " " + std::to_string(height) + "\" role=\"img\" aria-label=\"" + htmlEscaped(label) + "\">" + kSvgStyle
        + "\n";
    for (int i = 0; i <= 4; ++i) {
        const WallTime at = report.window.from + (report.window.to - report.window.from) * i / 4;
        const std::string x = number(scale.x(at));
        out += "<line class=\"axis\" x1=\"" + x + "\" y1=\"18\" x2=\"" + x + "\" y2=\"" + std::to_string(height - 8)
            + "\" stroke-opacity=\".3\"/><text class=\"soft\" text-anchor=\""
            + (i == 0       ? "start"
                    : i == 4 ? "end"
                             : "middle")
            + "\" x=\"" + x + "\" y=\"12\">" + axisText(at, report.window) + "</text>\n";
    }
    return out;
}

std::string caption(int top, const std::string& text, const char* kind = "")
{
    return std::string("<text class=\"") + kind + "\" x=\"0\" y=\"" + std::to_string(top) + "\">" + htmlEscaped(text, 28)
        + "</text>\n";
}

double seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

} // namespace

std::string htmlEscaped(const std::string& bytes, std::size_t most)
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

std::string termWords(const TermSegment& term)
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

std::string summaryWords(const WindowSummary& sum)
{
    return std::to_string(sum.transitions) + (sum.transitions == 1 ? " change" : " changes") + " of leadership, "
        + (sum.leaderless > Duration::zero() ? durationText(sum.leaderless) + " without a leader, the longest gap "
                      + durationText(sum.longestGap)
                                             : "never without a leader as far as it was observed");
}

std::string incidentSvg(const IncidentReport& report)
{
    const Scale scale(report.window);
    std::string out = frame(report, kHead + kRow * static_cast<int>(report.leases.size()) + 10, report.title);
    int top = kHead;
    for (const IncidentReport::Lease& lease : report.leases) {
        out += laneSvg(lease, scale, top);
        top += kRow;
    }
    return out + "</svg>\n";
}

std::string changesSvg(const IncidentReport& report, const IncidentReport::Density& row)
{
    std::uint64_t most = 0;
    for (const DensityCell& cell : row.cells)
        most = std::max(most, cell.transitions);
    if (most == 0)
        return {};
    const Scale scale(report.window);
    const int bottom = kHead + kChart;
    std::string out = frame(report, bottom + 10, "Changes over time");
    out += caption(kHead + 14, report.connectionName(row.connection)) + caption(kHead + 32, "changes of leadership", "soft")
        + caption(kHead + 50, "at most " + std::to_string(most) + " a bar", "soft");
    const auto rect = [&](const char* kind, const TimeWindow& over, double height, double down) {
        const double x = scale.x(over.from);
        out += std::string("<rect class=\"") + kind + "\" x=\"" + number(x) + "\" y=\"" + number(bottom - down - height)
            + "\" width=\"" + number(std::max(1.0, scale.x(over.to) - x)) + "\" height=\"" + number(height) + "\"/>\n";
    };
    std::optional<TimeWindow> blind; // one shape for a stretch, however many cells it has
    for (const DensityCell& cell : row.cells) {
        const TimeWindow over{cell.from, cell.to};
        if (cell.observed < 0.05)
            blind = {blind ? blind->from : cell.from, cell.to};
        else if (blind)
            rect("blind", *std::exchange(blind, std::nullopt), kBar / 2.0, 0);
        if (cell.transitions > 0)
            rect("bar", over, std::max(3.0, (kChart - 6.0) * static_cast<double>(cell.transitions) / static_cast<double>(most)), 4);
        if (cell.leaderless > 0)
            rect("none", over, 3, 0);
    }
    if (blind)
        rect("blind", *blind, kBar / 2.0, 0);
    return out + "</svg>\n";
}

std::string renewalsSvg(const IncidentReport& report, const IncidentReport::Lease& lease)
{
    if (lease.renewals.size() < 2)
        return {};
    Duration least = Duration::max();
    Duration most{};
    for (const RenewalBucket& bucket : lease.renewals) {
        least = std::min(least, bucket.intervalMean);
        most = std::max(most, bucket.intervalMost);
    }
    const double low = std::log(std::max(1e-3, seconds(least) * 0.8));
    const double high = std::max(low + 0.1, std::log(std::max(1e-3, seconds(most) * 1.25)));
    const Scale scale(report.window);
    const int bottom = kHead + kChart;
    const auto y = [&](Duration value) {
        return bottom - (std::log(std::max(1e-3, seconds(value))) - low) / (high - low) * kChart;
    };
    std::string mean;
    std::string slowest;
    for (const RenewalBucket& bucket : lease.renewals) {
        const std::string x = number(scale.x(bucket.from + std::chrono::floor<std::chrono::microseconds>(bucket.width / 2)));
        mean += x + "," + number(y(bucket.intervalMean)) + " ";
        slowest += x + "," + number(y(bucket.intervalMost)) + " ";
    }
    return frame(report, bottom + 10, "Time between renewals") + caption(kHead + 14, "time between renewals")
        + caption(kHead + 32, "line: mean, " + durationText(lease.renewals.back().intervalMean) + " at the end", "soft")
        + caption(kHead + 50, "dashed: most, up to " + durationText(most), "soft") + "<polyline class=\"most\" points=\""
        + slowest + "\"/>\n<polyline class=\"curve\" points=\"" + mean + "\"/>\n</svg>\n";
}

} // namespace tenure
