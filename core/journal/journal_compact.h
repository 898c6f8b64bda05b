// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_db.h"

namespace tenure
{

/// Keeps a journal within its size and age, in steps of some milliseconds, so that the writer's
/// batches come in between. Operators' actions are never removed. The writer's thread only.
class JournalCompactor
{
public:
    JournalCompactor(std::uint64_t sizeLimit, Duration ageLimit)
        : m_sizeLimit(sizeLimit), m_ageLimit(ageLimit)
    {
    }
    /// One step. False: nothing is left to do for now. After an error of `db` it begins anew.
    [[nodiscard]] bool step(JournalDb& db, WallTime now);
    /// Bytes in use, without what is free within the file.
    [[nodiscard]] static std::uint64_t usedBytes(JournalDb& db);

private:
    enum class Phase { Judge, Changes, Renewals, Density, Rest, Shrink };
    void judge(JournalDb& db, WallTime now);
    bool removeChanges(JournalDb& db);
    bool removeRenewals(JournalDb& db, WallTime now);
    void removeDensity(JournalDb& db, WallTime now);
    void removeRest(JournalDb& db);

    const std::uint64_t m_sizeLimit;
    const Duration m_ageLimit;
    Phase m_phase = Phase::Judge;
    WallTime m_cut; ///< all before it goes
    std::int64_t m_lease = 0; ///< Renewals: the last lease done
};

} // namespace tenure
