// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/runtime/demo_world.h"
#include "core/runtime/journal_tap.h"
#include "core/runtime/monitor.h"
#include "core/runtime/operator_gate.h"
#include "ui/bridge/mailbox.h"

#include <QObject>
#include <QString>

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace tenure::ui
{

enum class Environment { Production, Staging, Development, Sim };

/// Where a connection's password comes from; never from the profile itself.
enum class SecretFrom { Nowhere, Keyring, AskEachTime };

/// One saved connection. No secret in it: passwords come from the keychain or the environment.
struct ConnectionProfile {
    QString id; ///< stable, random
    QString name;
    QString url; ///< without password
    Environment environment = Environment::Development;
    QString glob = QStringLiteral("*");
    bool connectAtStart = false;
    bool startReadOnly = true;
    SecretFrom secretFrom = SecretFrom::Nowhere;
    bool operator==(const ConnectionProfile &) const = default;
};

/// What came of a retry of dead letters.
struct RetryReport {
    RetryPlan plan;
    RetryResult result;
};

/// The account this process runs under, not what the environment claims.
[[nodiscard]] QString operatorName();

/// One connection as the console sees it, in the GUI thread: the last known state of every lease,
/// transitions and alerts of this session, and the doors for refresh, focus and release. Nothing here
/// blocks; deltas come over the mailbox at most 20 times a second.
class Session final : public QObject
{
    Q_OBJECT
public:
    /// The demo: owns its world.
    Session(ConnectionProfile profile, std::unique_ptr<DemoWorld> world, QObject *parent);
    /// A real backend. `backend` may be a failed result: the session then stays Disconnected with that error.
    Session(ConnectionProfile profile, Result<std::shared_ptr<const Backend>> backend, QObject *parent);
    ~Session() override;

    [[nodiscard]] const ConnectionProfile &profile() const { return m_profile; }
    [[nodiscard]] bool isSimulated() const { return m_world != nullptr; }
    [[nodiscard]] const LinkStatus &link() const { return m_link; }
    [[nodiscard]] LinkState linkState() const; ///< by the clock, now
    [[nodiscard]] const std::map<LeaseId, LeaseStatus> &leases() const { return m_leases; }
    [[nodiscard]] const LeaseStatus *lease(const LeaseId &id) const;
    [[nodiscard]] const std::vector<Transition> &transitions() const { return m_transitions; } ///< newest last, last 10,000
    [[nodiscard]] const std::map<std::uint64_t, Alert> &alerts() const { return m_alerts; }
    [[nodiscard]] const std::vector<AuditEntry> &audit() const { return m_audit; }
    [[nodiscard]] const StoreTraits *traits() const; ///< nothing when the URL could not be used
    [[nodiscard]] const Backend *backend() const { return m_backend.get(); }
    /// Nothing for a connection without a backend.
    [[nodiscard]] OperatorGate *gate() const { return m_gate.get(); }
    /// For what outlives this session on a thread of its own.
    [[nodiscard]] std::shared_ptr<const Backend> sharedBackend() const { return m_backend; }
    [[nodiscard]] std::shared_ptr<OperatorGate> sharedGate() const { return m_gate; }
    /// A failover drill runs on this lease: its alerts are out of service. alertsChanged follows.
    void setDrilled(const LeaseId &lease, bool drilled);
    [[nodiscard]] bool isDrilled(const LeaseId &lease) const { return m_drilled.contains(lease); }
    [[nodiscard]] LocalInstances *instances(); ///< the world's, or this connection's own (made on first use)
    [[nodiscard]] bool discoveryComplete() const { return m_complete; }
    [[nodiscard]] bool capped() const { return m_capped; }

    /// Where its work queues would be; with the password, so for connecting and never for showing.
    /// Nothing: the demo, or a URL that could not be read. Set before open().
    void setStoreUri(StoreUri uri) { m_uri = std::move(uri); }
    [[nodiscard]] const std::optional<StoreUri> &storeUri() const { return m_uri; }

    /// What is observed and done here is kept in `journal` from now on, as connection
    /// `connectionId`. Before open(). What is kept is read with a JournalQuery on its path.
    void setJournal(std::shared_ptr<Journal> journal, const std::string &connectionId);
    [[nodiscard]] Journal *journal() const { return m_journal.get(); } ///< may be nothing
    [[nodiscard]] const std::string &journalId() const { return m_journalId; }

    /// Starts watching (again). Nothing without a backend.
    void open();
    /// Stops watching; what was known stays, as of now. Never waits: a hung monitor ends elsewhere.
    void close();
    [[nodiscard]] Instant openedAt() const { return m_openedAt; } ///< of the last open()
    [[nodiscard]] bool isOpen() const { return m_monitor != nullptr; }
    void refresh();
    void focus(const LeaseId &id);
    /// A frozen view takes in nothing until thawed; `heldBack` counts what waits.
    void setFrozen(bool frozen);
    [[nodiscard]] bool isFrozen() const { return m_frozen; }
    [[nodiscard]] std::uint64_t heldBack() const { return m_heldBack; }
    void acknowledge(std::uint64_t alert);
    /// Puts an alert aside for a while, eight hours at most; without a reason nothing happens.
    void shelve(std::uint64_t alert, Duration duration, const QString &reason);
    void unshelve(std::uint64_t shelf);
    [[nodiscard]] const std::vector<Shelf> &shelves() const { return m_shelves; } ///< that stand now
    /// The rules from now on, also of a monitor that is opened later.
    void setRules(RuleBook rules);
    /// Starts the release on a thread of its own; releaseProgress follows. One at a time: the watch
    /// of an earlier one ends.
    void release(const ReleasePlan &plan);
    /// Asks the backend, on a thread, whether it would accept `plan` now; dryRunDone follows.
    void dryRun(const ReleasePlan &plan);
    /// Looks up what belongs to a lease beside its record, on a thread, unless that was done a moment
    /// ago; asideChanged follows.
    void askAside(const LeaseId &id);
    [[nodiscard]] const LeaseAside *aside(const LeaseId &id) const; ///< nothing before it is known
    /// Puts dead letters back, on a thread, through the gate; retryDone follows.
    void retryDead(const RetryPlan &plan);
    /// Operator mode of this connection on (for that long) or off; operatorChanged follows.
    void allowWrites(Duration howLong);
    void readOnly();
    void cancelReleaseWatch();

Q_SIGNALS:
    void leasesChanged(const std::vector<tenure::LeaseId> &ids); ///< changed or new, one batch
    void leasesRemoved(const std::vector<tenure::LeaseId> &ids);
    void wasReset();
    void transitionsAdded(std::size_t howMany); ///< at the end of transitions()
    void alertsChanged();
    /// New or changed alerts as they happen, also while the view is frozen: for who is told of them.
    void alertsRaised(const std::vector<tenure::Alert> &alerts);
    void linkChanged();
    void releaseProgress(const tenure::ReleaseReport &report);
    void dryRunDone(const tenure::ReleaseReport &report);
    void asideChanged(const tenure::LeaseId &id);
    void retryDone(const tenure::ui::RetryReport &report);
    void operatorChanged();
    void audited();

private:
    struct HeldBack;
    struct Asked { ///< for what belongs to a lease
        std::optional<LeaseAside> answer; ///< the last one
        Instant next; ///< not asked again before
    };
    void startMonitor();
    void take(FleetDelta delta);
    void apply(FleetDelta &&delta);
    void takeLeases(FleetDelta &delta);
    OperatorGate::Audit auditSink();
    void noteDeed(const LeaseId &lease, const std::string &verb, const std::string &reason);
    [[nodiscard]] LeaseId leaseOf(std::uint64_t alert) const;

    ConnectionProfile m_profile;
    std::unique_ptr<DemoWorld> m_world;
    std::shared_ptr<const Backend> m_backend;
    std::optional<StoreUri> m_uri;
    std::shared_ptr<OperatorGate> m_gate; ///< shared with a release that is still under way
    std::unique_ptr<LocalInstances> m_instances;
    std::unique_ptr<Monitor> m_monitor;
    std::shared_ptr<Journal> m_journal; ///< shared with monitors and releases that are still ending
    std::string m_journalId;
    Mailbox m_mailbox;
    LinkStatus m_link;
    Instant m_openedAt;
    std::map<LeaseId, LeaseStatus> m_leases;
    std::vector<Transition> m_transitions;
    std::map<std::uint64_t, Alert> m_alerts;
    std::vector<Shelf> m_shelves;
    std::set<LeaseId> m_drilled; ///< a drill runs on them
    RuleBook m_rules;
    std::vector<AuditEntry> m_audit;
    std::map<LeaseId, Asked> m_asides;
    std::unique_ptr<HeldBack> m_waiting; ///< while frozen
    std::uint64_t m_heldBack = 0;
    bool m_frozen = false;
    bool m_complete = false;
    bool m_capped = false;
    struct ReleaseRun;
    std::shared_ptr<ReleaseRun> m_release;
};

} // namespace tenure::ui
