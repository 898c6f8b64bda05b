// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/incident_report.h"

namespace tenure
{

/// Foreign bytes as text within HTML or SVG: nothing in it means anything.
[[nodiscard]] std::string htmlEscaped(const std::string& bytes, std::size_t most = 400);
/// "a, token 7", "nobody led" ...
[[nodiscard]] std::string termWords(const TermSegment& term);
/// "2 changes of leadership, 43 s without a leader, the longest gap 41 s"
[[nodiscard]] std::string summaryWords(const WindowSummary& sum);

/// Changes of leadership over the window, a bar a cell; empty when there were none.
[[nodiscard]] std::string changesSvg(const IncidentReport& report, const IncidentReport::Density& row);
/// Time between the renewals of a lease, mean and most of each bucket on a logarithmic scale; empty
/// for fewer than two buckets.
[[nodiscard]] std::string renewalsSvg(const IncidentReport& report, const IncidentReport::Lease& lease);

} // namespace tenure
