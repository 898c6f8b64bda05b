// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"

#include <optional>

namespace tenure::ctl
{

/// "This period's run was begun", kept beside a lease as a lease of its own, LEASE@once: its term is
/// as long as the period, so the store's own clock ends it and every backend can keep it. Made only
/// by who leads LEASE, before the work begins: no more than one run begins in a period, also when it
/// fails or its host dies. A store that loses its data (or SQLite's machine, rebooting) forgets it.
/// One thread; blocks at most a call's timeout.
class PeriodMark
{
public:
    /// `asked`: when this process was started, where its period begins (at most slack() ago).
    /// BadConfig: the name with its suffix is too long, or the period is beyond what the store can do.
    [[nodiscard]] static Result<PeriodMark> make(LeaseStore &store, const LeaseId &lease,
        const HolderId &self, Duration period, Milliseconds ttl, Instant asked);

    /// Somebody's mark, or nothing when the period is free.
    struct Standing {
        std::string holder;
        Duration remaining{};
    };
    [[nodiscard]] Result<std::optional<Standing>> look();
    /// Makes the mark. Done: nothing is returned and this period is ours; else whose it is.
    [[nodiscard]] Result<std::optional<Standing>> take();
    /// Takes our mark away, so that another may run in this period.
    [[nodiscard]] Result<void> forget();
    /// A mark that ends this soon is waited for: two starts of cron an hour apart are never quite so.
    [[nodiscard]] Duration slack() const;

private:
    PeriodMark(LeaseStore &store, LeaseId lease, Term term, Duration period, Milliseconds ttl, Instant asked);
    [[nodiscard]] Result<Reply> call(Command command);
    [[nodiscard]] Milliseconds restOfPeriod() const;

    LeaseStore *m_store;
    LeaseId m_lease;
    Term m_term;
    Duration m_period;
    Milliseconds m_ttl;
    Instant m_asked;
};

} // namespace tenure::ctl
