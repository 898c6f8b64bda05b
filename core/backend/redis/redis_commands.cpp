// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_commands.h"

#include "core/backend/redis/redis_errors.h"

#include <algorithm>
#include <charconv>

namespace tenure::redis
{
namespace
{

/// No value is this: what was seen contradicts itself, so nothing may match it.
constexpr const char *kNothingMatches = "\x01";

std::string redissonName(const char *what, const std::string &key)
{
    return std::string(what) + (key.find('{') == std::string::npos ? ":{" + key + "}" : ":" + key);
}

std::string seenValue(const Operate &operate)
{
    const Seen &seen = operate.expected;
    const auto own = ownValue(seen.version);
    if (operate.kind == "tenure" && own && !seen.holder.empty() && own->holder != seen.holder)
        return kNothingMatches;
    if (seen.version.empty() && !seen.holder.empty())
        return kNothingMatches;
    return seen.version;
}

ScriptCall operateCall(
    const Operate &operate, const std::string &key, std::vector<std::string> keys)
{
    const char *verb = operate.verb == OperatorVerb::Ask ? "ask"
        : operate.verb == OperatorVerb::Hold             ? "hold"
                                                         : "clear";
    const std::string nonce = Nonce::random().hex();
    const std::string ms = std::to_string(operate.duration.count());
    if (operate.kind.starts_with("redisson")) {
        keys.push_back(redissonName("redisson_lock_queue", key));
        keys.push_back(redissonName("redisson_lock_timeout", key));
        return {&kRedissonScript, std::move(keys),
            {Keys::channel(key), verb, seenValue(operate),
                redissonName("redisson_lock__channel", key), operate.by, nonce, ms}};
    }
    const bool ours = operate.kind == "tenure";
    return {&kOperateScript, std::move(keys),
        {Keys::channel(key), verb, seenValue(operate),
            std::to_string(ours ? operate.expected.token.value : 0), operate.by, nonce, ms}};
}

Result<LeaseState> stateOf(const RespValue &answer, const std::string &where)
{
    if (answer.isError())
        return fail(errorOf(answer.text, where));
    if (answer.items.size() >= 2 && answer.items[0].text == "type") {
        return fail(ErrorKind::BadConfig,
            "There is a key of type " + answer.items[1].text + " under this name", where,
            "Choose another lease name or prefix; nothing was overwritten");
    }
    if (answer.items.size() < 4)
        return fail(ErrorKind::Corrupt, "The server's answer cannot be understood", where);
    LeaseState state;
    if (answer.items[1].isString())
        state.value = answer.items[1].text;
    state.pttl = answer.items[2].number;
    const std::string &now = answer.items[3].text;
    std::from_chars(now.data(), now.data() + now.size(), state.nowUs);
    state.setFields(std::span(answer.items).subspan(4));
    return state;
}

WallTime wall(std::int64_t us)
{
    return WallTime(std::chrono::microseconds(us));
}

Duration until(std::uint64_t us, std::int64_t nowUs)
{
    return std::max<Duration>(
        std::chrono::microseconds(static_cast<std::int64_t>(us) - nowUs), Duration::zero());
}

/// Why an acquire was refused, and when it can succeed.
void explainRefusal(Reply &reply, const std::string &status, const LeaseState &state,
    std::optional<Duration> barrier)
{
    reply.outcome = Outcome::Refused;
    if (status == "refused") {
        reply.retryIn = state.remaining();
        if (reply.retryIn && barrier)
            reply.retryIn = std::max(*reply.retryIn, *barrier);
    } else if (status == "barred") {
        reply.epochBarrier = true;
        reply.retryIn = barrier;
        reply.record.note = "the server started a short while ago and may have forgotten a lease";
    } else if (status == "guarded") {
        reply.retryIn = until(
            state.number(Field::RenewedUs) + state.number(Field::TtlMs) * 1000, state.nowUs);
    } else {
        reply.retryIn = until(state.number(Field::OutUntilUs), state.nowUs);
        reply.record.note = "an operator asked this candidate to stay out";
    }
}

} // namespace

bool isWrite(const Command &command)
{
    return !std::holds_alternative<Read>(command) && !std::holds_alternative<List>(command);
}

ScriptCall scriptCall(const Command &command, const Keys &names, NewTerms newTerms)
{
    const std::string key = names.key(leaseOf(command)->name());
    std::vector<std::string> keys{key, Keys::companion(key)};
    const std::string channel = Keys::channel(key);
    if (const auto *acquire = std::get_if<Acquire>(&command)) {
        return {&kAcquireScript, std::move(keys),
            {channel, acquire->holder.name(), acquire->nonce.hex(),
                std::to_string(acquire->ttl.count()), newTerms == NewTerms::Barred ? "1" : "0"}};
    }
    if (const auto *renew = std::get_if<Renew>(&command)) {
        return {&kRenewScript, std::move(keys),
            {channel, renew->term.holder.name(), renew->term.nonce.hex(),
                std::to_string(renew->term.token.value), std::to_string(renew->ttl.count())}};
    }
    if (const auto *release = std::get_if<Release>(&command)) {
        return {&kReleaseScript, std::move(keys),
            {channel, release->term.holder.name(), release->term.nonce.hex(),
                std::to_string(release->term.token.value)}};
    }
    return operateCall(std::get<Operate>(command), key, std::move(keys));
}

void add(Pipeline &pipeline, const ScriptCall &call, SendAs how)
{
    const std::string count = std::to_string(call.keys.size());
    std::vector<std::string_view> words;
    if (how == SendAs::Text)
        words = {"EVAL", call.script->text, count};
    else
        words = {"EVALSHA", call.script->sha1, count};
    words.insert(words.end(), call.keys.begin(), call.keys.end());
    words.insert(words.end(), call.args.begin(), call.args.end());
    pipeline.add(words);
}

void addFullRead(Pipeline &pipeline, const std::string &key)
{
    static const std::string last = std::to_string(kMaxValueBytes);
    pipeline.add({"GETRANGE", key, "0", last});
    pipeline.add({"PTTL", key});
    const std::string companion = Keys::companion(key);
    std::vector<std::string_view> words{"HMGET", companion};
    words.insert(words.end(), kFieldNames.begin(), kFieldNames.end());
    pipeline.add(words);
}

std::int64_t timeOf(const RespValue &answer)
{
    if (answer.items.size() != 2)
        return 0;
    std::int64_t seconds = 0;
    std::int64_t us = 0;
    const std::string &a = answer.items[0].text;
    const std::string &b = answer.items[1].text;
    std::from_chars(a.data(), a.data() + a.size(), seconds);
    std::from_chars(b.data(), b.data() + b.size(), us);
    return seconds * 1'000'000 + us;
}

Result<LeaseState> fullState(
    std::span<const RespValue> answers, std::int64_t nowUs, const std::string &where)
{
    for (const RespValue &answer : answers) {
        if (answer.isError())
            return fail(errorOf(answer.text, where));
    }
    LeaseState state;
    state.nowUs = nowUs;
    state.pttl = answers[1].number;
    if (state.pttl != -2) // GETRANGE says "" both for an empty value and for none
        state.value = answers[0].text;
    state.setFields(answers[2].items);
    return state;
}

Result<Reply> replyOf(const Command &command, const Keys &keys, const RespValue &answer,
    std::optional<Duration> barrier, const std::string &where)
{
    Reply reply;
    const LeaseId &lease = *leaseOf(command);
    reply.record.lease = lease;
    if (!answer.isError()
        && answer.items.size() == 1) { // Redisson's script: the caller reads again
        reply.outcome = answer.items[0].text == "operated" ? Outcome::Done : Outcome::Conflict;
        return reply;
    }
    const auto state = stateOf(answer, where);
    if (!state)
        return fail(state.error());
    const std::string &status = answer.items[0].text;
    reply.record = recordOf(lease, keys.key(lease.name()), *state);
    reply.serverTime = wall(state->nowUs);
    if (status == "vacant")
        return fail(
            ErrorKind::NotFound, "Nobody holds this lease", where, "There is nothing to give back");
    if (status == "lost")
        reply.outcome = Outcome::Lost;
    else if (status == "conflict")
        reply.outcome = Outcome::Conflict;
    else if (status == "refused" || status == "barred" || status == "guarded" || status == "out")
        explainRefusal(reply, status, *state, barrier);
    else if (status == "renewed" && reply.record.stepDownAsked)
        reply.stepDown = Milliseconds(static_cast<std::int64_t>(state->number(Field::AskMs)));
    return reply;
}

Result<Reply> remainingReply(
    const LeaseId &lease, const RespValue &answer, const std::string &where)
{
    if (answer.isError())
        return fail(errorOf(answer.text, where));
    Reply reply;
    reply.record.lease = lease;
    if (answer.number == -2)
        return reply;
    reply.record.holder = std::string(); // somebody; PTTL does not tell who
    if (answer.number >= 0) {
        // PTTL is whole milliseconds and up to one too many: whoever waits for the end comes early
        // rather than late, and an acquire that was early is told the rest to the microsecond.
        reply.record.remaining = Milliseconds(std::max<std::int64_t>(answer.number - 1, 0));
        reply.retryIn = reply.record.remaining;
    } else {
        reply.record.note = "no expiry: a leaked lock";
    }
    return reply;
}

Result<LeaseRecord> readOther(
    RespConnection &connection, const LeaseId &lease, const std::string &key, Instant deadline)
{
    Pipeline pipeline;
    pipeline.add({"TYPE", key});
    pipeline.add({"PTTL", key});
    pipeline.add({"HSCAN", key, "0", "COUNT", "4"});
    pipeline.add({"LRANGE", redissonName("redisson_lock_queue", key), "0", "99"});
    pipeline.add({"GET", redissonName("redisson_lock_token", key)});
    const auto answers = connection.ask(pipeline, deadline);
    if (!answers)
        return fail(answers.error());
    const RespValue &scan = answers->at(2);
    if (scan.items.size() == 2) {
        const RespValue &token = answers->at(4);
        auto record = redissonRecord(lease, scan.items[1].items, answers->at(1).number,
            answers->at(3).items, token.isString() ? std::optional(token.text) : std::nullopt);
        if (record)
            return *std::move(record);
    }
    return fail(ErrorKind::BadConfig,
        "There is a key of type " + answers->front().text + " under this name",
        connection.display(), "Choose another lease name or prefix; nothing was overwritten");
}

} // namespace tenure::redis
