// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/net/byte_stream.h"

#include <curl/curl.h>

#include <optional>

namespace tenure
{

enum class PeerHeard { No, Yes };

/// What is wrong with an endpoint before anything is tried: a name that no URL could carry, a
/// certificate file that cannot be read. BadConfig.
[[nodiscard]] std::optional<Error> endpointProblem(const Endpoint &endpoint);

/// A failed connect in a sentence: which name was expected and which were offered, whose
/// certificate is missing, which port does not speak TLS.
[[nodiscard]] Error connectError(
    const Endpoint &endpoint, CURL *handle, CURLcode code, const std::string &message);

/// A failed read or write. TLS 1.3 tells only here that a client certificate was wanted.
[[nodiscard]] Error streamError(const Endpoint &endpoint, CURLcode code, const std::string &message,
    const char *verb, PeerHeard heard);

} // namespace tenure
