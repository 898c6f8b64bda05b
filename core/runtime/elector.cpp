// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/elector_core.h"

#include <exception>

namespace tenure
{
namespace
{

Event eventOf(Event::Kind kind)
{
    Event event;
    event.kind = kind;
    return event;
}

} // namespace

// ---- The elector's own half ---------------------------------------------------------------------

Elector::Core::Core(ElectorHost::Core &hostUsed, Candidacy candidacy, ElectorCallbacks callbacksUsed)
    : host(hostUsed)
    , who(std::move(candidacy))
    , callbacks(std::move(callbacksUsed))
    , id(++hostUsed.lastId)
{
    timer.fire = [this] { handle(eventOf(Event::Kind::Timer)); };
    m_report.term.holder = who.holder;
}

void Elector::Core::ask(Event event)
{
    host.timers.post([self = shared_from_this(), event] { self->handle(event); });
}

void Elector::Core::start()
{
    std::uint64_t run = 0;
    {
        const std::lock_guard lock(m_mutex);
        m_running = true;
        if (m_openRun == 0)
            m_openRun = ++m_lastRun;
        run = m_openRun;
    }
    host.timers.post([self = shared_from_this(), run] {
        self->m_run = run;
        self->handle(eventOf(Event::Kind::Start));
    });
}

void Elector::Core::requestStop()
{
    ask(eventOf(Event::Kind::StopAsked));
}

bool Elector::Core::stop(Duration deadline)
{
    if (host.dispatcher.runsHere(*strand)) {
        requestStop();
        return true;
    }
    const auto until = std::chrono::steady_clock::now() + deadline;
    bool done = true;
    {
        std::unique_lock lock(m_mutex);
        if (m_running) {
            const std::uint64_t before = m_stops;
            requestStop();
            done = m_stopped.wait_until(lock, until, [&] { return m_stops != before; });
            m_running = false;
        }
    }
    if (done)
        host.dispatcher.waitIdle(*strand, until); // the last onChange
    else
        host.timers.post([self = shared_from_this()] { self->abandon(); });
    mute();
    return done;
}

void Elector::Core::close()
{
    mute();
    host.timers.post([self = shared_from_this()] { self->host.remove(self->id); });
    host.dispatcher.waitIdle(*strand);
}

/// From here on nothing of the present run is delivered.
void Elector::Core::mute()
{
    {
        const std::lock_guard lock(m_mutex);
        m_openRun = 0;
    }
    host.dispatcher.clear(*strand);
}

bool Elector::Core::isLeader() const
{
    const Instant::rep until = validUntil.load(std::memory_order_acquire);
    return host.clock.now().time_since_epoch().count() < until;
}

ElectorReport Elector::Core::copyReport() const
{
    ElectorReport report;
    {
        const std::lock_guard lock(m_mutex);
        report = m_report;
        if (!report.error)
            report.error = m_handlerError;
    }
    report.at = host.clock.now();
    report.validUntil = Instant(Duration(validUntil.load(std::memory_order_acquire)));
    report.believes = report.at < report.validUntil;
    return report;
}

// ---- On the timer thread ------------------------------------------------------------------------

void Elector::Core::handle(Event event)
{
    event.now = host.clock.now();
    event.draw = host.random.uniform();
    event.fresh = fresh;
    const Actions actions = decide(who.rules, state, event);
    if (state.nonce == fresh)
        fresh = Nonce::random();
    publish();
    for (const Action &action : actions)
        perform(action);
    if (state.wakeAt == Instant::max())
        host.timers.disarm(timer);
    else
        host.timers.arm(timer, state.wakeAt);
    refreshReport();
}

void Elector::Core::take(IoThread::Answer &answer)
{
    if (answer.request == state.request)
        noteAnswer(answer);
    Event event = eventFor(answer.verb, who, answer.reply);
    event.request = answer.request;
    event.sentAt = answer.sentAt;
    if (answer.reply)
        event.settingUp = answer.reply->settingUp;
    handle(event);
}

void Elector::Core::noteAnswer(const IoThread::Answer &answer)
{
    if (!answer.reply) {
        m_callError = answer.reply.error();
        return;
    }
    m_callError.reset();
    // A peek may say "somebody" without saying who: then it is still the one that was seen before.
    const bool somebody = answer.verb == Verb::Peek && answer.reply->record.holder == std::string();
    if (somebody && m_seen)
        return;
    const bool looked = answer.verb == Verb::Peek || answer.reply->outcome != Outcome::Done;
    if (looked && (answer.reply->record.holder || answer.reply->record.hold))
        m_seen = answer.reply->record;
    else
        m_seen.reset();
}

/// stop() gave up waiting: the term is left to run out, and a later start() begins afresh.
void Elector::Core::abandon()
{
    if (state.phase == Phase::Stopped || !state.stopping)
        return; // it came to its end all the same, or was started again
    const RequestId last = state.lastRequest;
    const bool push = state.pushAlive;
    state = ElectionState();
    state.phase = Phase::Stopped;
    state.lastRequest = last; // so that late answers stay foreign
    state.pushAlive = push;
    host.timers.disarm(timer);
    publish();
    refreshReport();
}

void Elector::Core::publish()
{
    const Instant::rep until = state.validUntil.time_since_epoch().count();
    if (state.token.value != token.load(std::memory_order_relaxed)) {
        validUntil.store(0, std::memory_order_release);
        token.store(state.token.value, std::memory_order_release);
    }
    validUntil.store(until, std::memory_order_release);
}

void Elector::Core::perform(const Action &action)
{
    switch (action.kind) {
    case Action::Kind::Send:
        return host.send({id, action.verb, action.request, host.clock.now() + action.timeout,
            commandFor(action.verb, who, state, action.awaitEnd)});
    case Action::Kind::AnnounceGained:
        return tellGained();
    case Action::Kind::AnnounceLost:
        return tellLost(action.reason);
    case Action::Kind::AnnounceStopped: {
        const std::lock_guard lock(m_mutex);
        m_report.phase = state.phase; // whoever waits for the end may look at once
        ++m_stops;
        m_running = false;
        m_stopped.notify_all();
        return;
    }
    }
}

void Elector::Core::tellGained()
{
    m_term = {who.holder, state.nonce, state.token};
    {
        const std::lock_guard lock(m_mutex);
        ++m_report.gained;
        m_report.term = m_term;
        m_handlerError.reset();
    }
    if (callbacks.onGained) {
        host.dispatch(strand, [self = shared_from_this(), run = m_run, term = m_term] {
            self->deliver(run, "onGained", [&] { self->callbacks.onGained(term); });
        });
    }
}

void Elector::Core::tellLost(LossReason reason)
{
    {
        const std::lock_guard lock(m_mutex);
        ++m_report.lost;
    }
    if (!callbacks.onGained && !callbacks.onLost)
        return ask(eventOf(Event::Kind::HandlersDone)); // nobody to wait for, no thread needed
    host.dispatch(strand, [self = shared_from_this(), run = m_run, term = m_term, reason] {
        if (self->callbacks.onLost)
            self->deliver(run, "onLost", [&] { self->callbacks.onLost(term, reason); });
        self->host.timers.post([self, run] {
            if (run == self->m_run) // else: of a run that stop() gave up on
                self->handle(eventOf(Event::Kind::HandlersDone));
        });
    });
}

void Elector::Core::deliver(
    std::uint64_t run, const char *handler, const std::function<void()> &call)
{
    {
        const std::lock_guard lock(m_mutex);
        if (run != m_openRun)
            return;
    }
    std::string what;
    try {
        call();
        return;
    } catch (const std::exception &exception) {
        what = exception.what();
    } catch (...) {
        what = "not a std::exception";
    }
    const std::lock_guard lock(m_mutex);
    Error error;
    error.kind = ErrorKind::BadConfig;
    error.what = std::string("The ") + handler + " handler threw: " + what;
    error.where = who.lease.name();
    error.remedy = "Catch it in the handler: the election goes on without knowing what failed";
    m_handlerError = std::move(error);
}

void Elector::Core::refreshReport()
{
    bool changed = false;
    {
        const std::lock_guard lock(m_mutex);
        const auto set = [&changed](auto &field, const auto &value) {
            if (field != value) {
                field = value;
                changed = true;
            }
        };
        set(m_report.phase, state.phase);
        set(m_report.degraded, state.degraded);
        set(m_report.validUntil, state.validUntil);
        set(m_report.seen, m_seen);
        const bool sameError = m_report.error.has_value() == m_callError.has_value()
            && (!m_callError || m_report.error->what == m_callError->what);
        if (!sameError) {
            m_report.error = m_callError;
            changed = true;
        }
        if (!changed || !callbacks.onChange || m_changePosted)
            return;
        m_changePosted = true;
    }
    tellChanged();
}

void Elector::Core::tellChanged()
{
    host.dispatch(strand, [self = shared_from_this(), run = m_run] {
        {
            const std::lock_guard lock(self->m_mutex);
            self->m_changePosted = false;
        }
        self->deliver(run, "onChange", [&] { self->callbacks.onChange(self->copyReport()); });
    });
}

// ---- The face -----------------------------------------------------------------------------------

Elector::Elector(ElectorHost &host, LeaseId lease, HolderId holder, Timing timing,
    ElectorCallbacks callbacks, Duration drainLimit)
    : m_core(std::make_shared<Core>(host.core(),
          Candidacy{
              std::move(lease), std::move(holder), {timing, drainLimit, host.core().awaitsEnd}},
          std::move(callbacks)))
{
    host.core().timers.post([core = m_core] { core->host.add(core); });
}

Elector::~Elector()
{
    m_core->close();
}

void Elector::start()
{
    m_core->start();
}

bool Elector::isLeader() const
{
    return m_core->isLeader();
}

FencingToken Elector::token() const
{
    return {m_core->token.load(std::memory_order_acquire)};
}

ElectorReport Elector::report() const
{
    return m_core->copyReport();
}

void Elector::release()
{
    Event event = eventOf(Event::Kind::ReleaseAsked);
    event.duration = m_core->who.rules.timing.renewEvery();
    m_core->ask(event);
}

void Elector::requestStop()
{
    m_core->requestStop();
}

bool Elector::stop(Duration deadline)
{
    return m_core->stop(deadline);
}

} // namespace tenure
