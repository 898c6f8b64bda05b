// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_compact.h"

#include "core/journal/journal_schema.h"

#include <algorithm>

namespace tenure
{
namespace
{

constexpr std::int64_t kRowsAStep = 2000;
constexpr std::int64_t kLeasesAStep = 50;
/// Removing goes on until this share of the limit, so that it is not needed again at once.
constexpr double kAimedShare = 0.9;

} // namespace

std::uint64_t JournalCompactor::usedBytes(JournalDb& db)
{
    const std::int64_t pages = db.value("PRAGMA page_count") - db.value("PRAGMA freelist_count");
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, pages))
        * static_cast<std::uint64_t>(db.value("PRAGMA page_size"));
}

bool JournalCompactor::step(JournalDb& db, WallTime now)
{
    switch (m_phase) {
    case Phase::Judge:
        judge(db, now);
        m_phase = Phase::Changes;
        break;
    case Phase::Changes:
        m_phase = removeChanges(db) ? Phase::Changes : Phase::Renewals;
        m_lease = 0;
        break;
    case Phase::Renewals:
        m_phase = removeRenewals(db, now) ? Phase::Renewals : Phase::Density;
        break;
    case Phase::Density:
        removeDensity(db, now);
        m_phase = Phase::Rest;
        break;
    case Phase::Rest:
        removeRest(db);
        m_phase = Phase::Shrink;
        break;
    case Phase::Shrink: {
        const std::int64_t free = db.value("PRAGMA freelist_count");
        db.run("PRAGMA incremental_vacuum(500)");
        static_cast<void>(db.value("PRAGMA wal_checkpoint(PASSIVE)")); // only then the file shrinks
        m_phase = Phase::Judge;
        if (usedBytes(db) > m_sizeLimit) // the cut was not deep enough
            return true;
        if (free <= 500)
            return false;
        m_phase = Phase::Shrink;
        return true;
    }
    }
    return true;
}

/// Where the cut lies: the age limit, or as much later as the size asks for.
void JournalCompactor::judge(JournalDb& db, WallTime now)
{
    m_cut = now - std::chrono::floor<std::chrono::microseconds>(m_ageLimit);
    const std::uint64_t used = usedBytes(db);
    if (used <= m_sizeLimit)
        return;
    const std::int64_t oldest
        = std::min({now.time_since_epoch().count(), db.value("SELECT ifnull(min(at_us), 9e18) FROM change"),
            db.value("SELECT ifnull(min(from_us), 9e18) FROM span")});
    const WallTime from{std::chrono::microseconds(oldest)};
    const double surplus
        = 1 - kAimedShare * static_cast<double>(m_sizeLimit) / static_cast<double>(used);
    const auto span = std::chrono::duration<double>(now - from) * std::clamp(surplus, 0.02, 0.9);
    m_cut = std::max(m_cut, from + std::chrono::duration_cast<std::chrono::microseconds>(span));
}

bool JournalCompactor::removeChanges(JournalDb& db)
{
    auto remove = db.prepared("DELETE FROM change WHERE id IN (SELECT id FROM change WHERE at_us < ? LIMIT ?)");
    remove.bind(m_cut).bind(kRowsAStep).step();
    return db.changes() == kRowsAStep;
}

bool JournalCompactor::removeRenewals(JournalDb& db, WallTime now)
{
    auto next = db.prepared("SELECT max(id) FROM (SELECT id FROM lease WHERE id>? ORDER BY id LIMIT ?)");
    next.bind(m_lease).bind(kLeasesAStep);
    const std::int64_t last = next.step() ? next.integer() : 0;
    next.reset();
    if (last == 0)
        return false;
    const WallTime minutes = now - std::chrono::floor<std::chrono::microseconds>(kRenewalKept);
    for (std::size_t level = 0; level < kRenewalLevels.size(); ++level) {
        const WallTime cut = level == 0 ? std::max(m_cut, minutes) : m_cut;
        auto remove = db.prepared("DELETE FROM renewal WHERE lease>? AND lease<=? AND level=? AND at<?");
        remove.bind(m_lease).bind(last).bind(static_cast<std::int64_t>(level));
        remove.bind(bucketOf(cut.time_since_epoch().count(), kRenewalLevels[level])).step();
    }
    auto gaps = db.prepared("DELETE FROM gap WHERE lease>? AND lease<=? AND at<?");
    gaps.bind(m_lease).bind(last).bind(bucketOf(m_cut.time_since_epoch().count(), kGapBucket)).step();
    m_lease = last;
    return true;
}

void JournalCompactor::removeDensity(JournalDb& db, WallTime now)
{
    for (std::size_t level = 0; level < kDensityLevels.size(); ++level) {
        WallTime cut = m_cut;
        if (level < kDensityKept.size())
            cut = std::max(cut, now - std::chrono::floor<std::chrono::microseconds>(kDensityKept[level]));
        auto remove = db.prepared(
            "DELETE FROM density WHERE level=? AND at<? AND conn IN (SELECT id FROM connection)");
        remove.bind(static_cast<std::int64_t>(level));
        remove.bind(bucketOf(cut.time_since_epoch().count(), kDensityLevels[level])).step();
    }
}

void JournalCompactor::removeRest(JournalDb& db)
{
    auto spans = db.prepared("DELETE FROM span WHERE to_us<?");
    spans.bind(m_cut).step();
    auto steps = db.prepared("DELETE FROM alert_step WHERE alert IN (SELECT id FROM alert WHERE last_us<?)");
    steps.bind(m_cut).step();
    auto alerts = db.prepared("DELETE FROM alert WHERE last_us<?");
    alerts.bind(m_cut).step();
}

} // namespace tenure
