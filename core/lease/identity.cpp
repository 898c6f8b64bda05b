// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lease/identity.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>

#include <unistd.h>

namespace tenure
{

Result<LeaseId> LeaseId::parse(std::string_view name)
{
    const std::string remedy = "A lease name is 1 to " + std::to_string(kMaxBytes) + " bytes of UTF-8";
    if (name.empty())
        return fail(ErrorKind::BadConfig, "The lease name is empty", {}, remedy);
    if (name.size() > kMaxBytes) {
        return fail(ErrorKind::BadConfig,
            "The lease name is " + std::to_string(name.size()) + " bytes long", {}, remedy);
    }
    if (name.find('\0') != std::string_view::npos)
        return fail(ErrorKind::BadConfig, "The lease name contains a NUL byte", {}, remedy);
    if (!isUtf8(name)) {
        return fail(ErrorKind::BadConfig,
            "The lease name \"" + printable(name, 80) + "\" is not UTF-8", {}, remedy);
    }
    return LeaseId(std::string(name));
}

LeaseId LeaseId::observed(std::string name)
{
    return LeaseId(std::move(name));
}

Result<HolderId> HolderId::parse(std::string_view name)
{
    const std::string remedy
        = "An identity is 1 to " + std::to_string(kMaxBytes) + " bytes of UTF-8 on one line";
    if (name.empty())
        return fail(ErrorKind::BadConfig, "The holder identity is empty", {}, remedy);
    if (name.size() > kMaxBytes) {
        return fail(ErrorKind::BadConfig,
            "The holder identity is " + std::to_string(name.size()) + " bytes long", {}, remedy);
    }
    const bool control = std::any_of(name.begin(), name.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7F;
    });
    if (control || !isUtf8(name)) {
        return fail(ErrorKind::BadConfig,
            "The holder identity \"" + printable(name, 80) + "\" is not plain text", {}, remedy);
    }
    return HolderId(std::string(name));
}

HolderId HolderId::unique(std::string_view base)
{
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0)
        host[0] = '\0';
    const std::string tail = "_" + std::string(host.data()).substr(0, 64) + "-"
        + std::to_string(getpid()) + "-" + hex64(systemEntropy());
    return HolderId(std::string(base.substr(0, kMaxBytes - tail.size())) + tail);
}

Nonce Nonce::random()
{
    return {systemEntropy(), systemEntropy()};
}

std::optional<Nonce> Nonce::parse(std::string_view hex)
{
    if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return std::nullopt;
    Nonce nonce;
    std::from_chars(hex.data(), hex.data() + 16, nonce.m_high, 16);
    std::from_chars(hex.data() + 16, hex.data() + 32, nonce.m_low, 16);
    return nonce;
}

} // namespace tenure
