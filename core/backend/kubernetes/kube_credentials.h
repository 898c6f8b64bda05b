// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_exec.h"
#include "core/net/http_client.h"

#include <cstdint>

namespace tenure::kube
{

/// How to introduce oneself with one request.
struct Credential {
    HttpHeaders headers; ///< Authorization and Impersonate-*
    std::string certData, keyData; ///< a plugin's client certificate, instead of the configured one
    std::uint64_t number = 0; ///< grows whenever anything of it changed
};

/// One user's credentials: static ones, a token file that is read again each minute, or a plugin whose
/// answer is kept until it expires. Shared by the stores and feeds of a backend; any thread.
class Credentials
{
public:
    Credentials(User user, Cluster cluster);

    /// Rejected (a plugin failed, a file cannot be read) or Unavailable (a plugin still runs at
    /// `deadline`; it goes on, and the next call waits for the same run).
    [[nodiscard]] Result<Credential> get(Instant deadline);
    /// The server refused credential `number` (401): the next get() reads files and runs plugins
    /// again. False when nothing could change, so that trying again is of no use.
    bool refuse(std::uint64_t number);
    [[nodiscard]] const User &user() const { return m_user; }

private:
    [[nodiscard]] Result<void> readTokenFile();
    void take(const std::string &token, const std::string &certData, const std::string &keyData);

    const User m_user;
    const Cluster m_cluster;
    std::mutex m_mutex; ///< guards everything below
    Credential m_credential;
    bool m_known = false;
    std::optional<Instant> m_freshUntil; ///< nothing: for good
    std::shared_ptr<ExecRun> m_run;
};

} // namespace tenure::kube
