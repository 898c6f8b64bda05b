// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/faulty.h"
#include "core/runtime/elector.h"

#include <memory>
#include <string>

#include <sys/types.h>

namespace tenure
{

/// One life of a local instance, whatever it is made of. LocalInstances owns it and keeps its rules;
/// no call waits, except the destructor (abandons; at most a call's timeout). Any thread.
class InstanceEngine
{
public:
    InstanceEngine() = default;
    InstanceEngine(const InstanceEngine &) = delete;
    InstanceEngine &operator=(const InstanceEngine &) = delete;
    virtual ~InstanceEngine() = default;

    virtual void freeze() = 0;
    virtual void thaw() = 0;
    virtual void setCutOff(bool cut) = 0;
    [[nodiscard]] virtual bool isCutOff() const = 0;
    /// Why it cannot be cut off; empty when it can.
    [[nodiscard]] virtual std::string whyNotCut() const { return {}; }
    virtual void kill() = 0; ///< as SIGKILL: nothing is given back
    virtual void handOver() = 0;
    virtual void requestStop() = 0; ///< stopped() tells when it is over
    [[nodiscard]] virtual bool stopped() const = 0; ///< or ended by itself
    [[nodiscard]] virtual ElectorReport report() const = 0;
    [[nodiscard]] virtual std::string holder() const = 0; ///< empty until it is known
    [[nodiscard]] virtual pid_t pid() const { return 0; } ///< of a process of its own
};

/// Threads of this process, with a connection and faults of their own.
class ThreadEngine final : public InstanceEngine
{
public:
    ThreadEngine(const std::shared_ptr<const Backend> &backend, const Clock &clock, const LeaseId &lease,
        HolderId holder, const Timing &timing);

    void freeze() override { m_host.freeze(); }
    void thaw() override { m_host.thaw(); }
    void setCutOff(bool cut) override { m_faults->cutOff = cut; }
    [[nodiscard]] bool isCutOff() const override { return m_faults->cutOff; }
    void kill() override { m_host.freeze(); } ///< not one more step, however long the burial takes
    void handOver() override { m_elector.release(); }
    void requestStop() override { m_elector.requestStop(); }
    [[nodiscard]] bool stopped() const override { return report().phase == Phase::Stopped; }
    [[nodiscard]] ElectorReport report() const override { return m_elector.report(); }
    [[nodiscard]] std::string holder() const override { return m_holder; }

private:
    const std::string m_holder;
    const std::shared_ptr<Faults> m_faults = std::make_shared<Faults>();
    ElectorHost m_host;
    Elector m_elector;
};

} // namespace tenure
