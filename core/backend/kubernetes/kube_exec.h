// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kubeconfig.h"
#include "core/base/clock.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::kube
{

/// What a credential plugin gave.
struct ExecCredential {
    std::string token;
    std::string certData, keyData;
    std::optional<WallTime> expires; ///< by the plugin's word; nothing: for as long as the server likes it
};

/// Reads a plugin's output. Rejected: it is no ExecCredential of that apiVersion, or an empty one.
[[nodiscard]] Result<ExecCredential> parseExecCredential(
    const ExecPlugin &plugin, const std::string &output);

/// One run of a credential plugin, in a process group and on a thread of its own, so that a plugin
/// slower than one call's deadline still gets done. Never a shell; its standard input is /dev/null
/// unless the plugin insists on asking and there is a terminal. Destruction kills it.
class ExecRun
{
public:
    /// A plugin that runs longer than this is killed.
    static constexpr std::chrono::seconds kLongest{60};

    /// `cluster` goes to the plugin if it asks for it.
    ExecRun(ExecPlugin plugin, Cluster cluster);
    ~ExecRun();
    ExecRun(const ExecRun &) = delete;
    ExecRun &operator=(const ExecRun &) = delete;

    /// Nothing when it still runs at `deadline`. Rejected: not found, failed (with the last lines it
    /// said), killed, nonsense. Any thread.
    [[nodiscard]] std::optional<Result<ExecCredential>> wait(Instant deadline);

private:
    void run();
    [[nodiscard]] Result<ExecCredential> runOnce();
    [[nodiscard]] std::string info(bool interactive) const; ///< KUBERNETES_EXEC_INFO

    const ExecPlugin m_plugin;
    const Cluster m_cluster;
    std::mutex m_mutex;
    std::condition_variable m_done;
    std::optional<Result<ExecCredential>> m_result; ///< guarded by m_mutex
    bool m_cancelled = false; ///< guarded by m_mutex
    int m_wake = -1; ///< an eventfd that ends the wait for the process
    std::thread m_thread;
};

} // namespace tenure::kube
