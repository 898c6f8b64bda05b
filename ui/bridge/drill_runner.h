// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/drill/drill.h"
#include "ui/bridge/mailbox.h"

#include <QObject>
#include <QString>

#include <memory>

namespace tenure::ui
{

/// Carries out failover drills of one connection, each on a thread of its own that owns all it needs:
/// closing the page or the connection aborts the drill, and the lease is cleaned up behind it. GUI
/// thread; nothing blocks.
class DrillRunner final : public QObject
{
    Q_OBJECT
public:
    struct Request {
        DrillPlan plan;
        Timing timing; ///< of candidates of its own, plan.own of them
        LocalInstances::Scope scope = LocalInstances::Scope::DrillOnly;
        LocalInstances::As as = LocalInstances::As::Threads;
    };

    /// `processes`: how candidates of its own are started as processes; without it they cannot be.
    DrillRunner(std::shared_ptr<const Backend> backend, std::shared_ptr<OperatorGate> gate,
        std::optional<ProcessPlace> processes, QObject *parent = nullptr);
    ~DrillRunner() override;

    /// Looks at everything, does nothing; checked() follows.
    void check(const Request &request);
    /// One at a time: nothing happens while one runs.
    void start(const Request &request);
    /// Ends after the lease is clean; finished() follows.
    void abort();
    [[nodiscard]] bool isRunning() const { return m_run != nullptr; }

Q_SIGNALS:
    void checked(const std::vector<tenure::DrillCheck> &checks);
    void began();
    void roundDone(const tenure::DrillRound &round);
    void finished(const tenure::DrillReport &report);

private:
    struct Run;
    const std::shared_ptr<const Backend> m_backend;
    const std::shared_ptr<OperatorGate> m_gate;
    const std::optional<ProcessPlace> m_processes;
    Mailbox m_mailbox;
    std::shared_ptr<Run> m_run;
    int m_lastCheck = 0; ///< answers to earlier questions are dropped
};

} // namespace tenure::ui
