// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_settings.h"

#include <mutex>

namespace tenure::kube
{

/// What a request does, as Kubernetes' rights name it: for errors that name the missing verb.
struct Deed {
    std::string verb; ///< "list", "update"
    std::string resource = "leases";
    std::string nameSpace; ///< empty: the whole cluster
    std::string name = {}; ///< of one object; empty: any
};

/// The API server with credentials: a 401 makes them be read again and the request be repeated once.
/// One owner, one thread, except interrupt().
class Api
{
public:
    explicit Api(std::shared_ptr<const Settings> settings) : m_settings(std::move(settings)) { }

    /// Answers of any status but 401; errors as HttpClient's and Credentials'.
    [[nodiscard]] std::vector<Result<HttpResponse>> sendAll(
        std::span<const HttpRequest> requests, Instant deadline);
    [[nodiscard]] Result<HttpResponse> send(const HttpRequest &request, Instant deadline);
    [[nodiscard]] Result<std::unique_ptr<HttpStream>> open(
        const HttpRequest &request, Instant deadline);
    void waitAny(Instant deadline); ///< as HttpClient's
    /// Every call under way or later fails. Any thread.
    void interrupt();
    void disconnect();
    [[nodiscard]] const Settings &settings() const { return *m_settings; }

private:
    [[nodiscard]] Result<void> prepare(Instant deadline); ///< m_client and m_credential
    [[nodiscard]] HttpRequest signedRequest(const HttpRequest &request) const;

    const std::shared_ptr<const Settings> m_settings;
    std::mutex m_mutex; ///< guards m_client's replacement and m_interrupted against interrupt()
    std::unique_ptr<HttpClient> m_client;
    bool m_interrupted = false;
    Credential m_credential;
};

/// What an answer outside 2xx means (DESIGN.md section 3 and 4).
[[nodiscard]] Error errorOf(const HttpResponse &response, const Deed &deed, const Settings &settings);
/// The `reason` and `message` of a Status object; empty when the body is none.
struct StatusText {
    std::string reason;
    std::string message;
};
[[nodiscard]] StatusText statusOf(const std::string &body);

[[nodiscard]] HttpRequest jsonRequest(const char *method, std::string path, std::string body = {});

} // namespace tenure::kube
