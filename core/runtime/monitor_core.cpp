// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/monitor_core.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kPublishEvery = 50ms;
constexpr Duration kCalmPublishEvery = 500ms; ///< when only the age of the data changed
constexpr Duration kLongestWait = 1s;
constexpr Duration kRulesEvery = 1s;
constexpr Duration kBatchPause = 5ms;
/// A wake-up later than this means that the machine slept or we were stopped.
constexpr Duration kSlept = 2s;
/// A push stream without a sign of life for so long is not trusted any more.
constexpr Duration kStreamSilent = 10s;
constexpr Duration kFirstBackoff = 250ms;
constexpr Duration kLongestBackoff = 5s;

bool needsAPerson(ErrorKind kind)
{
    return kind == ErrorKind::Denied || kind == ErrorKind::Rejected || kind == ErrorKind::BadConfig
        || kind == ErrorKind::Unsupported;
}

} // namespace

Monitor::Core::Core(std::shared_ptr<const Backend> b, Options o, const Clock& c, Sink s)
    : backend(std::move(b)), options(std::move(o)), clock(c), sink(std::move(s)),
      m_random(systemEntropy()), m_alerts(options.rules)
{
}

void Monitor::Core::tell(const FeedEvent& event)
{
    post([&](MonitorInbox& box) {
        box.streamAlive = event.at;
        switch (event.kind) {
        case FeedEvent::Kind::Opened:
        case FeedEvent::Kind::Closed:
            box.stream = event;
            break;
        case FeedEvent::Kind::Changed:
        case FeedEvent::Kind::Released:
            if (event.lease.name().empty())
                box.relist = true;
            else
                box.changed.insert(event.lease);
            break;
        case FeedEvent::Kind::Alive:
            break;
        }
    });
}

void Monitor::Core::run()
{
    m_store = backend->makeStore();
    m_fleet = Fleet();
    m_schedule = LookSchedule();
    m_delta = FleetDelta();
    m_delta.reset = true;
    m_greeted = false;
    m_link = LinkStatus();
    m_link.simulated = options.simulated;
    m_link.since = clock.now();
    m_link.staleAfter = std::max<Duration>(3s, 2 * options.probeEvery);
    m_link.pollEvery = options.probeEvery;
    m_link.pushHow = "this backend does not push; polling";
    m_published = m_lastCall = m_nextRules = Instant();
    m_urgent = true;
    publish();
    while (true) {
        takeInbox();
        {
            const std::lock_guard lock(mutex);
            if (inbox.stopping)
                break;
        }
        if (mayCall())
            work();
        letTimePass();
        publish();
        pause();
    }
    m_store.reset();
}

void Monitor::Core::takeInbox()
{
    MonitorInbox news;
    {
        const std::lock_guard lock(mutex);
        if (!inbox.news)
            return;
        news = inbox;
        inbox.changed.clear();
        inbox.orders.clear();
        inbox.rules.reset();
        inbox.stream.reset();
        inbox.relist = false;
        inbox.news = false;
    }
    const Instant now = clock.now();
    if (news.streamAlive)
        m_streamAlive = *news.streamAlive;
    if (news.stream)
        takeStream(*news.stream);
    for (const LeaseId& lease : news.changed) {
        if (wanted(lease))
            m_schedule.hasten(lease, now);
    }
    if (news.focus != m_focus) {
        m_focus = news.focus;
        if (m_focus && wanted(*m_focus))
            m_schedule.hasten(*m_focus, now);
    }
    if (news.refreshes > m_refreshAsked)
        m_link.nextTry.reset();
    if (news.relist || news.refreshes > m_refreshAsked)
        startOver();
    m_refreshAsked = news.refreshes;
    if (news.rules)
        m_alerts.setRules(*std::move(news.rules));
    for (const auto& order : news.orders) {
        auto told = order(m_alerts, now);
        m_delta.alerts.insert(m_delta.alerts.end(), told.begin(), told.end());
    }
}

void Monitor::Core::takeStream(const FeedEvent& event)
{
    m_urgent = true;
    m_link.pushOpen = event.kind == FeedEvent::Kind::Opened;
    if (m_link.pushOpen) {
        m_link.pushHow = event.detail;
        m_renewalsPushed = event.renewals;
        if (m_greeted)
            startOver(); // what happened before the stream stood was not pushed
        m_greeted = false; // and the server may have become another one
        return;
    }
    m_link.pushHow = "the push stream is closed: " + event.error.what + "; polling";
    m_renewalsPushed = false;
}

bool Monitor::Core::mayCall() const
{
    return !m_link.nextTry || clock.now() >= *m_link.nextTry;
}

void Monitor::Core::work()
{
    if (!m_greeted && !connect())
        return;
    const Instant now = clock.now();
    if (options.only.empty() && !m_listing && now >= m_nextList)
        startOver();
    if (m_listing && now >= m_nextPage)
        listPage();
    if (m_greeted)
        readDue();
    if (m_greeted && clock.now() >= m_lastCall + options.probeEvery)
        m_greeted = connect(); // nothing else was asked: proof of life
}

/// Connects or proves that the connection is alive; says what the server is.
bool Monitor::Core::connect()
{
    const Instant sent = clock.now();
    m_lastCall = sent;
    const Result<StoreFacts> facts = m_store->probe(sent + options.callTimeout);
    const Instant received = clock.now();
    if (!facts) {
        failed(facts.error());
        return false;
    }
    answered(sent, received);
    m_greeted = true;
    m_link.server = facts->server;
    m_link.epoch = facts->epoch;
    if (facts->serverTime)
        m_link.skew = *facts->serverTime - (clock.wall() - (received - sent) / 2);
    return true;
}

void Monitor::Core::answered(Instant sent, Instant received)
{
    m_sent = sent;
    m_received = received;
    if (!m_link.connected) {
        if (m_link.everConnected)
            m_fleet.noteBlindSpot(m_link.lastProof, received);
        startOver();
        m_link.connected = m_link.everConnected = true;
        m_link.since = received;
        m_link.error.reset();
        m_link.attempt = 0;
        m_link.nextTry.reset();
        m_urgent = true;
    }
    m_link.lastProof = received;
}

void Monitor::Core::failed(const Error& error)
{
    const Instant now = clock.now();
    if (m_link.connected || m_link.attempt == 0)
        m_link.since = now;
    m_greeted = false;
    m_listing = false;
    m_link.connected = false;
    m_link.error = error;
    ++m_link.attempt;
    const int doublings = std::min(m_link.attempt - 1, 5);
    Duration wait = needsAPerson(error.kind)
        ? kLongestBackoff
        : std::min(kFirstBackoff * (1 << doublings), kLongestBackoff);
    wait = std::chrono::duration_cast<Duration>(wait * (0.5 + m_random.uniform() / 2));
    if (error.retryAfter)
        wait = std::max<Duration>(wait, std::min<Duration>(*error.retryAfter, 1min));
    m_link.nextTry = now + wait;
    m_urgent = true;
}

void Monitor::Core::startOver()
{
    m_listing = options.only.empty();
    m_cursor.clear();
    m_pages = 0;
    m_listStarted = m_nextPage = clock.now();
    m_nextList = m_listStarted + options.rediscoverEvery;
    m_unverified.clear();
    if (!m_listing) {
        m_unverified.insert(options.only.begin(), options.only.end());
        for (const LeaseId& lease : options.only)
            m_schedule.hasten(lease, m_listStarted);
    }
}

void Monitor::Core::letTimePass()
{
    const Instant now = clock.now();
    if (m_link.pushOpen && now - m_streamAlive > kStreamSilent) {
        m_link.pushOpen = false;
        m_link.pushHow = "the push stream gives no sign of life; polling";
        m_urgent = true;
    }
    const bool fresh = isFresh(linkStateAt(m_link, now));
    // Only what an answered look could have seen is judged: no renewal is missed for want of
    // looking.
    const Instant proven = std::min(m_proofSent, m_schedule.earliest().value_or(m_proofSent));
    for (const Transition& transition :
        m_fleet.tick(proven, clock.wall(), fresh && m_link.connected))
        take(transition);
    if (now < m_nextRules)
        return;
    m_nextRules = now + kRulesEvery;
    for (Alert& alert : m_alerts.tick(m_fleet.all(), m_link, now)) {
        if (alert.rule == "churn" || alert.rule == "flapping")
            m_fleet.setChurning(alert.lease, m_alerts.isChurning(alert.lease));
        m_delta.alerts.push_back(std::move(alert));
    }
    forgetTheGone();
}

void Monitor::Core::publish()
{
    const Instant now = clock.now();
    if (now - m_published < kPublishEvery)
        return;
    const bool older
        = m_delta.link.lastProof != m_link.lastProof && now - m_published >= kCalmPublishEvery;
    if (!hasNews() && !older)
        return;
    for (const LeaseId& lease : m_fleet.takeTouched()) {
        if (const LeaseStatus* status = m_fleet.find(lease))
            m_delta.changed.push_back(*status);
    }
    m_link.pollEvery = longestPause(rules(), {});
    m_delta.link = m_link;
    if (!m_delta.alerts.empty())
        m_delta.shelves = m_alerts.shelves();
    FleetDelta next; // the counts and flags go on
    next.link = m_link;
    next.scanned = m_delta.scanned;
    next.complete = m_delta.complete;
    next.capped = m_delta.capped;
    next.refreshes = m_delta.refreshes;
    sink(std::exchange(m_delta, std::move(next)));
    m_urgent = m_looked = false;
    m_published = now;
}

bool Monitor::Core::hasNews() const
{
    return m_urgent || m_looked || m_delta.reset || !m_delta.removed.empty()
        || !m_delta.transitions.empty() || !m_delta.alerts.empty();
}

Instant Monitor::Core::nextWake() const
{
    const Instant now = clock.now();
    Instant next = std::min(now + kLongestWait, m_nextRules);
    if (hasNews())
        next = std::min(next, m_published + kPublishEvery);
    else if (m_delta.link.lastProof != m_link.lastProof)
        next = std::min(next, m_published + kCalmPublishEvery);
    if (!mayCall())
        return std::min(next, std::max(*m_link.nextTry, now));
    next = std::min(next, m_lastCall + options.probeEvery);
    if (m_listing)
        next = std::min(next, m_nextPage);
    else if (options.only.empty())
        next = std::min(next, m_nextList);
    if (const auto due = m_schedule.earliest())
        next = std::min(next, *due);
    return next;
}

void Monitor::Core::pause()
{
    const Instant before = clock.now();
    // A burst of pushes becomes one batch: a call follows the last one no sooner than this.
    const Instant gate = m_received + kBatchPause;
    const Instant until = std::max(nextWake(), gate);
    {
        std::unique_lock lock(mutex);
        if (gate > before)
            wake.wait_for(lock, gate - before, [this] { return inbox.stopping; });
        if (const Instant now = clock.now(); until > now)
            wake.wait_for(lock, until - now, [this] { return inbox.news; });
    }
    const Instant now = clock.now();
    if (now - std::max(until, before) < kSlept)
        return;
    m_fleet.noteBlindSpot(before, now);
    m_greeted = false;
    m_link.nextTry.reset();
    startOver();
}

} // namespace tenure
