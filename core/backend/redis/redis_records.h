// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/resp_connection.h"
#include "core/lease/record.h"

#include <array>
#include <optional>
#include <span>

namespace tenure::redis
{

/// The companion hash's fields, in the order of resources/lua/prelude.lua.
enum class Field : std::size_t {
    Holder,
    Nonce,
    Token,
    AcquiredUs,
    RenewedUs,
    TtlMs,
    Transitions,
    Released,
    HoldBy,
    AskNonce,
    AskMs,
    OutHolder,
    OutUntilUs,
    Count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Field::Count)> kFieldNames{
    "holder", "nonce", "token", "acquired_us", "renewed_us", "ttl_ms", "transitions", "released",
    "hold_by", "ask_nonce", "ask_ms", "out_holder", "out_until_us"};

/// Values are fetched up to here; one byte more tells that there is more.
inline constexpr std::size_t kMaxValueBytes = 4096;

/// A lease's two keys as one answer showed them.
struct LeaseState {
    std::optional<std::string> value; ///< nothing: no key
    std::int64_t pttl = -2; ///< as PTTL says: -1 no expiry, -2 no key
    std::int64_t nowUs = 0; ///< server time; 0 when not known
    std::array<std::optional<std::string>, static_cast<std::size_t>(Field::Count)> fields;

    [[nodiscard]] std::string text(Field field) const
    {
        return fields[static_cast<std::size_t>(field)].value_or(std::string());
    }
    [[nodiscard]] std::uint64_t number(Field field) const; ///< 0 when absent or no number
    [[nodiscard]] bool hasCompanion() const { return fields[0] || fields[2]; }
    [[nodiscard]] bool held() const { return value && pttl != 0 && pttl != -2; }
    [[nodiscard]] std::optional<Duration> remaining() const;
    void setFields(std::span<const RespValue> values);
};

/// `holder#nonce`, split at the last '#'; nothing when the value is not of our form.
struct OwnValue {
    std::string holder;
    Nonce nonce;
};
[[nodiscard]] std::optional<OwnValue> ownValue(std::string_view value);
[[nodiscard]] std::string valueText(const std::string &holder, const Nonce &nonce);

/// Ours and other people's string locks (FORMATS.md section 1). `key` tells the writer apart.
[[nodiscard]] LeaseRecord recordOf(
    const LeaseId &lease, std::string_view key, const LeaseState &state);

/// A Redisson lock: a hash of one `<uuid>:<thread>` field, with the fair lock's queue and the
/// fenced lock's counter where they are. Nothing when `entries` (field, value, ...) is no such
/// lock.
[[nodiscard]] std::optional<LeaseRecord> redissonRecord(const LeaseId &lease,
    std::span<const RespValue> entries, std::int64_t pttl, std::span<const RespValue> queue,
    const std::optional<std::string> &token);

/// Whose format a string lock is: "redbeat", "shedlock", "resque-scheduler", "spring", "token";
/// nothing for what looks like an ordinary value, and for BullMQ's per-job locks. Conservative: a
/// cache entry must not show up as a leader.
[[nodiscard]] std::optional<std::string> foreignKind(
    std::string_view key, std::string_view value, std::int64_t pttl);

} // namespace tenure::redis
