// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/lease_table.h"

#include "app/ctl/display_text.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <numeric>

namespace tenure::ctl
{
namespace
{

constexpr std::size_t kStateColumn = 0;
constexpr std::size_t kLeaseColumn = 1;
constexpr std::size_t kKindColumn = 2;
constexpr std::size_t kHolderColumn = 3;
constexpr std::size_t kGap = 2;

const std::array<const char *, 8> kHeadings{
    "STATE", "LEASE", "KIND", "HOLDER", "TOKEN", "LEFT", "RENEWED", "CHANGES"};

bool isRight(std::size_t column)
{
    return column > kHolderColumn;
}

std::string holderText(const LeaseStatus &status, LinkState link)
{
    const LeaseRecord &record = status.record;
    if (record.hold)
        return "held off by " + printable(record.hold->by, 80);
    if (!record.holder)
        return "-";
    return (isFresh(link) ? "" : "was ") + printable(*record.holder, 255);
}

} // namespace

std::string countsText(const StateCounts &counts)
{
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    std::string out = std::to_string(all) + (all == 1 ? " lease" : " leases");
    const char *separator = ": ";
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0)
            continue;
        out += separator + std::to_string(counts[i]) + " " + stateWord(static_cast<LeaseState>(i));
        separator = ", ";
    }
    return out;
}

std::string leftText(const LeaseStatus &status, LinkState link, Instant now)
{
    if (!isFresh(link))
        return "?";
    if (status.record.hold)
        return durationText(remainingAt(status, link, now).value_or(status.record.hold->remaining));
    if (!status.record.holder)
        return "-";
    const std::optional<Duration> left = remainingAt(status, link, now);
    if (left)
        return durationText(*left);
    return status.record.remaining ? "?" : "no expiry";
}

std::string renewedText(const LeaseStatus &status, LinkState link, Instant now)
{
    if (!isFresh(link))
        return "?";
    const bool known = status.record.renewedAt || status.record.ttl || status.renewalsSeen > 0;
    if (!status.record.holder || !known)
        return "-";
    return durationText(std::max(Duration::zero(), Duration(now - status.lastRenewalAt)));
}

LeaseTable::LeaseTable(const std::vector<const LeaseStatus *> &leases, LinkState link, Instant now)
{
    m_rows.reserve(leases.size());
    for (const LeaseStatus *status : leases) {
        const LeaseRecord &record = status->record;
        Row row;
        row.state = stateAt(*status, link, now);
        row.cells = {std::string(stateGlyph(row.state)) + " " + stateWord(row.state)
                + (status->churning ? " \u224b" : ""),
            printable(record.lease.name()), printable(record.kind, 40), holderText(*status, link),
            record.token ? std::to_string(record.token.value) : "-", leftText(*status, link, now),
            renewedText(*status, link, now),
            record.transitions ? std::to_string(*record.transitions) : "-"};
        m_showKind = m_showKind || record.kind != "tenure";
        ++m_counts[static_cast<std::size_t>(row.state)];
        m_rows.push_back(std::move(row));
    }
    std::sort(m_rows.begin(), m_rows.end(), [](const Row &a, const Row &b) {
        const int worse = severity(a.state) - severity(b.state);
        return worse != 0 ? worse > 0 : a.cells[kLeaseColumn] < b.cells[kLeaseColumn];
    });
    for (std::size_t column = 0; column < kColumns; ++column) {
        m_widths[column] = displayWidth(kHeadings[column]);
        for (const Row &row : m_rows)
            m_widths[column] = std::max(m_widths[column], displayWidth(row.cells[column]));
    }
    if (!m_showKind)
        m_widths[kKindColumn] = 0;
}

LeaseTable::Widths LeaseTable::widthsFor(std::size_t columns) const
{
    Widths widths = m_widths;
    const std::size_t gaps = kGap * (kColumns - (m_showKind ? 1 : 2));
    std::size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
    // Whichever of the two wide columns is wider gives way, down to what can still be told apart.
    while (columns != 0 && total > columns) {
        std::size_t &wider = widths[kHolderColumn] >= widths[kLeaseColumn] ? widths[kHolderColumn]
                                                                          : widths[kLeaseColumn];
        if (wider <= 8)
            break;
        --wider;
        --total;
    }
    return widths;
}

std::string LeaseTable::rowText(
    const Output &output, const Row &row, const Widths &widths, Ink lineInk) const
{
    std::string line;
    for (std::size_t column = 0; column < kColumns; ++column) {
        if (widths[column] == 0)
            continue;
        std::string cell = fitted(
            row.cells[column], widths[column], isRight(column) ? Align::Right : Align::Left);
        if (column == kStateColumn && lineInk == Ink::Normal)
            cell = output.painted(inkOf(row.state), cell);
        line += (line.empty() ? "" : std::string(kGap, ' ')) + cell;
    }
    return lineInk == Ink::Normal ? line : output.painted(lineInk, line);
}

std::string LeaseTable::text(
    const Output &output, std::size_t columns, std::size_t first, std::size_t count) const
{
    const Widths widths = widthsFor(columns);
    Row heading;
    std::copy(kHeadings.begin(), kHeadings.end(), heading.cells.begin());
    std::string out = rowText(output, heading, widths, Ink::Muted) + "\n";
    const std::size_t end = std::min(m_rows.size(), first + count);
    for (std::size_t i = first; i < end; ++i)
        out += rowText(output, m_rows[i], widths, Ink::Normal) + "\n";
    return out;
}

} // namespace tenure::ctl
