// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/journal_writer.h"

#include <algorithm>

#include <sys/stat.h>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kSomeHaste = 5s; ///< renewals and proofs of life
constexpr Duration kLastWord = 1s; ///< for writing what waits at the end
constexpr Duration kFirstRetry = 250ms;
constexpr Duration kLongestRetry = 5s;
constexpr Duration kDeniedRetry = 30s;
constexpr Duration kCompactEvery = 60s;
constexpr Duration kCompactFull = 3s; ///< when it has outgrown its limit
constexpr Duration kCompactPause = 20ms;
constexpr std::uint64_t kQuicklyChecked = 64U << 20U;

std::uint64_t fileSize(const std::string& path)
{
    struct stat known = {};
    return ::stat(path.c_str(), &known) == 0 ? static_cast<std::uint64_t>(known.st_size) : 0;
}

} // namespace

JournalWriter::JournalWriter(Journal::Options options, const Clock& clock)
    : m_options(std::move(options)), m_clock(clock),
      m_compactor(m_options.sizeLimit, m_options.ageLimit)
{
    m_status.path = m_options.path;
    m_nextCompaction = BootClock::now() + 1s;
    m_thread = std::thread([this] { run(); });
}

JournalWriter::~JournalWriter()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
        m_stopBy = BootClock::now() + kLastWord;
    }
    m_wake.notify_one();
    m_thread.join();
}

WallTime JournalWriter::wallOf(Instant at) const
{
    return m_clock.wall() - std::chrono::floor<std::chrono::microseconds>(m_clock.now() - at);
}

void JournalWriter::add(JournalRecord record, Haste haste)
{
    const Instant now = BootClock::now();
    const Instant by = haste == Haste::AtOnce ? now
        : haste == Haste::Soon                ? now + m_options.flushEvery
                                              : now + kSomeHaste;
    bool wake = false;
    {
        const std::lock_guard lock(m_mutex);
        const bool hopeless = m_status.state == JournalState::ReadOnly;
        if (m_waiting.size() >= m_options.queueLimit || hopeless) {
            ++m_status.dropped;
            m_lostSome = m_lostSome || !hopeless;
            return;
        }
        m_waiting.push_back(std::move(record));
        ++m_added;
        // A large batch is written at once: it would only grow.
        const Instant due = m_waiting.size() >= 10'000 ? now : by;
        wake = due < m_writeBy;
        m_writeBy = std::min(m_writeBy, due);
    }
    if (wake)
        m_wake.notify_one();
}

void JournalWriter::addObserved(ObservedRecord record)
{
    {
        const std::lock_guard lock(m_mutex);
        const auto known = m_observedAt.find(record.connection);
        if (known != m_observedAt.end()) {
            auto& last = std::get<ObservedRecord>(m_waiting[known->second]);
            if (record.from - last.until <= record.longestPause) {
                last.until = std::max(last.until, record.until);
                return;
            }
        }
        if (m_waiting.size() < m_options.queueLimit && m_status.state != JournalState::ReadOnly)
            m_observedAt[record.connection] = m_waiting.size();
    }
    add(std::move(record), Haste::Some);
}

Result<std::uint64_t> JournalWriter::record(JournalAction action, Duration wait)
{
    auto kept = std::make_shared<std::promise<Result<std::uint64_t>>>();
    std::future<Result<std::uint64_t>> answer = kept->get_future();
    if (action.at == WallTime())
        action.at = m_clock.wall();
    {
        const std::lock_guard lock(m_mutex);
        if (m_status.state == JournalState::ReadOnly) {
            ++m_status.dropped;
            return fail(ErrorKind::Denied, "The action is not in the journal: " + m_status.sentence,
                m_options.path);
        }
    }
    add(ActionRecord{std::move(action), std::move(kept)}, Haste::AtOnce);
    if (answer.wait_for(wait) == std::future_status::ready) {
        try {
            return answer.get();
        } catch (const std::future_error&) { // dropped with the queue
        }
    }
    const std::string why = status().sentence;
    return fail(ErrorKind::Unavailable,
        "The action is not in the journal yet" + (why.empty() ? std::string() : ": " + why),
        m_options.path);
}

bool JournalWriter::flush(Duration wait)
{
    std::unique_lock lock(m_mutex);
    const std::uint64_t upTo = m_added;
    m_writeBy = BootClock::now();
    m_wake.notify_one();
    m_done.wait_for(lock, wait, [&] { return m_settled >= upTo || m_status.state == JournalState::ReadOnly; });
    return m_settled >= upTo && m_status.state == JournalState::Writing;
}

JournalStatus JournalWriter::status() const
{
    const std::lock_guard lock(m_mutex);
    JournalStatus out = m_status;
    out.waiting = m_added - m_settled;
    return out;
}

// ---- The writer's thread ----------------------------------------------------------------------

void JournalWriter::run()
{
    while (true) {
        bool stopping = false;
        {
            std::unique_lock lock(m_mutex);
            stopping = waitForWork(lock);
        }
        if (m_db && !stopping && !m_db->stillThere()) // moved or removed under our feet
            close();
        const Instant now = BootClock::now();
        if (!m_forGood && now >= m_nextTry && (m_db || open()))
            writeBatch();
        if (stopping && (m_batch.empty() || m_forGood || BootClock::now() >= m_stopBy))
            break;
        if (m_db && BootClock::now() >= m_nextCompaction)
            compact();
    }
    close();
    m_batch.clear();
    dropWaiting();
    setState(JournalState::Closed, {});
}

/// True: it is time to end. Waits for a full or old enough batch, a retry, or a compaction.
bool JournalWriter::waitForWork(std::unique_lock<std::mutex>& lock)
{
    const auto due = [this] { return m_stopping || BootClock::now() >= nextWrite(); };
    while (!due()) {
        const Instant until = m_db ? std::min(nextWrite(), m_nextCompaction) : nextWrite();
        const Duration left = std::min<Duration>(until - BootClock::now(), 1h);
        if (left <= 0ns)
            break;
        m_wake.wait_for(lock, left);
    }
    if (m_stopping && !m_batch.empty()) // the last word: not as fast as the machine can
        m_wake.wait_for(lock, 20ms);
    return m_stopping;
}

Instant JournalWriter::nextWrite() const
{
    if (m_forGood)
        return Instant::max();
    if (!m_db || !m_batch.empty())
        return m_nextTry;
    return std::max(m_writeBy, m_nextTry);
}

bool JournalWriter::open()
{
    auto opened = JournalDb::open(m_options.path, JournalOpen::Write, m_options.busyTimeout);
    const bool small = fileSize(m_options.path) < kQuicklyChecked;
    if (opened && small && (*opened)->value("SELECT count(*) FROM pragma_quick_check WHERE quick_check<>'ok'") != 0)
        opened = fail(ErrorKind::Corrupt, "The journal is damaged", m_options.path);
    if (opened) {
        if (auto problem = (*opened)->takeError())
            opened = fail(std::move(*problem));
    }
    if (!opened) {
        openFailed(opened.error());
        return false;
    }
    m_db = std::move(*opened);
    m_store = std::make_unique<JournalStore>(*m_db, m_options.path);
    m_failures = 0;
    m_nextTry = Instant();
    const std::lock_guard lock(m_mutex);
    const std::string aside = m_status.setAside;
    m_status.state = JournalState::Writing;
    m_status.sentence = aside.empty() ? std::string()
                                      : "The journal was damaged. It is kept as " + aside
            + ", and a new one was begun";
    m_status.bytes = fileSize(m_options.path);
    return true;
}

void JournalWriter::openFailed(const Error& error)
{
    const Instant now = BootClock::now();
    if (error.kind == ErrorKind::Corrupt) {
        const std::string aside = setAside(m_options.path, m_clock.wall());
        if (!aside.empty()) {
            {
                const std::lock_guard lock(m_mutex);
                m_status.setAside = aside;
            }
            m_nextTry = now;
            if (++m_failures < 3)
                return;
        }
    }
    m_forGood = error.kind == ErrorKind::BadConfig || error.kind == ErrorKind::Unsupported;
    if (m_forGood || error.kind == ErrorKind::Denied) {
        m_nextTry = now + kDeniedRetry;
        m_batch.clear();
        setState(JournalState::ReadOnly, error.text());
        dropWaiting();
        return;
    }
    batchFailed(error);
}

void JournalWriter::writeBatch()
{
    bool lostSome = false;
    {
        const std::lock_guard lock(m_mutex);
        if (m_batch.empty()) {
            m_batch = std::exchange(m_waiting, {});
            m_observedAt.clear();
            m_writeBy = Instant::max();
            lostSome = std::exchange(m_lostSome, false);
        }
    }
    if (m_batch.empty())
        return;
    if (lostSome) {
        for (JournalRecord& record : m_batch) {
            if (auto* observed = std::get_if<ObservedRecord>(&record))
                observed->afterLoss = true;
        }
    }
    if (auto problem = m_store->write(m_batch)) {
        if (problem->kind == ErrorKind::Corrupt) {
            close();
            m_nextTry = BootClock::now();
            openFailed(*problem);
            return;
        }
        batchFailed(*problem);
        return;
    }
    m_failures = 0;
    m_nextTry = Instant();
    m_store->giveUpIdle(m_clock.wall());
    const std::uint64_t used = JournalCompactor::usedBytes(*m_db);
    if (used > m_options.sizeLimit)
        m_nextCompaction = std::min(m_nextCompaction, m_compacted + kCompactFull);
    {
        const std::lock_guard lock(m_mutex);
        m_settled += m_batch.size();
        m_status.written += m_batch.size();
        if (m_status.state == JournalState::Failing)
            m_status.sentence.clear();
        m_status.state = JournalState::Writing;
        m_status.elsewhere = m_store->elsewhere();
        m_status.bytes = used;
    }
    m_batch.clear();
    m_done.notify_all();
}

/// Nothing of the batch was written; it stays.
void JournalWriter::batchFailed(const Error& error)
{
    close();
    const int doublings = std::min(m_failures++, 5);
    m_nextTry = BootClock::now() + std::min<Duration>(kFirstRetry * (1 << doublings), kLongestRetry);
    setState(JournalState::Failing, error.text());
}

void JournalWriter::compact()
{
    const bool more = m_compactor.step(*m_db, m_clock.wall());
    if (!more)
        m_compacted = BootClock::now();
    m_nextCompaction = BootClock::now() + (more ? kCompactPause : kCompactEvery);
    if (m_db->takeError()) // busy, full: later
        m_nextCompaction = BootClock::now() + kCompactEvery;
    const std::uint64_t used = JournalCompactor::usedBytes(*m_db);
    const std::lock_guard lock(m_mutex);
    m_status.bytes = used;
}

void JournalWriter::dropWaiting()
{
    {
        const std::lock_guard lock(m_mutex);
        m_status.dropped += m_added - m_settled;
        m_settled = m_added;
        m_waiting.clear();
        m_observedAt.clear();
        m_writeBy = Instant::max();
    }
    m_done.notify_all();
}

void JournalWriter::setState(JournalState state, std::string sentence)
{
    const std::lock_guard lock(m_mutex);
    m_status.state = state;
    m_status.sentence = std::move(sentence);
}

void JournalWriter::close()
{
    m_store.reset();
    m_db.reset();
}

} // namespace tenure
