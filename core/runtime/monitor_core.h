// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/random.h"
#include "core/runtime/monitor.h"
#include "core/runtime/monitor_schedule.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenure
{

/// What other threads tell the monitor's thread. Guarded by the core's mutex.
struct MonitorInbox {
    std::set<LeaseId> changed; ///< coalesced
    bool relist = false;
    std::optional<FeedEvent> stream; ///< the last Opened or Closed
    std::optional<Instant> streamAlive;
    std::uint64_t refreshes = 0; ///< asked in all
    std::optional<LeaseId> focus;
    std::vector<std::function<std::vector<Alert>(AlertRules&, Instant)>> orders; ///< of people
    std::optional<RuleBook> rules; ///< new ones
    bool stopping = false;
    bool news = false; ///< something of the above is new
};

/// Monitor's thread and all it knows.
struct Monitor::Core {
    Core(std::shared_ptr<const Backend> b, Options o, const Clock& c, Sink s);

    void run();
    void tell(const FeedEvent& event); ///< on the feed's thread
    template <typename Change>
    void post(Change change)
    {
        {
            const std::lock_guard lock(mutex);
            change(inbox);
            inbox.news = true;
        }
        wake.notify_one();
    }

    template <typename Order>
    void order(Order what)
    {
        post([&](MonitorInbox& box) { box.orders.push_back(std::move(what)); });
    }

    const std::shared_ptr<const Backend> backend;
    const Options options;
    const Clock& clock;
    const Sink sink;
    std::unique_ptr<LeaseFeed> feed; ///< made and stopped by the owner's thread
    std::thread thread;

    std::mutex mutex;
    std::condition_variable wake;
    MonitorInbox inbox; ///< guarded by mutex

private:
    // What the loop does, in its order.
    void takeInbox();
    void takeStream(const FeedEvent& event);
    void work();
    void publish();
    void pause();
    [[nodiscard]] bool hasNews() const;
    [[nodiscard]] Instant nextWake() const;

    // The link.
    bool connect();
    void answered(Instant sent, Instant received);
    void failed(const Error& error);
    void startOver(); ///< look at everything again
    [[nodiscard]] bool mayCall() const;

    // Looking.
    void listPage();
    void listEnded();
    void readDue();
    /// Nothing when the connection failed.
    [[nodiscard]] std::optional<std::vector<Result<Reply>>> call(
        const std::vector<Command>& commands);
    void take(LeaseRecord record, const std::optional<WallTime>& serverTime, bool absent);
    void takeRefusal(const LeaseId& lease, const Error& error);
    void take(const Transition& transition);
    void letTimePass();
    void forgetTheGone();
    [[nodiscard]] LookRules rules() const;
    [[nodiscard]] bool wanted(const LeaseId& lease) const;

    // The monitor's thread only:
    std::unique_ptr<LeaseStore> m_store;
    Random m_random;
    Fleet m_fleet;
    AlertRules m_alerts;
    LookSchedule m_schedule;
    FleetDelta m_delta;
    LinkStatus m_link;
    bool m_urgent = true; ///< the link changed in a way to be told soon
    bool m_looked = false; ///< an observation was taken in since the last delta
    bool m_greeted = false; ///< connect() succeeded since the last failure
    bool m_renewalsPushed = false;
    Instant m_streamAlive;
    Instant m_sent, m_received; ///< of the last answered call
    Instant m_proofSent; ///< every lease due before was looked at
    Instant m_published, m_lastCall, m_nextRules;
    std::optional<LeaseId> m_focus;
    std::uint64_t m_refreshAsked = 0;
    std::set<LeaseId> m_unverified; ///< to be read before the listing counts as complete
    bool m_listing = false;
    std::string m_cursor;
    std::uint64_t m_pages = 0;
    Instant m_listStarted, m_nextPage, m_nextList;
};

} // namespace tenure
