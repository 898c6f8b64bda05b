// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/identity.h"
#include "core/lease/timing.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

namespace tenure
{

enum class Phase : std::uint8_t {
    Idle, ///< not started
    Waiting, ///< candidate: somebody else holds it, or we hold back; the next try is due at `wakeAt`
    Attempting, ///< candidate: an acquire or a peek is under way
    Leading,
    Draining, ///< onLost was told by our own wish; still renewing while the handlers run
    Releasing, ///< giving the term back
    Lost, ///< the term is over for us; waiting for the onLost handlers to return
    Failed, ///< a person must act (rights, configuration); retrying slowly
    Paused, ///< told to stay out
    Stopped,
};

enum class Verb : std::uint8_t { None, Acquire, Peek, Renew, Release };

enum class LossReason : std::uint8_t {
    DeadlinePassed, ///< no renewal was confirmed in time
    TakenOver, ///< the backend says: another term
    Vanished, ///< the backend says: no such lease any more
    SteppedDown, ///< an operator asked
    GivenBack, ///< release() or stop()
};

/// What a failed call means for an election (DESIGN.md section 3, the fault table).
enum class FaultClass : std::uint8_t {
    Unknown, ///< no answer: it may have happened
    Benign, ///< repeat once, at once (a conflict with our own write)
    Busy, ///< repeat at once with jitter (serialization, SQLITE_BUSY)
    Transient, ///< backoff; honours retryAfter but never past validity
    Connection, ///< repeat at once on a fresh connection, then backoff
    Auth, ///< credentials refreshed and repeated once by the backend already: backoff
    Permanent, ///< a person must act: Failed
};

using RequestId = std::uint64_t;

/// Everything that can happen to an election. Built by the functions below; `now` always, `draw`
/// uniform in [0, 1) and `fresh` a new nonce wherever a decision may need them: decide() has no
/// chance and no clock of its own.
struct Event {
    enum class Kind : std::uint8_t {
        Start,
        Timer,
        Granted, ///< acquire
        Refused, ///< acquire or peek: held by another (or a hold, or the epoch rule)
        Vacant, ///< peek: nobody holds it
        Renewed,
        Denied, ///< renew or release: the term is not there any more
        Released,
        Fault, ///< a call failed
        PushFree, ///< the feed says: free now
        PushState, ///< the feed opened (`flag`) or closed
        Resumed, ///< the machine slept or a clock jumped
        HandlersDone, ///< the onLost handlers of the last term returned
        ReleaseAsked, ///< release(): give back and stay out for `duration`
        StopAsked, ///< stop()
        Pause, ///< stay out until Resume
        Resume,
    };
    Kind kind = Kind::Timer;
    Instant now;
    double draw = 0.5;
    Nonce fresh;

    RequestId request = 0;
    Instant sentAt; ///< Granted, Renewed, Refused: read before the request was serialised
    Duration settingUp{}; ///< of the time since: connecting, which says nothing about a round trip
    FencingToken token; ///< Granted
    bool otherTerm = false; ///< Denied: another term stands there (else: nothing does)
    bool epochBarrier = false; ///< Refused
    std::optional<Duration> retryIn; ///< Refused: when it can succeed, from the server's answer
    FaultClass fault = FaultClass::Unknown;
    std::optional<Duration> retryAfter; ///< Fault: the server's wish
    std::optional<Duration> duration; ///< ReleaseAsked; Renewed: an operator asks to step down so long
    bool flag = false;
};

struct Action {
    enum class Kind : std::uint8_t { Send, AnnounceGained, AnnounceLost, AnnounceStopped };
    Kind kind = Kind::Send;
    Verb verb = Verb::None; ///< Send
    RequestId request = 0; ///< Send
    Duration timeout{}; ///< Send: no answer by then is Unknown
    Duration awaitEnd{}; ///< Send an acquire: it may wait so long in the backend for the holder's end
    LossReason reason = LossReason::GivenBack; ///< AnnounceLost
};

/// At most a few actions follow from one event; no allocation on the renew path.
class Actions
{
public:
    void add(const Action &action)
    {
        assert(m_count < m_items.size());
        m_items[m_count++] = action;
    }
    [[nodiscard]] std::span<const Action> items() const { return {m_items.data(), m_count}; }
    [[nodiscard]] const Action *begin() const { return m_items.data(); }
    [[nodiscard]] const Action *end() const { return m_items.data() + m_count; }

private:
    std::array<Action, 6> m_items;
    std::size_t m_count = 0;
};

/// The whole state of one election; a value. The shell sends with `nonce` and `token` as they stand
/// here, publishes `validUntil` as the one atomic that isLeader() reads, and wakes decide() at `wakeAt`.
struct ElectionState {
    Phase phase = Phase::Idle;
    bool degraded = false; ///< leading, but the last renewal failed
    bool announced = false; ///< onGained told, onLost not yet
    bool handlersRunning = false; ///< onLost told, not yet returned
    bool mayHold = false; ///< an acquire of `nonce` may have been carried out
    bool pushAlive = false;
    bool stopping = false;
    bool pausing = false;
    bool freeHinted = false; ///< a push said "free" while an attempt was under way: try once more
    Nonce nonce; ///< of the present or the next term
    FencingToken token; ///< of the present term
    Instant validUntil; ///< P2; the epoch when there is no term
    Instant wakeAt; ///< when decide() wants a Timer event at the latest
    Instant nextTryAt; ///< candidate: next acquire or peek; leader: next renewal
    bool nextIsPeek = false;
    bool racing = false; ///< candidate: the next acquire, or the one under way, is for a lease thought free
    bool awaiting = false; ///< candidate: that acquire comes before the holder's end and waits for it there
    std::optional<Instant> expiryAt; ///< candidate: when the present holder's lease runs out, as told
    Instant notBefore; ///< candidate: no try before (hold back, step-down, Retry-After)
    Duration stayOut{}; ///< how long to hold back once the term is given back
    Instant drainUntil;
    Verb inFlight = Verb::None;
    RequestId request = 0; ///< in flight
    RequestId lastRequest = 0;
    Instant attemptUntil;
    Duration roundTrip{}; ///< smoothed
    int failures = 0; ///< in a row
    int lostRaces = 0; ///< acquires in a row, of a lease thought free, that a fresh rival beat
};

/// Longest time that Draining waits for handlers, after which the term is given back all the same.
inline constexpr Duration kDefaultDrainLimit = std::chrono::seconds(30);

/// Settings of one election, constant while it runs.
struct ElectionRules {
    Timing timing;
    Duration drainLimit = kDefaultDrainLimit;
    Duration awaitsEnd{}; ///< how long the backend lets an acquire wait for the holder's end
};

/// The election, decided: changes `state`, returns what to do. Pure: the same arguments give the same
/// result; no I/O, clock, chance, thread, lock or log. Answers whose request number is not the one in
/// flight are dropped. `isLeader` is `now < state.validUntil`, asked of the clock each time.
[[nodiscard]] Actions decide(const ElectionRules &rules, ElectionState &state, const Event &event);

[[nodiscard]] const char *phaseName(Phase phase);
[[nodiscard]] const char *lossText(LossReason reason); ///< "no renewal was confirmed before the deadline"

} // namespace tenure
