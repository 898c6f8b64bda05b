// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_keys.h"

namespace tenure::redis
{
namespace
{

constexpr std::string_view kSuffix = ":tenure";
constexpr std::string_view kTaggedSuffix = ":tenure:term";

/// Redis hashes only what stands between the first '{' and the next '}', unless that is empty.
bool hasTag(std::string_view key)
{
    const std::size_t open = key.find('{');
    if (open == std::string_view::npos)
        return false;
    const std::size_t close = key.find('}', open + 1);
    return close != std::string_view::npos && close > open + 1;
}

} // namespace

std::string Keys::companion(std::string_view key)
{
    std::string out;
    if (hasTag(key))
        return out.append(key).append(kTaggedSuffix);
    return out.append("{").append(key).append("}").append(kSuffix);
}

std::optional<std::string> Keys::nameOf(std::string_view key) const
{
    if (key.size() <= m_prefix.size() || !key.starts_with(m_prefix))
        return std::nullopt;
    return std::string(key.substr(m_prefix.size()));
}

std::optional<std::string> Keys::keyOfCompanion(std::string_view companion)
{
    if (companion.ends_with(kTaggedSuffix)) {
        const std::string_view key = companion.substr(0, companion.size() - kTaggedSuffix.size());
        if (hasTag(key))
            return std::string(key);
    }
    if (companion.size() > kSuffix.size() + 2 && companion.front() == '{'
        && companion.ends_with("}:tenure")) {
        const std::string_view key = companion.substr(1, companion.size() - kSuffix.size() - 2);
        if (!hasTag(key))
            return std::string(key);
    }
    return std::nullopt;
}

std::string globEscaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\' || c == '^')
            out += '\\';
        out += c;
    }
    return out;
}

} // namespace tenure::redis
