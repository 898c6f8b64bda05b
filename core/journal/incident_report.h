// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"

#include <string>

namespace tenure
{

/// What happened in a stretch of time, gathered for a report.
struct IncidentReport {
    struct Lease {
        LeaseKey key;
        WindowSummary summary;
        TermLane lane;
        std::vector<RenewalBucket> renewals; ///< of the worst leases only
    };
    struct Density {
        std::string connection; ///< id
        std::vector<DensityCell> cells;
    };
    TimeWindow window;
    std::string title;
    std::vector<JournalConnection> connections; ///< that have leases in it
    std::vector<Lease> leases; ///< the ones with something to tell, the worst first
    std::vector<Density> density; ///< a row a connection
    std::size_t quietLeases = 0; ///< nothing happened to these, or there were too many to list
    std::vector<JournalEvent> events; ///< oldest first
    bool eventsCut = false; ///< only the first ones are listed
    std::vector<JournalAction> actions; ///< oldest first
    std::vector<JournalAlert> alerts; ///< oldest first
    std::vector<std::pair<std::string, TimeWindow>> notObserved; ///< by connection
    std::vector<std::string> notes;

    [[nodiscard]] std::string connectionName(const std::string& id) const;
};

[[nodiscard]] Result<IncidentReport> gatherIncident(
    JournalQuery& query, const JournalFilter& filter, TimeWindow window);
/// Who led when, gaps, causes, what operators did, alerts, with changes over time as a line of bars.
/// Times are UTC with Z.
[[nodiscard]] std::string incidentMarkdown(const IncidentReport& report);
/// The same as one file without anything outside it, with the lanes, changes and renewals drawn.
[[nodiscard]] std::string incidentHtml(const IncidentReport& report);
/// The lanes alone, as a picture.
[[nodiscard]] std::string incidentSvg(const IncidentReport& report);

} // namespace tenure
