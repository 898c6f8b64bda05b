// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal.h"

#include "core/journal/journal_writer.h"

#include <cstdlib>

namespace tenure
{

const char* journalStateWord(JournalState state)
{
    switch (state) {
    case JournalState::Opening:
        return "opening";
    case JournalState::Writing:
        return "writing";
    case JournalState::ReadOnly:
        return "read-only";
    case JournalState::Failing:
        return "failing";
    case JournalState::Closed:
        return "closed";
    }
    return "";
}

std::string Journal::defaultPath()
{
    const char* data = std::getenv("XDG_DATA_HOME");
    if (data != nullptr && *data == '/')
        return std::string(data) + "/tenure/journal.db";
    const char* home = std::getenv("HOME");
    return std::string(home != nullptr ? home : "") + "/.local/share/tenure/journal.db";
}

Journal::Journal(Options options, const Clock& clock)
    : m_writer(std::make_unique<JournalWriter>(std::move(options), clock))
{
}

Journal::~Journal() = default;

void Journal::describe(const JournalConnection& connection)
{
    m_writer->add(connection, JournalWriter::Haste::Soon);
}

void Journal::append(const std::string& connection, const Transition& transition)
{
    m_writer->add(ChangeRecord{connection, transition, m_writer->wallOf(transition.at)},
        JournalWriter::Haste::Soon);
}

void Journal::append(const std::string& connection, std::uint64_t run, const Alert& alert)
{
    AlertRecord record{connection, run, alert, m_writer->wallOf(alert.firstAt),
        m_writer->wallOf(alert.lastAt), {}};
    if (alert.state == AlertState::Snoozed && alert.snoozedUntil)
        record.until = m_writer->wallOf(*alert.snoozedUntil);
    m_writer->add(std::move(record), JournalWriter::Haste::Soon);
}

void Journal::append(const LeaseKey& lease, const RenewalSeen& renewal, Duration roundTrip)
{
    m_writer->add(RenewalRecord{lease, m_writer->wallOf(renewal.at), renewal, roundTrip},
        JournalWriter::Haste::Some);
}

void Journal::observed(const std::string& connection, Instant until, Duration longestPause)
{
    const WallTime at = m_writer->wallOf(until);
    m_writer->addObserved({connection, at, at, longestPause, false});
}

Result<std::uint64_t> Journal::record(JournalAction action, Duration wait)
{
    return m_writer->record(std::move(action), wait);
}

bool Journal::flush(Duration wait)
{
    return m_writer->flush(wait);
}

JournalStatus Journal::status() const
{
    return m_writer->status();
}

const std::string& Journal::path() const
{
    return m_writer->path();
}

} // namespace tenure
