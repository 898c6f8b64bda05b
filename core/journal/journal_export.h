// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace tenure
{

/// One field of a CSV file that a spreadsheet may open: quoted where needed, and with an apostrophe
/// before anything that a spreadsheet would run as a formula (= + - @, tab, carriage return).
[[nodiscard]] std::string csvField(const std::string& text);

[[nodiscard]] std::string eventCsvHeader();
/// Times are UTC with Z. `connection` is the connection's name.
[[nodiscard]] std::string eventCsvLine(const JournalEvent& event, const std::string& connection);

/// One JSON object in one line, without its newline. Keys never change their meaning; what is absent
/// is null; times are RFC 3339 UTC.
[[nodiscard]] std::string eventJsonLine(const JournalEvent& event, const std::string& connection);
[[nodiscard]] std::string actionJsonLine(const JournalAction& action, const std::string& connection);
[[nodiscard]] std::string alertJsonLine(const JournalAlert& alert, const std::string& connection);
[[nodiscard]] std::string observedJsonLine(const std::string& connection, const TimeWindow& window);

/// "2026-11-29T02:13:44.104Z", with any number of decimals; nothing for anything else.
[[nodiscard]] std::optional<WallTime> parseRfc3339(const std::string& text);

/// Every event that matches, oldest first, a page in memory at a time. `take` returns false to stop.
[[nodiscard]] Result<void> eachEvent(JournalQuery& query, const JournalFilter& filter,
    const std::function<bool(const JournalEvent&)>& take);

/// Everything that matches as lines without their newline: a header and changes; or when it was
/// observed, changes, what operators did, and alerts. `take` returns false to stop.
[[nodiscard]] Result<void> eachCsvLine(JournalQuery& query, const JournalFilter& filter,
    const std::function<bool(const std::string&)>& take);
[[nodiscard]] Result<void> eachJsonLine(JournalQuery& query, const JournalFilter& filter, TimeWindow window,
    const std::function<bool(const std::string&)>& take);

/// Reads the lines that this file writes (others are counted and passed over) into the journal at
/// `path`, which is made when absent. Returns how many were taken in.
struct Imported {
    std::uint64_t taken = 0, passedOver = 0;
};
[[nodiscard]] Result<Imported> importLines(std::istream& lines, const std::string& path);

} // namespace tenure
