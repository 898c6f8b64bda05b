// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/drill_runner.h"

#include "ui/bridge/retire.h"

#include <algorithm>
#include <thread>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kLookForLeader = 20ms;

/// The drill's own candidates, once one of them leads; whether one does is judged by the preflight.
Result<std::unique_ptr<LocalInstances>> ownCandidates(const DrillRunner::Request &request,
    const std::shared_ptr<const Backend> &backend, const std::optional<ProcessPlace> &processes,
    const std::atomic<bool> &cancel)
{
    auto all = std::make_unique<LocalInstances>(backend, SystemClock::instance(), processes);
    for (int i = 0; i < request.plan.own; ++i) {
        if (auto id = all->spawn(request.plan.lease, request.timing, {}, request.scope, request.as); !id)
            return fail(std::move(id.error()));
    }
    const Instant until = BootClock::now() + request.timing.ttl() + 3s;
    const auto leads = [](const InstanceView &view) { return view.report.believes; };
    while (request.plan.own > 0 && !cancel && BootClock::now() < until
        && std::ranges::none_of(all->views(), leads))
        std::this_thread::sleep_for(kLookForLeader);
    return all;
}

} // namespace

struct DrillRunner::Run {
    std::atomic<bool> cancel = false;
};

DrillRunner::DrillRunner(
    std::shared_ptr<const Backend> backend, std::shared_ptr<OperatorGate> gate,
    std::optional<ProcessPlace> processes, QObject *parent)
    : QObject(parent), m_backend(std::move(backend)), m_gate(std::move(gate)), m_processes(std::move(processes)), m_mailbox(this)
{
}

DrillRunner::~DrillRunner()
{
    abort();
}

void DrillRunner::check(const Request &request)
{
    const int number = ++m_lastCheck;
    retire([this, number, request, backend = m_backend, gate = m_gate, slot = m_mailbox.slot()] {
        Drill drill(backend, *gate, nullptr, SystemClock::instance(), request.plan);
        Mailbox::postTo(slot, [this, number, checks = drill.preflight()] {
            if (number == m_lastCheck)
                Q_EMIT checked(checks);
        });
    });
}

void DrillRunner::start(const Request &request)
{
    if (m_run)
        return;
    m_run = std::make_shared<Run>();
    Q_EMIT began();
    retire([this, request, run = m_run, backend = m_backend, gate = m_gate, processes = m_processes, slot = m_mailbox.slot()] {
        DrillReport report;
        report.plan = request.plan;
        report.backend = backend->traits().display;
        if (auto own = ownCandidates(request, backend, processes, run->cancel)) {
            LocalInstances *instances = request.plan.own > 0 ? own->get() : nullptr;
            Drill drill(backend, *gate, instances, SystemClock::instance(), request.plan);
            report = drill.run(
                [&](const DrillRound &round) {
                    Mailbox::postTo(slot, [this, round] { Q_EMIT roundDone(round); });
                },
                run->cancel);
        } else {
            report.error = std::move(own.error());
        }
        Mailbox::postTo(slot, [this, report] {
            m_run.reset();
            Q_EMIT finished(report);
        });
    });
}

void DrillRunner::abort()
{
    if (m_run)
        m_run->cancel = true;
}

} // namespace tenure::ui
