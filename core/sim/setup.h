// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/timing.h"
#include "core/sim/scorecard.h"
#include "core/sim/spread.h"

#include <string>
#include <vector>

namespace tenure::sim
{

/// Who competes. All but Sound are specimens of wrong clients, to be seen failing.
enum class ClientKind {
    Sound, ///< the very decide() that runs for real
    NaiveSetnx, ///< SET NX PX, works, deletes what is its own; never renews
    NaiveUnlock, ///< the same, but deletes whatever stands there
    ClientClock, ///< judges another's expiry by its own wall clock
    SharedId, ///< compares the name only, and all of them have the same
    IgnoresLoss, ///< sound, but its work never looks whether it still leads
    UnsafeDeadline, ///< believes for longer than the lease lasts, counted from the answer
    NoJitter, ///< sound rules of waiting, but everybody polls in step
    NoElection, ///< asks nobody and does all of the work, as a line in cron on each machine does
};
[[nodiscard]] const char *clientWord(ClientKind kind); ///< "naive_setnx"

/// Wrong rules put into sound clients, to prove that the invariants find them.
enum class Plant {
    None,
    ValidityFromReply, ///< counts validity from the answer instead of the request
    NoMargin, ///< no allowance for clock drift
    DeafToDenial, ///< takes a definite denial for a renewal
    RenewByName, ///< renews whatever term bears its name
};

struct InstanceSpec {
    std::string name;
    ClientKind client = ClientKind::Sound;
};

/// How messages travel. One way each.
struct NetworkSpec {
    Spread latency = Spread::uniform(std::chrono::microseconds(200), std::chrono::milliseconds(2));
    Share drop;
    Share duplicate;
};

enum class Fencing { Off, On };

/// What leaders do: items out of one queue, one after the other.
struct WorkSpec {
    int items = 0; ///< 0: no work in this world
    Spread time = Spread::fixed(std::chrono::milliseconds(200));
    Duration check = std::chrono::milliseconds(250); ///< how often the work asks whether it still leads
    bool idempotent = false; ///< the effect of an item carries a key that makes its repetition harmless
    Fencing fencing = Fencing::Off;
};

/// Somebody who watches through a connection of their own.
enum class Watcher {
    None,
    Honest, ///< says STALE when it has no news
    Gullible, ///< counts down what it saw last and calls that the truth
};

/// Where fencing tokens come from.
enum class Tokens {
    Counter, ///< counted by the store: 1, 2, 3; a replica that lost writes counts again from there
    Time, ///< never below the server's clock, so that they grow even when the store forgot
};

/// By whose clock a lease runs out.
enum class Expiry {
    Server, ///< the store's own
    /// The store knows no time (Kubernetes): each candidate counts by its own clock since it saw the
    /// record change, and takes over only the very version it saw. For sound clients.
    Observed,
};

/// One thing that happens: a fault, its end, or something a person does.
struct Step {
    enum class Verb {
        Pause, ///< all of the instance stands still (GC, SIGSTOP, VM)
        Hang, ///< its work stands still, its renewals go on
        Crash,
        Restart,
        Stop, ///< gracefully
        HandOver,
        Cut,
        Latency, ///< the store's answers take longer
        Drop,
        Duplicate,
        Reorder,
        Skew, ///< the wall clock of an instance jumps
        Drift, ///< its clocks run at another rate
        RestartStore,
        FailoverStore,
        HangStore, ///< nothing is answered until it ends
        OperatorClear, ///< an operator releases the lease
        OperatorLook, ///< an operator looks at the lease; a guarded release means this term
        Clear, ///< every active fault ends
    };
    enum class Way { Both, To, From };
    Duration at{};
    Verb verb = Verb::Clear;
    std::string target; ///< an instance, "leader", "follower", "store" or "console"
    std::string peer = "store"; ///< Cut: "store" or "queue"
    Way way = Way::Both;
    Duration span{}; ///< how long it lasts
    Spread spread; ///< Latency
    bool rising = false; ///< Latency: from low to high during the span
    Share share; ///< Drop, Duplicate, Reorder
    Duration amount{}; ///< Skew; FailoverStore: lag
    std::int64_t ratePpm = NodeClock::kTrueRate; ///< Drift
    bool midItem = false; ///< Crash: at the next moment between an item's effect and its acknowledgement
    bool empty = false; ///< RestartStore: with nothing on disk
    bool guarded = true; ///< OperatorClear: only the very term that was looked at
    std::string text; ///< as it was written, without the time
};

/// A question to the trainee.
struct Card {
    Duration at{};
    std::string question;
    std::vector<std::string> choices;
    std::vector<std::string> right;
};

/// All that one run needs besides its seed. A value.
struct Setup {
    std::string variant; ///< "fencing off"; empty when there is only one
    TimingRequest lease{.ttl = std::chrono::seconds(6)};
    Duration retry = std::chrono::seconds(1); ///< how often specimens poll
    Share jitter{200'000}; ///< of that
    std::vector<InstanceSpec> instances;
    NetworkSpec network;
    WorkSpec work;
    Tokens tokens = Tokens::Counter;
    Expiry expiry = Expiry::Server;
    bool push = false; ///< the store tells waiting candidates of a release
    Watcher console = Watcher::None;
    Share clockSpread{}; ///< clock rates differ by at most this from the true one
    Duration startWithin{}; ///< instances start within this after the first; 0: nearly at once
    Duration chaosEvery{}; ///< mean time between random faults; 0: none
    Duration length = std::chrono::seconds(60);
    std::vector<Step> steps; ///< by time
    std::vector<Expectation> expect;
};

/// A scenario file: a lesson with one run, or several to be seen side by side.
struct Scenario {
    std::string code; ///< "D3"
    std::string id; ///< "gc-pause"
    std::string title;
    std::string teach; ///< what to look at and why, a few sentences
    std::vector<Card> cards;
    std::vector<Setup> runs; ///< at least one
};

} // namespace tenure::sim
