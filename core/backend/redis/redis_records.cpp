// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_records.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <charconv>

namespace tenure::redis
{
namespace
{

std::uint64_t numberOf(std::string_view text)
{
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<WallTime> wallOf(std::uint64_t us)
{
    if (us == 0)
        return std::nullopt;
    return WallTime(std::chrono::microseconds(static_cast<std::int64_t>(us)));
}

/// Fills in what the companion knows of the term that the key shows.
void describeTerm(LeaseRecord &record, const LeaseState &state)
{
    record.ttl = Milliseconds(static_cast<std::int64_t>(state.number(Field::TtlMs)));
    record.acquiredAt = wallOf(state.number(Field::AcquiredUs));
    record.renewedAt = wallOf(state.number(Field::RenewedUs));
    record.stepDownAsked = !state.text(Field::AskNonce).empty()
        && state.text(Field::AskNonce) == state.text(Field::Nonce);
}

void describeVacancy(LeaseRecord &record, const LeaseState &state)
{
    record.released = state.text(Field::Released) == "1";
    if (record.released || state.nowUs == 0 || state.value)
        return;
    const auto ends = static_cast<std::int64_t>(
        state.number(Field::RenewedUs) + state.number(Field::TtlMs) * 1000);
    if (ends > state.nowUs) {
        record.note = "its key was deleted before the term's end: nobody may take it for another "
            + durationText(std::chrono::microseconds(ends - state.nowUs));
    }
}

void describeForeign(LeaseRecord &record, std::string_view key, const LeaseState &state)
{
    const std::string &value = *state.value;
    record.kind = foreignKind(key, value, state.pttl).value_or("token");
    record.token = {};
    record.transitions.reset();
    record.holder = value;
    if (record.kind != "shedlock")
        return;
    // ADDED:<ISO time>@<host>:<uuid>; the host is the holder.
    const std::size_t at = value.find('@');
    const std::size_t colon = value.rfind(':');
    if (at != std::string::npos) {
        record.holder = value.substr(at + 1, colon > at ? colon - at - 1 : std::string::npos);
        record.note
            = "acquired " + printable(value.substr(6, at - 6), 40) + " by its holder's clock";
    }
}

} // namespace

std::uint64_t LeaseState::number(Field field) const
{
    return numberOf(text(field));
}

std::optional<Duration> LeaseState::remaining() const
{
    if (pttl < 0)
        return std::nullopt;
    return std::max<Duration>(
        std::chrono::microseconds(pttl * 1000 - nowUs % 1000), Duration::zero());
}

void LeaseState::setFields(std::span<const RespValue> values)
{
    for (std::size_t i = 0; i < fields.size() && i < values.size(); ++i) {
        if (values[i].isString())
            fields[i] = values[i].text;
        else
            fields[i].reset();
    }
}

std::optional<OwnValue> ownValue(std::string_view value)
{
    const std::size_t hash = value.rfind('#');
    if (hash == std::string_view::npos || hash == 0)
        return std::nullopt;
    const auto nonce = Nonce::parse(value.substr(hash + 1));
    if (!nonce)
        return std::nullopt;
    return OwnValue{std::string(value.substr(0, hash)), *nonce};
}

std::string valueText(const std::string &holder, const Nonce &nonce)
{
    return holder + '#' + nonce.hex();
}

LeaseRecord recordOf(const LeaseId &lease, std::string_view key, const LeaseState &state)
{
    LeaseRecord record;
    record.lease = lease;
    record.token.value = state.number(Field::Token);
    record.transitions = state.number(Field::Transitions);
    if (!state.held()) {
        describeVacancy(record, state);
        return record;
    }
    record.raw = state.value->substr(0, kMaxValueBytes);
    record.remaining = state.remaining();
    if (!record.remaining)
        record.note = "no expiry: a leaked lock";
    const bool cut = state.value->size() > kMaxValueBytes;
    if (!cut)
        record.version = *state.value;
    else
        record.note = "the value is longer than 4 KiB: not a lock";
    const auto own = cut ? std::nullopt : ownValue(*state.value);
    if (!own) {
        describeForeign(record, key, state);
        if (cut)
            record.holder = record.raw;
        return record;
    }
    const bool sameTerm = own->nonce.hex() == state.text(Field::Nonce);
    if (sameTerm && !state.text(Field::HoldBy).empty()) {
        record.hold = OperatorHold{state.text(Field::HoldBy),
            std::chrono::ceil<Milliseconds>(record.remaining.value_or(Duration::zero()))};
        record.remaining.reset();
        return record;
    }
    record.holder = own->holder;
    record.nonce = own->nonce;
    if (sameTerm) {
        describeTerm(record, state);
    } else {
        record.token = {};
        record.note = "its companion hash is missing or tells of another term";
    }
    return record;
}

} // namespace tenure::redis
