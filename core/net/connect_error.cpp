// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/connect_error.h"

#include "core/base/text.h"

#include <array>
#include <cstring>
#include <unistd.h>

namespace tenure
{
namespace
{

Error made(ErrorKind kind, std::string what, const Endpoint &endpoint, std::string remedy = {},
    Recovery recovery = Recovery::Backoff)
{
    Error error;
    error.kind = kind;
    error.what = std::move(what);
    error.where = endpoint.display;
    error.remedy = std::move(remedy);
    error.recovery = recovery;
    return error;
}

bool contains(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

/// The names a certificate is for, as curl's certificate information lists them.
std::string offeredNames(CURL *handle)
{
    curl_certinfo *info = nullptr;
    if (curl_easy_getinfo(handle, CURLINFO_CERTINFO, &info) != CURLE_OK || info == nullptr
        || info->num_of_certs < 1)
        return {};
    std::string subject;
    for (const curl_slist *row = info->certinfo[0]; row != nullptr; row = row->next) {
        const std::string line(row->data);
        static constexpr const char *kNames = "X509v3 Subject Alternative Name:";
        if (line.starts_with(kNames))
            return printable(line.substr(std::strlen(kNames)), 300);
        if (line.starts_with("Subject:"))
            subject = printable(line.substr(8), 300);
    }
    return subject;
}

/// A TLS alert by which the server says that it wants a (better) certificate of ours.
std::optional<Error> clientCertificateError(const Endpoint &endpoint, const std::string &message)
{
    if (!contains(message, "alert"))
        return std::nullopt;
    if (contains(message, "certificate required")
        || (endpoint.certFile.empty() && contains(message, "handshake failure"))) {
        return made(ErrorKind::Rejected,
            endpoint.certFile.empty() ? "The server asked for a client certificate and none is set"
                                      : "The server did not accept the client certificate",
            endpoint, "Set cert= and key= to your client certificate");
    }
    if (contains(message, "unknown ca") || contains(message, "bad certificate")
        || contains(message, "certificate expired") || contains(message, "certificate unknown")) {
        return made(ErrorKind::Rejected,
            "The server did not accept the client certificate: " + message, endpoint,
            "Check cert= and key=");
    }
    return std::nullopt;
}

Error certificateError(const Endpoint &endpoint, CURL *handle, const std::string &message)
{
    const std::string expected = endpoint.serverName.empty() ? endpoint.host : endpoint.serverName;
    if (contains(message, "does not match") || contains(message, "no alternative certificate")
        || contains(message, "unable to obtain common name")) {
        const std::string names = offeredNames(handle);
        return made(ErrorKind::Rejected,
            "The certificate is not for " + expected
                + (names.empty() ? std::string() : ", it is for " + names),
            endpoint, "Connect by a name of the certificate or set sni= to one");
    }
    if (contains(message, "expired") || contains(message, "not yet valid")) {
        return made(ErrorKind::Rejected, "The server's certificate is not valid now: " + message,
            endpoint, "Renew the server's certificate or correct the clock");
    }
    return made(ErrorKind::Rejected, "The server's certificate is not trusted: " + message,
        endpoint, "Set ca= to the file of the authority that signed it");
}

} // namespace

std::optional<Error> endpointProblem(const Endpoint &endpoint)
{
    for (const std::string *name : {&endpoint.host, &endpoint.serverName}) {
        if (name->find_first_of("/?#@[]\\ \t\r\n%") != std::string::npos) {
            return made(ErrorKind::BadConfig,
                "\"" + printable(*name, 80) + "\" is not the name of a host", endpoint);
        }
    }
    if (endpoint.host.empty() && endpoint.unixPath.empty())
        return made(ErrorKind::BadConfig, "There is no host to connect to", endpoint);
    constexpr std::size_t kUnixPathBytes = 107;
    if (endpoint.unixPath.size() > kUnixPathBytes) {
        return made(ErrorKind::BadConfig,
            "The socket's path is longer than the 107 bytes that unix allows", endpoint);
    }
    if (!endpoint.tls)
        return std::nullopt;
    for (const std::string *file : {&endpoint.caFile, &endpoint.certFile, &endpoint.keyFile}) {
        if (!file->empty() && access(file->c_str(), R_OK) != 0) {
            return made(ErrorKind::BadConfig,
                "The file " + printable(*file) + " cannot be read: " + std::strerror(errno),
                endpoint);
        }
    }
    return std::nullopt;
}

Error connectError(
    const Endpoint &endpoint, CURL *handle, CURLcode code, const std::string &message)
{
    const std::string detail = message.empty() ? curl_easy_strerror(code) : printable(message);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return made(ErrorKind::Unavailable,
            "There is no host called " + printable(endpoint.host, 80), endpoint,
            "Check the name and the name server", Recovery::Backoff);
    case CURLE_COULDNT_CONNECT:
        if (!endpoint.unixPath.empty()) {
            return made(ErrorKind::Unavailable, "Nobody listens on the socket " + endpoint.unixPath,
                endpoint, "Is the server running, and may you open its socket?");
        }
        return made(ErrorKind::Unavailable, "The connection was refused or did not come about",
            endpoint, "Is the server running, and is the port right?");
    case CURLE_OPERATION_TIMEDOUT:
        return made(ErrorKind::Unavailable, "The server did not answer in time", endpoint,
            "Check the address, the network and the firewall");
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificateError(endpoint, handle, detail);
    case CURLE_SSL_CERTPROBLEM:
        return made(ErrorKind::BadConfig, "The client certificate cannot be used: " + detail,
            endpoint, "cert= and key= must be a matching pair of PEM files");
    case CURLE_SSL_CACERT_BADFILE:
        return made(ErrorKind::BadConfig, "The file of authorities cannot be used: " + detail,
            endpoint, "ca= must be a PEM file");
    default:
        break;
    }
    if (auto error = clientCertificateError(endpoint, detail))
        return *std::move(error);
    if (contains(detail, "wrong version number") || contains(detail, "packet length too long")) {
        return made(ErrorKind::BadConfig, "The server does not speak TLS on this port", endpoint,
            "Use redis:// without TLS, or the server's TLS port");
    }
    if (code == CURLE_SSL_CONNECT_ERROR) {
        return made(ErrorKind::Unavailable, "The TLS handshake failed: " + detail, endpoint);
    }
    return made(ErrorKind::Unavailable, "The connection failed: " + detail, endpoint);
}

Error streamError(const Endpoint &endpoint, CURLcode code, const std::string &message,
    const char *verb, PeerHeard heard)
{
    const std::string detail = printable(message);
    if (auto error = clientCertificateError(endpoint, detail))
        return *std::move(error);
    std::string what = code == CURLE_OK ? std::string("The server closed the connection")
                                        : std::string("The connection broke while ") + verb;
    if (!detail.empty())
        what += ": " + detail;
    if (heard == PeerHeard::No && endpoint.tls && endpoint.certFile.empty()) {
        // TLS 1.3 judges our certificate after our side is done, and the alert that says so is lost
        // when the server closes with our first bytes unread.
        return made(ErrorKind::Rejected,
            "The server hung up right after the TLS handshake: it seems to want a client "
            "certificate, "
            "and none is set",
            endpoint, "Set cert= and key= to your client certificate", Recovery::Reconnect);
    }
    std::string remedy;
    if (heard == PeerHeard::No && !endpoint.tls)
        remedy = "It said nothing at all: does this port want TLS (rediss://)?";
    return made(ErrorKind::Unavailable, what, endpoint, remedy, Recovery::Reconnect);
}

} // namespace tenure
