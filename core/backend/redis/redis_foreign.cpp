// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_records.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenure::redis
{
namespace
{

constexpr std::int64_t kDayMs = 24 * 3600 * 1000;

bool all(std::string_view text, std::string_view allowed)
{
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kDigits = "0123456789";

bool isUuid(std::string_view text)
{
    if (text.size() != 36)
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : kHex.find(text[i]) == std::string_view::npos)
            return false;
    }
    return true;
}

bool isUuidWithThread(std::string_view text)
{
    return text.size() > 37 && text[36] == ':' && isUuid(text.substr(0, 36))
        && all(text.substr(37), kDigits);
}

bool isHostPid(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    return colon != std::string_view::npos && colon > 1 && text.size() - colon <= 8
        && all(text.substr(colon + 1), kDigits)
        && text.find_first_of(" {}[]\"'<>/") == std::string_view::npos;
}

/// What lock libraries draw: hex of 64 bits and more, a UUID with or without a thread, base64 of
/// 128.
bool isToken(std::string_view text)
{
    const bool hex
        = text.size() >= 16 && text.size() <= 64 && text.size() % 2 == 0 && all(text, kHex);
    const bool base64 = text.size() == 24 && text.ends_with("==");
    return hex || base64 || isUuid(text) || isUuidWithThread(text) || isHostPid(text);
}

bool namesALock(std::string_view key)
{
    std::string lower(key);
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return lower.find("lock") != std::string::npos || lower.find("leader") != std::string::npos
        || lower.find("mutex") != std::string::npos || lower.find("election") != std::string::npos;
}

bool isPlainText(std::string_view text)
{
    return !text.empty() && text.size() <= 128 && isUtf8(text)
        && text.find_first_of("{}[]<>\"\n\r") == std::string_view::npos;
}

} // namespace

std::optional<std::string> foreignKind(
    std::string_view key, std::string_view value, std::int64_t pttl)
{
    if (value.starts_with("ADDED:") && value.find('@') != std::string_view::npos)
        return "shedlock";
    if (key.ends_with("resque_scheduler_master_lock"))
        return "resque-scheduler";
    if (key.ends_with("redbeat::lock"))
        return "redbeat";
    if (key.starts_with("bull:") && key.ends_with(":lock"))
        return std::nullopt;
    if (key.starts_with("redisson_") || value.size() > 128 || pttl > kDayMs)
        return std::nullopt;
    if (pttl < 0) // no expiry: only what is plainly a lock is called a leaked one
        return namesALock(key) && isToken(value) ? std::optional<std::string>("token")
                                                 : std::nullopt;
    if (isUuid(value) && pttl <= 60'000 && key.find(':') != std::string_view::npos)
        return "spring";
    if (isToken(value) || (namesALock(key) && isPlainText(value)))
        return "token";
    return std::nullopt;
}

std::optional<LeaseRecord> redissonRecord(const LeaseId &lease, std::span<const RespValue> entries,
    std::int64_t pttl, std::span<const RespValue> queue, const std::optional<std::string> &token)
{
    if (entries.size() != 2)
        return std::nullopt;
    const std::string &field = entries[0].text;
    const bool hold = field.starts_with("hold:") && ownValue(field);
    if ((!isUuidWithThread(field) && !hold) || !all(entries[1].text, kDigits))
        return std::nullopt;
    LeaseRecord record;
    record.lease = lease;
    record.kind = !queue.empty() ? "redisson-fair" : token ? "redisson-fenced" : "redisson";
    record.version = field;
    record.raw = field + " = " + entries[1].text;
    for (const RespValue &waiter : queue)
        record.candidates.push_back(waiter.text);
    if (token && token->size() < 19 && all(*token, kDigits))
        record.token.value = std::stoull(*token);
    const Milliseconds left(std::max<std::int64_t>(pttl, 0));
    if (hold) {
        record.hold = OperatorHold{ownValue(field)->holder.substr(5), left};
        return record;
    }
    record.holder = field;
    if (pttl >= 0)
        record.remaining = left;
    else
        record.note = "no expiry: a leaked lock";
    return record;
}

} // namespace tenure::redis
