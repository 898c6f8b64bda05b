// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kube_server.h"

#include <nlohmann/json.hpp>

#include <mutex>
#include <thread>

namespace tenure::test
{

/// Every version of one Lease as the API server tells them, with the moment at which it was heard of: a
/// watch by a client of its own, which nothing disturbs.
class LeaseHistory
{
public:
    struct Version {
        Instant heardAt; ///< it was written before
        nlohmann::json object;
        [[nodiscard]] std::string holder() const { return text("holderIdentity"); }
        [[nodiscard]] std::int64_t transitions() const { return object["spec"].value("leaseTransitions", std::int64_t(0)); }
        [[nodiscard]] std::string text(const char *key) const
        {
            const auto &spec = object["spec"];
            return spec.contains(key) && spec[key].is_string() ? spec[key].get<std::string>() : std::string();
        }
    };

    /// From the version of `first` on, which is what the Lease is now.
    LeaseHistory(const KubeServer &server, const std::string &path, const nlohmann::json &first)
    {
        m_versions.push_back({BootClock::now(), first});
        HttpTarget target;
        target.url = "https://127.0.0.1:" + std::to_string(server.port());
        target.tls.caFile = server.path("ca.crt");
        m_client = std::move(*HttpClient::make(target));
        HttpRequest request;
        request.path = path + "?watch=1&timeoutSeconds=7200&fieldSelector=metadata.name%3D"
            + first["metadata"]["name"].get<std::string>()
            + "&resourceVersion=" + first["metadata"]["resourceVersion"].get<std::string>();
        request.headers = {{"Authorization", "Bearer admin-token"}, {"Accept", "application/json"}};
        m_thread = std::thread([this, request] { watch(request); });
    }
    ~LeaseHistory()
    {
        m_client->interrupt();
        m_thread.join();
    }
    LeaseHistory(const LeaseHistory &) = delete;
    LeaseHistory &operator=(const LeaseHistory &) = delete;

    [[nodiscard]] std::vector<Version> versions() const
    {
        const std::lock_guard lock(m_mutex);
        return m_versions;
    }
    [[nodiscard]] std::string holder() const
    {
        const std::lock_guard lock(m_mutex);
        return m_versions.back().holder();
    }
    /// The last version is a renewal of the holder before.
    [[nodiscard]] bool renewed() const
    {
        const std::lock_guard lock(m_mutex);
        return m_versions.size() > 1 && !m_versions.back().holder().empty()
            && m_versions.back().holder() == m_versions[m_versions.size() - 2].holder();
    }

private:
    void watch(const HttpRequest &request)
    {
        auto stream = m_client->open(request, BootClock::now() + std::chrono::seconds(20));
        std::string buffer;
        while (stream) {
            const auto got = (*stream)->read(buffer, BootClock::now() + std::chrono::seconds(5));
            if (!got || *got == HttpStream::Got::End)
                return;
            const Instant now = BootClock::now();
            for (std::size_t end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
                auto event = nlohmann::json::parse(buffer.substr(0, end), nullptr, false);
                buffer.erase(0, end + 1);
                if (!event.is_object() || event.value("type", "") != "MODIFIED")
                    continue;
                const std::lock_guard lock(m_mutex);
                m_versions.push_back({now, std::move(event["object"])});
            }
        }
    }

    std::unique_ptr<HttpClient> m_client;
    mutable std::mutex m_mutex;
    std::vector<Version> m_versions; ///< guarded by m_mutex
    std::thread m_thread;
};

} // namespace tenure::test
