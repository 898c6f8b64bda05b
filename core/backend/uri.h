// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure
{

/// A store's URL, taken apart (DESIGN.md section 4): memory: demo: sqlite:///path redis:// rediss://
/// redis+unix:///path redis+sentinel://h1:26379,h2/master?db=0 postgresql:// kubernetes: etcd://.
/// Parsing never loses and never prints a password.
class StoreUri
{
public:
    /// BadConfig: unknown scheme (with the known ones and a near miss suggested), missing host, port
    /// out of range, bad percent escape, unknown parameter (named, with those that are known).
    [[nodiscard]] static Result<StoreUri> parse(std::string_view text);

    std::string scheme; ///< lower case
    std::string user; ///< decoded
    std::string password; ///< decoded; falls back to TENURE_PASSWORD in the composition root
    std::vector<std::pair<std::string, std::uint16_t>> hosts; ///< [::1] without brackets; port 0: default
    std::string path; ///< decoded; for sqlite and redis+unix the file, else without the leading slash
    std::map<std::string, std::string> parameters; ///< decoded

    /// The same URL with "***" for a password, fit for a screen, a log or a title.
    [[nodiscard]] std::string display() const;
    /// The whole URL again, secrets included: for the keychain and for nothing else.
    [[nodiscard]] std::string secretText() const;
    [[nodiscard]] std::string parameter(const std::string &name, std::string fallback = {}) const;
    bool operator==(const StoreUri &) const = default;
};

} // namespace tenure
