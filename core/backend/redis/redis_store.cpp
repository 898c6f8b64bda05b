// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_store.h"

#include "core/backend/lease_row.h"
#include "core/backend/redis/redis_discovery.h"
#include "core/backend/redis/redis_errors.h"

#include <algorithm>

namespace tenure::redis
{

/// One execute() under way.
struct RedisStore::Batch {
    struct Slot {
        std::size_t first = 0; ///< of its answers
        std::size_t count = 0; ///< 0: not in the pipeline
        ScriptCall call;
        std::optional<Duration> barrier;
    };
    std::span<const Command> commands;
    Instant deadline;
    std::vector<std::optional<Result<Reply>>> results;
    std::vector<Slot> slots;
    std::vector<RespValue> answers;
    bool timed = false; ///< TIME stands first
    bool waits = false; ///< WAIT stands last
};

RedisStore::RedisStore(
    std::shared_ptr<const Settings> settings, std::shared_ptr<EpochWatch> epoch, StoreTraits traits)
    : m_settings(std::move(settings)), m_epoch(std::move(epoch)), m_traits(std::move(traits))
{
}

Result<void> RedisStore::connect(Instant deadline)
{
    if (m_connection)
        return {};
    auto connection = connectTo(*m_settings, deadline);
    if (!connection)
        return fail(std::move(connection.error()));
    m_connection = std::move(*connection);
    m_epoch->note(m_connection->info());
    return {};
}

SendAs RedisStore::howToSend(const Script *script)
{
    auto &sent = m_connection->scriptsSent;
    if (std::find(sent.begin(), sent.end(), script) != sent.end())
        return SendAs::Digest;
    sent.push_back(script);
    return SendAs::Text;
}

/// The connection is of no use any more; what has no answer yet may have happened.
void RedisStore::lost(Batch &batch, const Error &cause)
{
    m_connection.reset();
    for (std::size_t i = 0; i < batch.commands.size(); ++i) {
        if (batch.results[i])
            continue;
        Error error = cause;
        if (isWrite(batch.commands[i])) {
            error.kind = ErrorKind::OutcomeUnknown;
            error.what = "It is not known whether it was carried out: " + cause.what;
        }
        batch.results[i] = fail(std::move(error));
    }
}

std::vector<Result<Reply>> RedisStore::execute(std::span<const Command> commands, Instant deadline)
{
    Batch batch;
    batch.commands = commands;
    batch.deadline = deadline;
    batch.results.resize(commands.size());
    batch.slots.resize(commands.size());
    const bool fresh = !m_connection;
    const Instant began = BootClock::now();
    const auto connected = connect(deadline);
    const Duration settingUp = fresh ? BootClock::now() - began : Duration();
    for (std::size_t i = 0; i < commands.size(); ++i) {
        Command checked = commands[i];
        if (auto *operate = std::get_if<Operate>(&checked)) {
            if (operate->verb == OperatorVerb::Ask && operate->kind != "tenure") {
                batch.results[i] = fail(ErrorKind::Unsupported,
                    "A holder of the kind " + operate->kind + " cannot be asked", m_traits.display,
                    "Hold or clear it instead");
            }
            operate->kind = "tenure";
        }
        if (auto problem = problemOf(checked, m_traits.limits, m_traits.display))
            batch.results[i] = fail(*std::move(problem));
        else if (!connected && !batch.results[i])
            batch.results[i] = fail(connected.error());
    }
    if (connected) {
        runPipeline(batch);
        for (std::size_t i = 0; i < commands.size(); ++i) {
            const auto *list = std::get_if<List>(&commands[i]);
            if (list == nullptr || batch.results[i])
                continue;
            auto page = listPage(*m_connection, *m_settings, *list, deadline);
            if (page)
                batch.results[i] = std::move(page);
            else
                lost(batch, page.error());
        }
    }
    std::vector<Result<Reply>> out;
    out.reserve(commands.size());
    for (auto &result : batch.results) {
        if (!*result && result->error().recovery == Recovery::Reconnect)
            m_connection.reset(); // READONLY and the like: look for the master again
        out.push_back(*std::move(result));
        if (out.back())
            out.back()->settingUp = settingUp;
    }
    return out;
}

void RedisStore::runPipeline(Batch &batch)
{
    Pipeline pipeline;
    batch.timed = std::any_of(batch.commands.begin(), batch.commands.end(), [](const Command &c) {
        const auto *read = std::get_if<Read>(&c);
        return read != nullptr && read->depth == ReadDepth::Full;
    });
    if (batch.timed)
        pipeline.add({"TIME"});
    bool writes = false;
    for (std::size_t i = 0; i < batch.commands.size(); ++i) {
        const Command &command = batch.commands[i];
        if (batch.results[i] || std::holds_alternative<List>(command))
            continue;
        Batch::Slot &slot = batch.slots[i];
        slot.first = pipeline.count();
        if (const auto *read = std::get_if<Read>(&command)) {
            const std::string key = m_settings->keys.key(read->lease.name());
            if (read->depth == ReadDepth::Remaining)
                pipeline.add({"PTTL", key});
            else
                addFullRead(pipeline, key);
        } else {
            if (const auto *acquire = std::get_if<Acquire>(&command))
                slot.barrier = m_epoch->barrier(m_connection->info(), acquire->ttl);
            slot.call = scriptCall(
                command, m_settings->keys, slot.barrier ? NewTerms::Barred : NewTerms::Allowed);
            add(pipeline, slot.call, howToSend(slot.call.script));
            writes = true;
        }
        slot.count = pipeline.count() - slot.first;
    }
    if (pipeline.count() == (batch.timed ? 1U : 0U))
        return;
    if (writes && m_settings->waitReplicas > 0) {
        const auto left
            = std::chrono::duration_cast<Milliseconds>(batch.deadline - BootClock::now());
        const std::string ms = std::to_string(std::max<std::int64_t>(1, left.count() * 3 / 4));
        pipeline.add({"WAIT", std::to_string(m_settings->waitReplicas), ms});
        batch.waits = true;
    }
    auto answers = m_connection->ask(pipeline, batch.deadline);
    if (!answers)
        return lost(batch, answers.error());
    batch.answers = std::move(*answers);
    repeatUnknownScripts(batch);
    if (m_connection)
        decode(batch);
    if (m_connection)
        readAgain(batch);
}

/// NOSCRIPT (SCRIPT FLUSH, a restart): the text itself, within the same call.
void RedisStore::repeatUnknownScripts(Batch &batch)
{
    Pipeline pipeline;
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < batch.slots.size(); ++i) {
        const Batch::Slot &slot = batch.slots[i];
        if (slot.call.script == nullptr || !batch.answers[slot.first].isError()
            || !isNoScript(batch.answers[slot.first].text))
            continue;
        add(pipeline, slot.call, SendAs::Text);
        repeated.push_back(slot.first);
    }
    if (repeated.empty())
        return;
    auto answers = m_connection->ask(pipeline, batch.deadline);
    if (!answers)
        return lost(batch, answers.error());
    for (std::size_t i = 0; i < repeated.size(); ++i)
        batch.answers[repeated[i]] = std::move((*answers)[i]);
}

void RedisStore::decode(Batch &batch)
{
    const std::int64_t now = batch.timed ? timeOf(batch.answers.front()) : 0;
    const bool tooFew = batch.waits
        && batch.answers.back().number < static_cast<std::int64_t>(m_settings->waitReplicas);
    for (std::size_t i = 0; i < batch.commands.size(); ++i) {
        const Batch::Slot &slot = batch.slots[i];
        if (slot.count == 0)
            continue;
        const Command &command = batch.commands[i];
        const RespValue &answer = batch.answers[slot.first];
        if (slot.call.script != nullptr) {
            auto reply = replyOf(command, m_settings->keys, answer, slot.barrier, m_traits.display);
            const bool grant = std::holds_alternative<Acquire>(command)
                || std::holds_alternative<Renew>(command);
            if (tooFew && grant && reply && reply->outcome == Outcome::Done) {
                batch.results[i]
                    = fail(ErrorKind::OutcomeUnknown, "Too few replicas have confirmed the write",
                        m_traits.display, "Look at the replicas or lower waitReplicas");
            } else {
                batch.results[i] = std::move(reply);
            }
        } else if (slot.count == 1) {
            batch.results[i] = remainingReply(*leaseOf(command), answer, m_traits.display);
        } else {
            const auto state = fullState(
                std::span(batch.answers).subspan(slot.first, slot.count), now, m_traits.display);
            if (!state) {
                batch.results[i] = fail(state.error());
                continue;
            }
            Reply reply;
            reply.serverTime = WallTime(std::chrono::microseconds(now));
            const LeaseId &lease = *leaseOf(command);
            reply.record = recordOf(lease, m_settings->keys.key(lease.name()), *state);
            batch.results[i] = std::move(reply);
        }
    }
}

/// What one pipeline could not tell: keys of another type, and Redisson locks after a write by
/// hand.
void RedisStore::readAgain(Batch &batch)
{
    for (std::size_t i = 0; i < batch.commands.size(); ++i) {
        const Batch::Slot &slot = batch.slots[i];
        if (slot.count == 0 || !m_connection)
            continue;
        const bool otherType = slot.count == 3 && batch.answers[slot.first].isError()
            && batch.results[i]->error().kind == ErrorKind::BadConfig;
        const bool redisson = slot.call.script == &kRedissonScript && batch.results[i]->has_value();
        if (!otherType && !redisson)
            continue;
        const LeaseId &lease = *leaseOf(batch.commands[i]);
        auto record
            = readOther(*m_connection, lease, m_settings->keys.key(lease.name()), batch.deadline);
        if (record) {
            Reply reply = redisson ? **batch.results[i] : Reply();
            reply.record = std::move(*record);
            batch.results[i] = std::move(reply);
        } else if (record.error().kind != ErrorKind::BadConfig) {
            batch.results[i].reset();
            lost(batch, record.error());
        } else if (otherType) {
            batch.results[i] = fail(std::move(record.error()));
        }
    }
}

Result<StoreFacts> RedisStore::probe(Instant deadline)
{
    if (auto connected = connect(deadline); !connected)
        return fail(std::move(connected.error()));
    Pipeline pipeline;
    pipeline.add({"TIME"});
    const Instant began = BootClock::now();
    const auto answers = m_connection->ask(pipeline, deadline);
    if (!answers) {
        m_connection.reset();
        return fail(answers.error());
    }
    StoreFacts facts;
    facts.roundTrip = BootClock::now() - began;
    if (const std::int64_t now = timeOf(answers->front()))
        facts.serverTime = WallTime(std::chrono::microseconds(now));
    const ServerInfo &info = m_connection->info();
    if (info.known) {
        facts.server = "Redis " + info.version + (info.mode.empty() ? "" : ", " + info.mode);
        facts.epoch = info.runId;
        facts.uptime = info.uptime + (BootClock::now() - info.readAt);
        if (info.mode == "cluster")
            facts.notes.emplace_back("This is a node of a Redis Cluster: only its own slots work.");
    } else {
        facts.server = "Redis";
        facts.epoch = "unknown";
        facts.notes.emplace_back("INFO is forbidden by the server's ACL: a restart that forgot "
                                 "leases cannot be noticed.");
    }
    if (m_settings->waitReplicas == 0) {
        facts.notes.emplace_back(
            "A failover may lose acknowledged writes; waitReplicas=N narrows it.");
    }
    if (!m_settings->endpoints.front().verify)
        facts.notes.emplace_back("The server's certificate is not checked (insecure).");
    return facts;
}

Result<std::string> RedisStore::init(bool /*dryRun*/, Instant /*deadline*/)
{
    return "Nothing needs to be made: keys come into being when a candidate acquires.";
}

} // namespace tenure::redis
