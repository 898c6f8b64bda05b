// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_api.h"

#include "core/base/text.h"

#include <nlohmann/json.hpp>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

std::string deedText(const Deed &deed)
{
    return deed.verb + " " + deed.resource
        + (deed.nameSpace.empty() ? " in the whole cluster"
                                  : " in the namespace " + printable(deed.nameSpace, 80));
}

bool isWrite(const Deed &deed)
{
    return deed.verb == "create" || deed.verb == "update" || deed.verb == "patch"
        || deed.verb == "delete";
}

} // namespace

HttpRequest jsonRequest(const char *method, std::string path, std::string body)
{
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.headers = {{"Accept", "application/json"}, {"User-Agent", "tenure"}};
    if (!body.empty())
        request.headers.emplace_back("Content-Type", "application/json");
    request.body = std::move(body);
    return request;
}

StatusText statusOf(const std::string &body)
{
    const Json root = Json::parse(body, nullptr, false);
    StatusText out;
    if (!root.is_object())
        return out;
    for (const auto &[key, into] : {std::pair{"reason", &out.reason}, {"message", &out.message}}) {
        const auto found = root.find(key);
        if (found != root.end() && found->is_string())
            *into = found->get<std::string>();
    }
    return out;
}

Error errorOf(const HttpResponse &response, const Deed &deed, const Settings &settings)
{
    const StatusText status = statusOf(response.body);
    Error error;
    error.where = settings.display;
    error.retryAfter = response.retryAfter;
    const std::string said = printable(status.message, 400);
    error.what = said.empty()
        ? "The API server answered " + std::to_string(response.status) + " to " + deedText(deed)
        : said;
    switch (response.status) {
    case 401:
        error.kind = ErrorKind::Rejected;
        error.what = "The API server does not accept the credentials of the context "
            + printable(settings.context, 80);
        error.remedy = "Log in again, or correct the user in the kubeconfig";
        return error;
    case 403:
        error.kind = ErrorKind::Denied;
        error.remedy = "You may not " + deedText(deed) + ": ask for the verb \"" + deed.verb + "\"";
        return error;
    case 404:
        error.kind = ErrorKind::NotFound;
        return error;
    case 409:
        error.kind = ErrorKind::Conflict;
        return error;
    case 410:
        error.kind = ErrorKind::Unavailable;
        error.recovery = Recovery::AtOnce;
        return error;
    case 429:
        error.kind = ErrorKind::Unavailable;
        return error;
    case 503:
        error.kind = ErrorKind::Unavailable;
        return error;
    default:
        break;
    }
    if (response.status >= 500) {
        error.kind = isWrite(deed) ? ErrorKind::OutcomeUnknown : ErrorKind::Unavailable;
    } else if (response.status >= 300 && response.status < 400) {
        error.kind = ErrorKind::BadConfig;
        error.what = "The server answers with a redirect, which is not followed";
        error.remedy = "Check the server's URL in the kubeconfig";
    } else if (response.status >= 400) {
        error.kind = ErrorKind::BadConfig;
    } else {
        error.kind = ErrorKind::Corrupt;
    }
    return error;
}

Result<void> Api::prepare(Instant deadline)
{
    auto credential = m_settings->credentials->get(deadline);
    if (!credential)
        return fail(std::move(credential.error()));
    const bool otherCert = m_client
        && (credential->certData != m_credential.certData || credential->keyData != m_credential.keyData);
    m_credential = *std::move(credential);
    const std::lock_guard lock(m_mutex);
    if (m_interrupted)
        return fail(ErrorKind::Unavailable, "The connection was given up", m_settings->display);
    if (m_client && !otherCert)
        return {};
    HttpTarget target = m_settings->target;
    if (!m_credential.certData.empty()) {
        target.tls.certData = m_credential.certData;
        target.tls.keyData = m_credential.keyData;
    }
    auto client = HttpClient::make(std::move(target));
    if (!client)
        return fail(std::move(client.error()));
    m_client = std::move(*client);
    return {};
}

HttpRequest Api::signedRequest(const HttpRequest &request) const
{
    HttpRequest out = request;
    out.headers.insert(
        out.headers.end(), m_credential.headers.begin(), m_credential.headers.end());
    return out;
}

std::vector<Result<HttpResponse>> Api::sendAll(
    std::span<const HttpRequest> requests, Instant deadline)
{
    if (requests.empty())
        return {};
    if (auto prepared = prepare(deadline); !prepared)
        return std::vector<Result<HttpResponse>>(requests.size(), fail(prepared.error()));
    std::vector<HttpRequest> ready;
    ready.reserve(requests.size());
    for (const HttpRequest &request : requests)
        ready.push_back(signedRequest(request));
    auto results = m_client->sendAll(ready, deadline);
    std::vector<std::size_t> refused;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i] && results[i]->status == 401)
            refused.push_back(i);
    }
    if (refused.empty())
        return results;
    std::optional<Error> hopeless;
    if (!m_settings->credentials->refuse(m_credential.number))
        hopeless = errorOf(*results[refused.front()], {}, *m_settings);
    else if (auto prepared = prepare(deadline); !prepared)
        hopeless = prepared.error();
    std::vector<HttpRequest> again;
    for (const std::size_t i : refused) {
        if (hopeless)
            results[i] = fail(*hopeless);
        else
            again.push_back(signedRequest(requests[i]));
    }
    if (hopeless)
        return results;
    auto second = m_client->sendAll(again, deadline);
    for (std::size_t i = 0; i < refused.size(); ++i) {
        if (second[i] && second[i]->status == 401)
            second[i] = fail(errorOf(*second[i], {}, *m_settings));
        results[refused[i]] = std::move(second[i]);
    }
    return results;
}

Result<HttpResponse> Api::send(const HttpRequest &request, Instant deadline)
{
    return std::move(sendAll({&request, 1}, deadline).front());
}

Result<std::unique_ptr<HttpStream>> Api::open(const HttpRequest &request, Instant deadline)
{
    for (int attempt = 0;; ++attempt) {
        if (auto prepared = prepare(deadline); !prepared)
            return fail(std::move(prepared.error()));
        auto stream = m_client->open(signedRequest(request), deadline);
        if (!stream || (*stream)->response().status != 401)
            return stream;
        if (attempt > 0 || !m_settings->credentials->refuse(m_credential.number))
            return fail(errorOf((*stream)->response(), {}, *m_settings));
    }
}

void Api::waitAny(Instant deadline)
{
    if (m_client)
        m_client->waitAny(deadline);
}

void Api::interrupt()
{
    const std::lock_guard lock(m_mutex);
    m_interrupted = true;
    if (m_client)
        m_client->interrupt();
}

void Api::disconnect()
{
    if (m_client)
        m_client->disconnect();
}

} // namespace tenure::kube
