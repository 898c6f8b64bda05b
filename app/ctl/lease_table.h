// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/output.h"
#include "core/observe/status.h"

#include <array>
#include <string>
#include <vector>

namespace tenure::ctl
{

/// How many leases are in which state.
using StateCounts = std::array<std::size_t, 7>;
/// "12 leases: 9 HELD, 2 LATE, 1 VACANT"; only what there is.
[[nodiscard]] std::string countsText(const StateCounts &counts);

/// The aligned table of leases, the worst first, then by name. Built once, from values that may not
/// change while it is used.
class LeaseTable
{
public:
    LeaseTable(const std::vector<const LeaseStatus *> &leases, LinkState link, Instant now);

    [[nodiscard]] const StateCounts &counts() const { return m_counts; }
    [[nodiscard]] std::size_t size() const { return m_rows.size(); }
    /// Heading and rows [first, first + count), each ended by a newline. Narrower than `columns`
    /// cells when that is not 0: lease and holder are then cut.
    [[nodiscard]] std::string text(
        const Output &output, std::size_t columns, std::size_t first, std::size_t count) const;

private:
    static constexpr std::size_t kColumns = 8;
    struct Row {
        LeaseState state = LeaseState::Unknown;
        std::array<std::string, kColumns> cells;
    };
    using Widths = std::array<std::size_t, kColumns>;
    [[nodiscard]] Widths widthsFor(std::size_t columns) const;
    [[nodiscard]] std::string rowText(
        const Output &output, const Row &row, const Widths &widths, Ink lineInk) const;

    std::vector<Row> m_rows;
    Widths m_widths{};
    bool m_showKind = false; ///< some lease is not ours
    StateCounts m_counts{};
};

/// "13 s", "no expiry" for a held lease that never ends, "?" when not to be known now, "-" for nobody.
[[nodiscard]] std::string leftText(const LeaseStatus &status, LinkState link, Instant now);
/// How long ago the last renewal was, "-" when nobody holds it.
[[nodiscard]] std::string renewedText(const LeaseStatus &status, LinkState link, Instant now);

} // namespace tenure::ctl
