// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/redis/redis_records.h"
#include "core/backend/redis/redis_settings.h"
#include "core/backend/store.h"
#include "redis_scripts.h"

namespace tenure::redis
{

/// One of our verbs as a script call.
struct ScriptCall {
    const Script *script = nullptr;
    std::vector<std::string> keys, args;
};

enum class SendAs { Digest, Text };

/// Acquire, Renew, Release, Operate as a call; `barred`: the epoch rule forbids new terms.
enum class NewTerms { Allowed, Barred };
[[nodiscard]] ScriptCall scriptCall(const Command &command, const Keys &keys, NewTerms newTerms);
void add(Pipeline &pipeline, const ScriptCall &call, SendAs how);
/// The three plain commands of a full read: GETRANGE, PTTL, HMGET.
void addFullRead(Pipeline &pipeline, const std::string &key);
/// What those three (and TIME) answered. Errors: WRONGTYPE stays BadConfig.
[[nodiscard]] Result<LeaseState> fullState(
    std::span<const RespValue> answers, std::int64_t nowUs, const std::string &where);
[[nodiscard]] std::int64_t timeOf(const RespValue &answer);

/// A script's answer as a Reply. `barrier`: what scriptCall() was told about, for retryIn.
[[nodiscard]] Result<Reply> replyOf(const Command &command, const Keys &keys,
    const RespValue &answer, std::optional<Duration> barrier, const std::string &where);
/// PTTL's answer to Read{Remaining}.
[[nodiscard]] Result<Reply> remainingReply(
    const LeaseId &lease, const RespValue &answer, const std::string &where);

/// True for what changes something at the server.
[[nodiscard]] bool isWrite(const Command &command);

/// What a key that is not a string is: a Redisson lock, or BadConfig naming the type.
[[nodiscard]] Result<LeaseRecord> readOther(
    RespConnection &connection, const LeaseId &lease, const std::string &key, Instant deadline);

} // namespace tenure::redis
