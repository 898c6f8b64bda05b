// SPDX-License-Identifier: GPL-3.0-or-later
// The specimens: clients as they are really written, each with one fault that a scenario shows.
#include "core/sim/sound_client.h"

#include <algorithm>
#include <utility>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;

/// What a specimen does otherwise than it should.
struct Habits {
    bool renews = true;
    bool oneItem = false; ///< locks for one item, then unlocks
    bool comparesOnUnlock = true;
    bool byName = false;
    bool ownWallClock = false;
    bool jitter = true;
    bool overlongBelief = false; ///< counted from the answer, for longer than the lease lasts
    bool looksAtTheTime = true; ///< false: believes until it is told otherwise
};

Habits habitsOf(ClientKind kind)
{
    Habits habits;
    switch (kind) {
    case ClientKind::NaiveSetnx:
    case ClientKind::NaiveUnlock:
        habits.renews = habits.looksAtTheTime = false;
        habits.oneItem = true;
        habits.comparesOnUnlock = kind == ClientKind::NaiveSetnx;
        break;
    case ClientKind::ClientClock:
        habits.ownWallClock = true;
        break;
    case ClientKind::SharedId:
        habits.byName = true;
        break;
    case ClientKind::UnsafeDeadline:
        habits.overlongBelief = true;
        break;
    case ClientKind::NoJitter:
        habits.jitter = false;
        break;
    default:
        break;
    }
    return habits;
}

class NaiveClient final : public Client
{
public:
    NaiveClient(ClientKind kind, const ClientTiming &timing, ClientHost &host)
        : m_habits(habitsOf(kind)), m_timing(timing), m_host(host)
    {
    }

    void start() override
    {
        m_running = true;
        // Those without jitter have a wall clock in common: they poll at its whole seconds.
        tryAfter(m_habits.jitter ? drawn(m_timing.retry) : 0ns);
    }

    void timer() override
    {
        const Instant now = m_host.now();
        if (m_leads && m_habits.looksAtTheTime && now >= m_until)
            lose(LossReason::DeadlinePassed);
        if (now < m_wakeAt || !m_running)
            return;
        if (!m_leads)
            compete();
        else if (m_habits.renews)
            renew();
        else
            m_wakeAt = Instant::max();
    }

    void answered(const Ask &ask, const StoreAnswer &answer, Instant sentAt) override
    {
        if (ask.request != m_request)
            return;
        switch (ask.kind) {
        case Ask::Kind::Peek:
            return judge(answer);
        case Ask::Kind::Acquire:
        case Ask::Kind::AcquireByName:
            return answer.outcome == Outcome::Done ? win(answer, sentAt) : tryAfter(m_timing.retry);
        case Ask::Kind::Overwrite:
            if (answer.outcome == Outcome::Done)
                return m_leads ? keep(answer, sentAt) : win(answer, sentAt);
            return m_leads ? lose(LossReason::TakenOver) : tryAfter(m_timing.retry);
        case Ask::Kind::Renew:
        case Ask::Kind::RenewByName:
            return answer.outcome == Outcome::Done ? keep(answer, sentAt) : lose(LossReason::TakenOver);
        default:
            return;
        }
    }

    void workDone() override
    {
        if (m_habits.oneItem && m_leads)
            giveBack();
    }

    void giveBack() override
    {
        if (!m_leads)
            return;
        ask(m_habits.comparesOnUnlock ? Ask::Kind::Release : Ask::Kind::DeleteAny);
        lose(LossReason::GivenBack);
        tryAfter(m_timing.retry);
    }

    void stop() override
    {
        giveBack();
        m_running = false;
        m_wakeAt = Instant::max();
        m_host.stopped();
    }

    [[nodiscard]] Instant believesUntil() const override { return m_leads ? m_until : Instant(); }
    [[nodiscard]] Instant wakeAt() const override
    {
        return m_leads && m_habits.looksAtTheTime ? std::min(m_wakeAt, m_until) : m_wakeAt;
    }
    [[nodiscard]] FencingToken token() const override { return m_leads ? m_token : FencingToken(); }
    [[nodiscard]] std::uint64_t serial() const override { return m_serial; }
    [[nodiscard]] std::string phase() const override { return m_leads ? "leading" : "waiting"; }

private:
    void ask(Ask::Kind kind)
    {
        Ask out;
        out.kind = kind;
        out.request = m_request = ++m_lastRequest;
        out.nonce = m_nonce;
        out.token = kind == Ask::Kind::Overwrite && !m_leads ? m_seen : m_token;
        out.ttl = std::chrono::duration_cast<Milliseconds>(m_timing.ttl);
        out.writerWall = m_host.wall();
        m_host.send(out);
    }

    void compete()
    {
        m_wakeAt = m_host.now() + m_timing.retry; // when no answer comes
        m_nonce = Nonce(m_host.random().next(), m_host.random().next());
        ask(m_habits.ownWallClock ? Ask::Kind::Peek
                : m_habits.byName ? Ask::Kind::AcquireByName : Ask::Kind::Acquire);
    }

    /// By one's own wall clock: is what stands there older than its ttl?
    void judge(const StoreAnswer &answer)
    {
        m_seen = answer.token;
        const bool over = !answer.held || m_host.wall() > answer.writerWall + m_timing.ttl;
        if (over)
            ask(answer.token ? Ask::Kind::Overwrite : Ask::Kind::Acquire);
        else
            tryAfter(m_timing.retry);
    }

    void renew()
    {
        m_wakeAt = m_host.now() + m_timing.retry; // when no answer comes
        ask(m_habits.ownWallClock ? Ask::Kind::Overwrite
                : m_habits.byName ? Ask::Kind::RenewByName : Ask::Kind::Renew);
    }

    void win(const StoreAnswer &answer, Instant sentAt)
    {
        m_leads = true;
        m_token = answer.token;
        m_serial = answer.serial;
        keep(answer, sentAt);
        m_host.gained();
    }

    void keep(const StoreAnswer &answer, Instant sentAt)
    {
        m_token = answer.token;
        if (!m_habits.looksAtTheTime)
            m_until = Instant::max();
        else if (m_habits.overlongBelief)
            m_until = m_host.now() + std::max(m_timing.deadline, m_timing.ttl * 3 / 2);
        else
            m_until = sentAt + std::min(m_timing.deadline, m_timing.ttl);
        m_wakeAt = m_habits.renews ? m_host.now() + m_timing.renewEvery : Instant::max();
    }

    void lose(LossReason reason)
    {
        m_leads = false;
        m_host.lost(reason);
        tryAfter(m_timing.retry);
    }

    void tryAfter(Duration wait)
    {
        if (!m_running)
            return;
        const Duration spread = m_habits.jitter
            ? Duration(wait.count() / 1'000'000 * m_timing.jitter.ppm) : Duration();
        m_wakeAt = m_host.now() + wait - spread + drawn(2 * spread);
        if (m_habits.jitter || wait == 0ns)
            return;
        const Duration wall = m_host.wall() + wait; // in step with everybody else's clock
        m_wakeAt = m_host.now() + wait - wall % m_timing.retry;
    }

    [[nodiscard]] Duration drawn(Duration window)
    {
        return Duration(static_cast<Duration::rep>(
            m_host.random().below(static_cast<std::uint64_t>(std::max(window, 0ns).count()) + 1)));
    }

    const Habits m_habits;
    const ClientTiming m_timing;
    ClientHost &m_host;
    bool m_running = false;
    bool m_leads = false;
    Instant m_until;
    Instant m_wakeAt = Instant::max();
    Nonce m_nonce;
    FencingToken m_token;
    FencingToken m_seen; ///< what stood there at the last look
    std::uint64_t m_serial = 0;
    RequestId m_request = 0; ///< whose answer is awaited
    RequestId m_lastRequest = 0;
};

/// Nobody elected it: it begins when it is started and ends when its work is done.
class UnelectedClient final : public Client
{
public:
    explicit UnelectedClient(ClientHost &host) : m_host(host) { }

    void start() override
    {
        m_works = true;
        m_host.gained();
    }
    void timer() override { }
    void answered(const Ask &, const StoreAnswer &, Instant) override { }
    void giveBack() override
    {
        if (std::exchange(m_works, false))
            m_host.lost(LossReason::GivenBack);
    }
    void stop() override
    {
        giveBack();
        m_host.stopped();
    }
    [[nodiscard]] Instant believesUntil() const override { return m_works ? Instant::max() : Instant(); }
    [[nodiscard]] Instant wakeAt() const override { return Instant::max(); }
    [[nodiscard]] FencingToken token() const override { return {}; }
    [[nodiscard]] std::uint64_t serial() const override { return 0; }
    [[nodiscard]] std::string phase() const override { return m_works ? "working" : "done"; }

private:
    ClientHost &m_host;
    bool m_works = false;
};

} // namespace

const char *clientWord(ClientKind kind)
{
    switch (kind) {
    case ClientKind::Sound:
        return "sound";
    case ClientKind::NaiveSetnx:
        return "naive_setnx";
    case ClientKind::NaiveUnlock:
        return "naive_unlock";
    case ClientKind::ClientClock:
        return "client_clock";
    case ClientKind::SharedId:
        return "shared_id";
    case ClientKind::IgnoresLoss:
        return "ignores_loss";
    case ClientKind::UnsafeDeadline:
        return "unsafe_deadline";
    case ClientKind::NoJitter:
        return "no_jitter";
    case ClientKind::NoElection:
        return "no_election";
    }
    return "?";
}

std::unique_ptr<Client> makeClient(
    ClientKind kind, const ClientTiming &timing, Plant plant, ClientHost &host)
{
    if (kind == ClientKind::Sound || kind == ClientKind::IgnoresLoss)
        return std::make_unique<SoundClient>(timing, plant, host);
    if (kind == ClientKind::NoElection)
        return std::make_unique<UnelectedClient>(host);
    return std::make_unique<NaiveClient>(kind, timing, host);
}

} // namespace tenure::sim
