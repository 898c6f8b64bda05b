// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/net/tcp_proxy.h"
#include "core/runtime/instance_engine.h"

#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tenure
{

/// How instances of a store are started as processes.
struct ProcessPlace {
    StoreUri uri; ///< with its password: it reaches the process in its environment only
    std::string program; ///< of tenurectl
};
/// The tenurectl that belongs to this program: beside it, where a build puts it, or in the PATH; empty
/// when there is none.
[[nodiscard]] std::string findTenurectl();
/// With findTenurectl(); nothing without a URL.
[[nodiscard]] std::optional<ProcessPlace> processPlaceOf(const std::optional<StoreUri> &uri);

/// A `tenurectl campaign` process with a network proxy of its own: frozen by SIGSTOP, killed by
/// SIGKILL, ended by SIGTERM, cut off by the proxy, which then passes nothing on. It tells each change
/// and each renewal, so that what it believes is known to the very nanosecond also while it is stopped.
/// It never outlives this process, however that ends: the kernel kills it with the thread that started
/// it. Any thread.
class CampaignProcess final : public InstanceEngine
{
public:
    /// `id`: before what makes its identity unique. Starts in the background: what goes wrong stands in
    /// report().error.
    CampaignProcess(const ProcessPlace &place, const LeaseId &lease, const std::string &id, const Timing &timing);
    ~CampaignProcess() override; ///< SIGKILL

    void freeze() override { signal(SIGSTOP); }
    void thaw() override { signal(SIGCONT); }
    void setCutOff(bool cut) override;
    [[nodiscard]] bool isCutOff() const override;
    [[nodiscard]] std::string whyNotCut() const override { return m_whyNotCut; }
    void kill() override { signal(SIGKILL); }
    void handOver() override;
    void requestStop() override { signal(SIGTERM); }
    [[nodiscard]] bool stopped() const override;
    [[nodiscard]] ElectorReport report() const override;
    [[nodiscard]] std::string holder() const override;
    [[nodiscard]] pid_t pid() const override;

private:
    struct Start;
    void signal(int number);
    void live(const Start &start); ///< the thread that starts it, listens to it and buries it
    void listen(int from);
    void take(const std::string &line);
    void failed(const Start &start, int problem);

    std::optional<TcpProxy> m_proxy;
    std::string m_whyNotCut;
    const LeaseId m_lease;
    mutable std::mutex m_mutex;
    // All guarded by m_mutex.
    pid_t m_pid = 0; ///< while it is there to be signalled
    bool m_ended = false;
    std::vector<int> m_early; ///< signals from before it was there
    std::string m_holder;
    ElectorReport m_report; ///< `believes` is judged when asked
    std::jthread m_thread; ///< last: it uses all of the above
};

} // namespace tenure
