// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/faulty.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
/// How long a call over a cut line waits for an answer before it gives up; healing ends it early.
constexpr auto kGiveUp = 300ms;
constexpr auto kLook = 5ms;

bool isWrite(const Command &command)
{
    return !std::holds_alternative<Read>(command) && !std::holds_alternative<List>(command);
}

class FaultyStore final : public LeaseStore
{
public:
    FaultyStore(std::unique_ptr<LeaseStore> real, std::shared_ptr<const Faults> faults, const Clock &clock)
        : m_real(std::move(real)), m_faults(std::move(faults)), m_clock(clock)
    {
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_real->traits(); }

    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override
    {
        if (!arrives(deadline))
            return {commands.size(), fail(notSent())};
        std::vector<Result<Reply>> results = m_real->execute(commands, deadline);
        if (!m_faults->loseReplies && !m_faults->cutOff)
            return results;
        waitOut(deadline);
        for (std::size_t i = 0; i < results.size(); ++i) {
            Error lost = notSent();
            lost.what = "No answer came back";
            if (isWrite(commands[i]))
                lost.kind = ErrorKind::OutcomeUnknown;
            results[i] = fail(std::move(lost));
        }
        return results;
    }

    bool idle(Instant deadline, const std::atomic<bool> &cancelled) override
    {
        return !m_faults->cutOff && !m_faults->loseReplies && m_real->idle(deadline, cancelled);
    }

    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override
    {
        if (!arrives(deadline))
            return fail(notSent());
        const Instant began = BootClock::now();
        Result<StoreFacts> facts = m_real->probe(deadline);
        if (m_faults->loseReplies || m_faults->cutOff) {
            waitOut(deadline);
            return fail(notSent());
        }
        if (facts && facts->roundTrip)
            *facts->roundTrip = BootClock::now() - began + Milliseconds(m_faults->latencyMs);
        return facts;
    }

    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override
    {
        if (!arrives(deadline))
            return fail(notSent());
        return m_real->init(dryRun, deadline);
    }

    [[nodiscard]] Result<LeaseAside> aside(const LeaseId &lease, Instant deadline) override
    {
        if (!arrives(deadline))
            return fail(notSent());
        return m_real->aside(lease, deadline);
    }

private:
    [[nodiscard]] Error notSent() const
    {
        Error error;
        error.kind = ErrorKind::Unavailable;
        error.what = "The line is cut";
        error.where = traits().display;
        error.recovery = Recovery::Reconnect;
        return error;
    }

    /// Waits for the latency, then says whether the request reaches the server before the deadline.
    [[nodiscard]] bool arrives(Instant deadline)
    {
        for (int left = m_faults->failNext; left > 0;) {
            if (m_faults->failNext.compare_exchange_weak(left, left - 1))
                return false;
        }
        const Milliseconds latency(m_faults->latencyMs);
        if (latency > 0ms)
            sleepUnless(deadline, latency, [] { return false; });
        if (m_faults->cutOff)
            waitOut(deadline);
        return !m_faults->cutOff && m_clock.now() < deadline;
    }

    void waitOut(Instant deadline)
    {
        sleepUnless(deadline, kGiveUp, [this] { return !m_faults->cutOff && !m_faults->loseReplies; });
    }

    /// The clock may be a test's and stand still, therefore both limits.
    template <typename Done>
    void sleepUnless(Instant deadline, Milliseconds longest, Done done)
    {
        const Instant end = BootClock::now() + longest;
        while (!done() && m_clock.now() < deadline && BootClock::now() < end)
            std::this_thread::sleep_for(std::min<Duration>(kLook, end - BootClock::now()));
    }

    const std::unique_ptr<LeaseStore> m_real;
    const std::shared_ptr<const Faults> m_faults;
    const Clock &m_clock;
};

/// Passes the real feed on while the line stands. A thread of its own looks at the switch, because a
/// cut must be told also when nothing happens.
class FaultyFeed final : public LeaseFeed
{
public:
    FaultyFeed(std::unique_ptr<LeaseFeed> real, std::shared_ptr<const Faults> faults, const Clock &clock)
        : m_real(std::move(real)), m_faults(std::move(faults)), m_clock(clock)
    {
    }
    ~FaultyFeed() override { FaultyFeed::stop(); }

    void start(Sink sink) override
    {
        stop();
        m_stopping = false;
        m_cut = false; // a line cut from the beginning is told as well
        m_opened = {};
        m_sink = std::move(sink);
        m_real->start([this](const FeedEvent &event) { pass(event); });
        m_watch = std::thread([this] { watch(); });
    }

    void stop() override
    {
        if (!m_watch.joinable())
            return;
        {
            const std::lock_guard lock(m_mutex);
            m_stopping = true;
        }
        m_wake.notify_one();
        m_watch.join();
        m_real->stop();
    }

private:
    void pass(const FeedEvent &event)
    {
        const std::lock_guard lock(m_mutex);
        if (event.kind == FeedEvent::Kind::Opened)
            m_opened = event;
        if (event.kind == FeedEvent::Kind::Closed)
            m_opened.reset();
        noticeSwitch();
        const bool swallowed = m_cut && event.kind != FeedEvent::Kind::Closed;
        if (!swallowed && !m_stopping && !(event.kind == FeedEvent::Kind::Opened && m_told == event.at))
            m_sink(event);
    }

    void watch()
    {
        std::unique_lock lock(m_mutex);
        while (!m_stopping) {
            noticeSwitch();
            m_wake.wait_for(lock, 20 * kLook, [this] { return m_stopping; });
        }
    }

    /// Tells Closed or Opened once when the line was cut or healed. Under the mutex.
    void noticeSwitch()
    {
        const bool cut = m_faults->cutOff;
        if (cut == m_cut || m_stopping)
            return;
        m_cut = cut;
        FeedEvent event;
        if (cut) {
            event.kind = FeedEvent::Kind::Closed;
            event.error.what = "The line is cut";
            event.error.recovery = Recovery::Reconnect;
        } else if (m_opened) {
            event = *m_opened;
            m_told = event.at;
        } else {
            return; // the real feed is not open: it tells when it is
        }
        event.at = m_clock.now();
        m_sink(event);
    }

    const std::unique_ptr<LeaseFeed> m_real;
    const std::shared_ptr<const Faults> m_faults;
    const Clock &m_clock;
    std::mutex m_mutex; ///< held during the sink, so that its calls come one after another
    std::condition_variable m_wake;
    // Guarded by m_mutex:
    Sink m_sink;
    bool m_stopping = true;
    bool m_cut = false;
    std::optional<FeedEvent> m_opened; ///< how the real feed stands
    Instant m_told; ///< the Opened that noticeSwitch() passed on already
    std::thread m_watch;
};

class FaultyBackend final : public Backend
{
public:
    FaultyBackend(
        std::shared_ptr<const Backend> real, std::shared_ptr<const Faults> faults, const Clock &clock)
        : m_real(std::move(real)), m_faults(std::move(faults)), m_clock(clock)
    {
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_real->traits(); }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<FaultyStore>(m_real->makeStore(), m_faults, m_clock);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        std::unique_ptr<LeaseFeed> feed = m_real->makeFeed();
        return feed ? std::make_unique<FaultyFeed>(std::move(feed), m_faults, m_clock) : nullptr;
    }

private:
    const std::shared_ptr<const Backend> m_real;
    const std::shared_ptr<const Faults> m_faults;
    const Clock &m_clock;
};

} // namespace

std::shared_ptr<const Backend> makeFaultyBackend(
    std::shared_ptr<const Backend> real, std::shared_ptr<const Faults> faults, const Clock &clock)
{
    return std::make_shared<FaultyBackend>(std::move(real), std::move(faults), clock);
}

} // namespace tenure
