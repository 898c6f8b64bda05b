// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/session.h"

#include "core/work/open_work_queue.h"
#include "ui/bridge/retire.h"

#include <algorithm>
#include <set>
#include <thread>

#include <pwd.h>
#include <unistd.h>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kTransitionsKept = 10000;

const Clock &clock()
{
    return SystemClock::instance();
}

} // namespace

/// One release under way. `cancel` ends its watching.
struct Session::ReleaseRun {
    std::atomic<bool> cancel = false;
};

/// What came in while the view was frozen, folded together so that it stays as small as the fleet.
struct Session::HeldBack {
    bool reset = false;
    std::map<LeaseId, LeaseStatus> changed;
    std::set<LeaseId> removed;
    std::vector<Transition> transitions;
    std::map<std::uint64_t, Alert> alerts;
    std::vector<Shelf> shelves;
    FleetDelta last; ///< its values only

    void add(FleetDelta &&delta)
    {
        if (delta.reset) {
            *this = HeldBack();
            reset = true;
        }
        for (LeaseStatus &status : delta.changed) {
            removed.erase(status.record.lease);
            changed.insert_or_assign(status.record.lease, std::move(status));
        }
        for (const LeaseId &gone : delta.removed) {
            changed.erase(gone);
            removed.insert(gone);
        }
        transitions.insert(transitions.end(), delta.transitions.begin(), delta.transitions.end());
        if (transitions.size() > 2 * kTransitionsKept)
            transitions.erase(transitions.begin(), transitions.end() - kTransitionsKept);
        if (!delta.alerts.empty())
            shelves = delta.shelves;
        for (Alert &alert : delta.alerts)
            alerts.insert_or_assign(alert.id, std::move(alert));
        delta.changed.clear();
        delta.transitions.clear();
        delta.alerts.clear();
        last = std::move(delta);
    }

    FleetDelta fold()
    {
        FleetDelta out = std::move(last);
        out.reset = reset;
        out.removed.assign(removed.begin(), removed.end());
        for (auto &[id, status] : changed)
            out.changed.push_back(std::move(status));
        out.transitions = std::move(transitions);
        for (auto &[id, alert] : alerts)
            out.alerts.push_back(std::move(alert));
        out.shelves = std::move(shelves);
        return out;
    }
};

Session::Session(ConnectionProfile profile, std::unique_ptr<DemoWorld> world, QObject *parent)
    : QObject(parent), m_profile(std::move(profile)), m_world(std::move(world)),
      m_backend(m_world->backend()), m_mailbox(this)
{
    m_link.simulated = true;
    m_link.since = clock().now();
    m_gate = std::make_shared<OperatorGate>(m_backend, clock(), auditSink());
}

Session::Session(
    ConnectionProfile profile, Result<std::shared_ptr<const Backend>> backend, QObject *parent)
    : QObject(parent), m_profile(std::move(profile)), m_mailbox(this)
{
    m_link.since = clock().now();
    if (!backend) {
        m_link.error = backend.error();
        m_link.everConnected = true; // DISCONNECTED, not CONNECTING: nobody is trying
        return;
    }
    m_backend = *backend;
    m_gate = std::make_shared<OperatorGate>(m_backend, clock(), auditSink());
}

Session::~Session()
{
    m_mailbox.close();
    cancelReleaseWatch();
    close();
    // Their destructors wait for threads of theirs; the world goes last, its instances use it.
    if (m_instances || m_world) {
        retire([instances = std::shared_ptr<LocalInstances>(std::move(m_instances)),
                   world = std::shared_ptr<DemoWorld>(std::move(m_world))]() mutable {
            instances.reset();
            world.reset();
        });
    }
}

OperatorGate::Audit Session::auditSink()
{
    return [this, slot = m_mailbox.slot()](const AuditEntry &entry) {
        // `this` is only used in the GUI thread, where the closed mailbox guards it.
        Mailbox::postTo(slot, [this, entry] {
            m_audit.push_back(entry);
            Q_EMIT audited();
        });
    };
}

LinkState Session::linkState() const
{
    return linkStateAt(m_link, clock().now());
}

const LeaseStatus *Session::lease(const LeaseId &id) const
{
    const auto found = m_leases.find(id);
    return found == m_leases.end() ? nullptr : &found->second;
}

const StoreTraits *Session::traits() const
{
    return m_backend ? &m_backend->traits() : nullptr;
}

LocalInstances *Session::instances()
{
    if (m_world)
        return &m_world->instances();
    if (!m_instances && m_backend)
        m_instances = std::make_unique<LocalInstances>(m_backend, clock(), processPlaceOf(m_uri));
    return m_instances.get();
}

void Session::setJournal(std::shared_ptr<Journal> journal, const std::string &connectionId)
{
    m_journal = std::move(journal);
    m_journalId = connectionId;
    if (m_backend && m_journal)
        m_gate = std::make_shared<OperatorGate>(
            m_backend, clock(), journaledAudit(m_journal, m_journalId, auditSink()));
}

void Session::open()
{
    if (m_monitor || !m_backend)
        return;
    m_openedAt = clock().now();
    startMonitor();
    Q_EMIT linkChanged();
}

void Session::startMonitor()
{
    Monitor::Options options;
    options.glob = m_profile.glob.toStdString();
    options.simulated = isSimulated();
    options.rules = m_rules;
    std::shared_ptr<JournalTap> tap;
    if (m_journal) {
        const std::string name = m_profile.name.toStdString() + (isSimulated() ? " (SIM)" : "");
        const JournalConnection known{m_journalId, name, m_backend->traits().display};
        tap = std::make_shared<JournalTap>(m_journal, known);
    }
    auto sink = [this, tap, slot = m_mailbox.slot()](FleetDelta delta) {
        if (tap)
            tap->take(delta); // here, so that a frozen view or a busy window loses nothing
        if (!delta.alerts.empty()) {
            Mailbox::postTo(slot, [this, alerts = delta.alerts]() mutable {
                std::erase_if(alerts, [this](const Alert &alert) { return isDrilled(alert.lease); });
                if (m_monitor && !alerts.empty())
                    Q_EMIT alertsRaised(alerts);
            });
        }
        auto shared = std::make_shared<FleetDelta>(std::move(delta));
        Mailbox::postTo(slot, [this, shared] { take(std::move(*shared)); });
    };
    m_monitor = std::make_unique<Monitor>(m_backend, std::move(options), clock(), std::move(sink));
    m_monitor->start();
}

void Session::close()
{
    if (!m_monitor)
        return;
    // Deltas of the old monitor that are still in the mailbox find m_monitor gone and are dropped.
    retire([monitor = std::shared_ptr<Monitor>(std::move(m_monitor))]() mutable { monitor.reset(); });
    m_link.connected = false;
    m_link.pushOpen = false;
    m_link.nextTry.reset();
    m_link.since = clock().now();
    m_link.everConnected = true;
    Q_EMIT linkChanged();
}

void Session::refresh()
{
    if (m_monitor)
        m_monitor->refresh();
}

void Session::focus(const LeaseId &id)
{
    if (m_monitor)
        m_monitor->focus(id);
}

void Session::take(FleetDelta delta)
{
    if (!m_monitor)
        return;
    if (!m_frozen) {
        apply(std::move(delta));
        return;
    }
    m_heldBack += delta.changed.size() + delta.removed.size();
    m_waiting->add(std::move(delta));
    Q_EMIT linkChanged();
}

void Session::takeLeases(FleetDelta &delta)
{
    std::vector<LeaseId> ids;
    ids.reserve(delta.changed.size());
    for (LeaseStatus &status : delta.changed) {
        ids.push_back(status.record.lease);
        m_leases.insert_or_assign(ids.back(), std::move(status));
    }
    std::erase_if(delta.removed, [this](const LeaseId &id) { return m_leases.erase(id) == 0; });
    if (!ids.empty())
        Q_EMIT leasesChanged(ids);
    if (!delta.removed.empty())
        Q_EMIT leasesRemoved(delta.removed);
}

void Session::apply(FleetDelta &&delta)
{
    m_link = delta.link;
    m_complete = delta.complete;
    m_capped = delta.capped;
    if (delta.reset) {
        m_leases.clear();
        m_alerts.clear();
        Q_EMIT wasReset();
    }
    takeLeases(delta);
    if (!delta.transitions.empty()) {
        const std::size_t added = std::min(delta.transitions.size(), kTransitionsKept);
        const std::size_t total = m_transitions.size() + delta.transitions.size();
        m_transitions.insert(
            m_transitions.end(), delta.transitions.begin(), delta.transitions.end());
        if (total > kTransitionsKept) {
            m_transitions.erase(m_transitions.begin(),
                m_transitions.begin() + static_cast<std::ptrdiff_t>(total - kTransitionsKept));
        }
        Q_EMIT transitionsAdded(added);
    }
    for (const Alert &alert : delta.alerts)
        m_alerts.insert_or_assign(alert.id, alert);
    if (!delta.alerts.empty()) {
        m_shelves = std::move(delta.shelves);
        Q_EMIT alertsChanged();
    }
    Q_EMIT linkChanged();
}

void Session::setFrozen(bool frozen)
{
    if (frozen == m_frozen)
        return;
    m_frozen = frozen;
    m_heldBack = 0;
    m_link.paused = frozen;
    if (frozen) {
        m_waiting = std::make_unique<HeldBack>();
        m_waiting->last.link = m_link;
        m_waiting->last.complete = m_complete;
        m_waiting->last.capped = m_capped;
    } else {
        FleetDelta delta = m_waiting->fold();
        m_waiting.reset();
        delta.link.paused = false;
        if (m_monitor)
            apply(std::move(delta));
    }
    Q_EMIT linkChanged();
}

void Session::acknowledge(std::uint64_t alert)
{
    if (!m_monitor)
        return;
    m_monitor->acknowledge(alert, operatorName().toStdString());
    noteDeed(leaseOf(alert), "acknowledge", {});
}

void Session::shelve(std::uint64_t alert, Duration duration, const QString &reason)
{
    if (!m_monitor || reason.trimmed().isEmpty())
        return;
    m_monitor->shelve(alert, duration, operatorName().toStdString(), reason.trimmed().toStdString());
    noteDeed(leaseOf(alert), "shelve", reason.trimmed().toStdString());
}

void Session::unshelve(std::uint64_t shelf)
{
    if (!m_monitor)
        return;
    m_monitor->unshelve(shelf);
    noteDeed({}, "unshelve", {});
}

void Session::setRules(RuleBook rules)
{
    m_rules = std::move(rules);
    if (m_monitor)
        m_monitor->setRules(m_rules);
}

LeaseId Session::leaseOf(std::uint64_t alert) const
{
    const auto found = m_alerts.find(alert);
    return found == m_alerts.end() ? LeaseId() : found->second.lease;
}

/// What an operator did that no release tells of, into the chain of the journal; on a thread, because
/// it waits for the disk.
void Session::noteDeed(const LeaseId &lease, const std::string &verb, const std::string &reason)
{
    if (!m_journal)
        return;
    retire([journal = m_journal, key = LeaseKey{m_journalId, lease}, by = operatorName().toStdString(), verb, reason] {
        journalDeed(*journal, key, by, verb, reason);
    });
}

QString operatorName()
{
    const passwd *account = getpwuid(getuid());
    return account != nullptr ? QString::fromLocal8Bit(account->pw_name) : QStringLiteral("uid %1").arg(getuid());
}

void Session::release(const ReleasePlan &plan)
{
    cancelReleaseWatch();
    if (!m_gate)
        return;
    auto run = std::make_shared<ReleaseRun>();
    m_release = run;
    // The run is compared when a report arrives: one of an earlier release is not this one's.
    retire([this, run, gate = m_gate, plan, slot = m_mailbox.slot()] {
        const auto tell = [&](const ReleaseReport &report) {
            Mailbox::postTo(slot, [this, run, report] {
                if (m_release == run)
                    Q_EMIT releaseProgress(report);
            });
        };
        static_cast<void>(gate->release(plan, tell, &run->cancel));
    });
}

void Session::dryRun(const ReleasePlan &plan)
{
    if (!m_gate)
        return;
    retire([this, gate = m_gate, plan, slot = m_mailbox.slot()] {
        const ReleaseReport report = gate->dryRun(plan);
        Mailbox::postTo(slot, [this, report] { Q_EMIT dryRunDone(report); });
    });
}

void Session::retryDead(const RetryPlan &plan)
{
    if (!m_gate || !m_uri)
        return;
    retire([this, gate = m_gate, uri = *m_uri, plan, slot = m_mailbox.slot()] {
        auto queue = openWorkQueue(uri, plan.queue);
        const RetryReport report{plan, queue ? gate->retryDead(**queue, plan) : RetryResult(fail(queue.error()))};
        Mailbox::postTo(slot, [this, report] { Q_EMIT retryDone(report); });
    });
}

void Session::cancelReleaseWatch()
{
    if (m_release)
        m_release->cancel = true;
    m_release.reset();
}

void Session::setDrilled(const LeaseId &lease, bool drilled)
{
    if (drilled)
        m_drilled.insert(lease);
    else
        m_drilled.erase(lease);
    noteDeed(lease, drilled ? "drill-begun" : "drill-ended", {});
    Q_EMIT alertsChanged();
}

void Session::allowWrites(Duration howLong)
{
    if (m_gate) {
        m_gate->allowWrites(howLong);
        noteDeed({}, "operator-on", {});
    }
    Q_EMIT operatorChanged();
}

void Session::readOnly()
{
    if (m_gate) {
        const bool was = m_gate->operatorTimeLeft().has_value();
        m_gate->readOnly();
        if (was)
            noteDeed({}, "operator-off", {});
    }
    Q_EMIT operatorChanged();
}

} // namespace tenure::ui
