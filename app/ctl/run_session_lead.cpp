// SPDX-License-Identifier: GPL-3.0-or-later
// The part of RunSession that follows the elector: when COMMAND may begin and how long it may go on.
#include "app/ctl/run_session.h"

#include "app/ctl/exit_code.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

/// How long --if-leader tries to reach a store that does not answer.
constexpr Duration kPatience = 5s;
constexpr Duration kMarkRetry = 200ms;
/// How long the guardian may take to carry out a kill.
constexpr Duration kKillGrace = 1s;

bool mayPass(const Error &error)
{
    return error.kind == ErrorKind::Unavailable || error.kind == ErrorKind::OutcomeUnknown;
}

} // namespace

GuardLimits RunSession::limitsFor(Instant validUntil) const
{
    const Duration window = m_plan->timing.stopWindow();
    return {validUntil - window, validUntil - window / 2};
}

void RunSession::watchLeadership(Elector &elector)
{
    const ElectorReport report = elector.report();
    bool running = false;
    bool leads = false;
    {
        const std::lock_guard lock(m_mutex);
        running = m_running;
        leads = m_gained.has_value();
    }
    const Instant now = BootClock::now();
    if (running) {
        if (report.validUntil > m_toldUntil && report.term.token == m_token) {
            m_toldUntil = report.validUntil;
            m_guardian.extend(limitsFor(m_toldUntil));
        }
        if (now >= m_toldUntil - m_plan->timing.stopWindow() / 4) {
            m_guardian.killFromOutside(); // it did not act in time: somebody stopped it
            gone({GuardNews::Kind::Gone, GuardNews::Cause::Deadline, SIGKILL, 0});
        } else {
            killInTime(now);
        }
    } else if (leads) {
        if (!m_markAgainAt || now >= *m_markAgainAt)
            begin(elector);
    } else if (m_plan->ifLeader) {
        lookWhoLeads(report);
    }
    tellManager(report);
}

/// COMMAND was asked to end. Once its time is over it is killed: the elector gives the lease away not
/// much later, whatever still runs.
void RunSession::killInTime(Instant now)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_lost && !m_killAt)
            m_killAt = now + (m_lost == LossReason::SteppedDown ? m_plan->killAfter : Duration());
    }
    if (!m_killAt || now < *m_killAt)
        return;
    if (m_killOrdered) { // and nothing happened: somebody stopped the guardian
        m_guardian.killFromOutside();
        gone({GuardNews::Kind::Gone, GuardNews::Cause::Ordered, SIGKILL, 0});
        return;
    }
    m_guardian.kill();
    m_killOrdered = true;
    m_killAt = now + kKillGrace;
}

void RunSession::begin(Elector &elector)
{
    if (m_mark && !markPeriod())
        return;
    const ElectorReport report = elector.report();
    const bool foreground = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        && tcgetpgrp(STDIN_FILENO) == getpgrp();
    {
        const std::lock_guard lock(m_mutex);
        if (m_gained && *m_gained == report.term && report.believes) {
            m_running = true;
            m_token = report.term.token;
            m_toldUntil = report.validUntil;
            m_terminalTaken = foreground && tcgetattr(STDIN_FILENO, &m_modes) == 0;
            m_guardian.begin(m_token, limitsFor(m_toldUntil),
                m_terminalTaken ? Terminal::Take : Terminal::Leave);
            return;
        }
    }
    if (m_mark)
        (void)m_mark->forget(); // lost before anything was begun
}

/// True when this period's run is ours to begin.
bool RunSession::markPeriod()
{
    m_markAgainAt.reset();
    const auto standing = m_mark->take();
    if (!standing && mayPass(standing.error())) {
        whisper("the period's mark cannot be made now: " + standing.error().text());
        m_markAgainAt = BootClock::now() + kMarkRetry;
    } else if (!standing) {
        m_result = static_cast<int>(complain(standing.error()));
    } else if (*standing && (*standing)->remaining <= m_mark->slack()) {
        m_markAgainAt = BootClock::now() + (*standing)->remaining;
    } else if (*standing) {
        whisper("this period's run was begun by " + printable((*standing)->holder, 255));
        m_result = static_cast<int>(Exit::Done);
    }
    return standing && !*standing;
}

void RunSession::lookWhoLeads(const ElectorReport &report)
{
    const bool answered = report.phase == Phase::Waiting || report.phase == Phase::Failed;
    if (!answered)
        return;
    if (report.error) {
        if (!mayPass(*report.error) || BootClock::now() - m_plan->asked > kPatience)
            m_result = static_cast<int>(complain(*report.error));
        return;
    }
    whisper(report.seen && report.seen->holder ? "led by " + printable(*report.seen->holder, 255)
                                               : "not given to anybody at present");
    m_result = static_cast<int>(Exit::NobodyLeads);
}

void RunSession::tellManager(const ElectorReport &report)
{
    const std::string lease = printable(m_plan->lease.name());
    std::string status = "waiting for " + lease;
    if (report.phase == Phase::Leading)
        status = "leading " + lease + ", token " + std::to_string(report.term.token.value);
    else if (report.error)
        status += ": " + printable(report.error->what);
    else if (report.seen && report.seen->holder)
        status += ", held by " + printable(*report.seen->holder, 255);
    if (status != m_status)
        m_manager.tell("STATUS=" + status);
    m_status = status;
    const std::string trouble = report.error ? report.error->text() : std::string();
    if (!m_result && !trouble.empty() && trouble != m_trouble)
        say(trouble);
    m_trouble = trouble;
    // An engine that leads and did not notice that its word ended is not sound.
    const bool sound = report.phase != Phase::Leading || report.believes;
    if (m_manager.watchdogEvery() && sound && BootClock::now() >= m_watchdogAt) {
        m_manager.tell("WATCHDOG=1");
        m_watchdogAt = BootClock::now() + *m_manager.watchdogEvery();
    }
}

/// Nothing else runs any more: neither COMMAND nor the elector.
void RunSession::runOnLost() const
{
    setenv("TENURE_LEASE", m_plan->lease.name().c_str(), 1);
    setenv("TENURE_HOLDER", m_plan->self.name().c_str(), 1);
    setenv("TENURE_TOKEN", std::to_string(m_token.value).c_str(), 1);
    std::string shell = "/bin/sh";
    std::string option = "-c";
    std::string script = m_plan->onLost;
    char *words[] = {shell.data(), option.data(), script.data(), nullptr};
    sigset_t none;
    sigset_t usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, shell.c_str(), nullptr, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return say("The --on-lost command cannot be run");
    const Instant until = BootClock::now() + m_plan->killAfter;
    while (waitpid(pid, nullptr, WNOHANG) == 0) {
        if (BootClock::now() >= until) {
            say("The --on-lost command took too long and was ended");
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
            return;
        }
        std::this_thread::sleep_for(5ms);
    }
}

} // namespace tenure::ctl
