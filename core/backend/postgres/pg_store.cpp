// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_store.h"

#include "core/backend/postgres/pg_errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <unordered_map>

namespace tenure::postgres
{
namespace
{

bool isWrite(const Command &command)
{
    return !std::holds_alternative<Read>(command) && !std::holds_alternative<List>(command);
}

Milliseconds until(Instant deadline)
{
    return std::max(Milliseconds(0), std::chrono::floor<Milliseconds>(deadline - BootClock::now()));
}

/// How long the server may wait for a lock, so that its answer is still in time for us.
std::string lockBudget(Instant deadline)
{
    const Milliseconds left = until(deadline);
    const auto budget = left - std::min<Milliseconds>(left / 5, Milliseconds(50));
    return std::to_string(std::max<std::int64_t>(1, budget.count())) + "ms";
}

/// What a verb says of one lease, for the arrays of its statement.
struct Wanted {
    const LeaseId *lease = nullptr;
    std::string_view holder;
    Nonce nonce;
    Milliseconds ttl{};
    FencingToken token;
    Milliseconds awaitEnd{};
};

Wanted wantedBy(const Command &command)
{
    if (const auto *acquire = std::get_if<Acquire>(&command))
        return {&acquire->lease, acquire->holder.name(), acquire->nonce, acquire->ttl, {}, acquire->awaitEnd};
    if (const auto *renew = std::get_if<Renew>(&command)) {
        const Term &term = renew->term;
        // No term has token 0, and none may match it here.
        const FencingToken token{term.token ? term.token.value : UINT64_MAX >> 1U};
        return {&renew->lease, term.holder.name(), term.nonce, renew->ttl, token};
    }
    const auto &release = std::get<Release>(command);
    const Term &term = release.term;
    return {&release.lease, term.holder.name(), term.nonce, Milliseconds(1), term.token};
}

/// Of somebody else's format: its name is whatever that table says.
bool isForeign(const Command &command)
{
    if (const auto *operate = std::get_if<Operate>(&command))
        return operate->kind != "tenure";
    const auto *read = std::get_if<Read>(&command);
    return read != nullptr && read->depth == ReadDepth::Full
        && ForeignView::isForeignName(read->lease.name());
}

/// The values $1 to $6 of a verb's statement (resources/sql/locked.sql).
struct Arrays {
    PgArray names, holders, nonces, ttls, tokens;
    Milliseconds shortest = Milliseconds::max();
    Milliseconds longest{0};
    Milliseconds awaitEnd{0}; ///< of the acquire that waits longest

    void add(const Wanted &wanted)
    {
        awaitEnd = std::max(awaitEnd, wanted.awaitEnd);
        names.add(wanted.lease->name());
        holders.add(wanted.holder);
        nonces.add(wanted.nonce.hex());
        ttls.add(wanted.ttl.count());
        tokens.add(storedToken(wanted.token));
        shortest = std::min(shortest, wanted.ttl);
        longest = std::max(longest, wanted.ttl);
    }
    [[nodiscard]] std::vector<PgValue> values(Instant deadline) const
    {
        return {lockBudget(deadline - waitWithin(deadline, awaitEnd)), names.text(), holders.text(),
            nonces.text(), ttls.text(), tokens.text()};
    }
};

/// A value that no statement could carry as it is.
std::optional<Error> nameProblem(const Command &command, const std::string &where)
{
    std::optional<Error> error;
    const LeaseId *lease = leaseOf(command);
    if (lease != nullptr && !isForeign(command)) {
        if (auto parsed = LeaseId::parse(lease->name()); !parsed)
            error = std::move(parsed.error());
    }
    const auto *operate = std::get_if<Operate>(&command);
    if (!error && operate != nullptr
        && (!isUtf8(operate->by) || operate->by.find('\0') != std::string::npos))
        error = fail(ErrorKind::BadConfig, "The operator's name is not UTF-8 without NUL").value();
    if (error)
        error->where = where;
    return error;
}

} // namespace

Milliseconds waitWithin(Instant deadline, Milliseconds wish)
{
    return std::min(wish, until(deadline) / 2);
}

/// One execute() under way.
struct PgStore::Batch {
    std::span<const Command> commands;
    Instant deadline;
    Milliseconds allowed{}; ///< until the deadline, when it began
    std::vector<std::optional<Result<Reply>>> results;
    std::vector<std::size_t> rounds; ///< of each command: commands of one lease stay in order
    int repeats = 0; ///< of acquires whose row came into being meanwhile
    std::optional<Error> over; ///< the connection broke: what follows is not sent
};

PgStore::PgStore(std::shared_ptr<Shared> shared, StoreTraits traits)
    : m_shared(std::move(shared)), m_traits(std::move(traits)),
      m_foreign(m_shared->settings.roleNames, m_shared->settings.schema, m_traits.display)
{
}

PgStore::~PgStore() = default;

Result<PgRows> PgStore::ask(const std::string &sql, std::vector<PgValue> values, Instant deadline)
{
    const Instant asked = BootClock::now();
    auto rows = m_connection->ask(sql, values, deadline);
    if (rows && rows->size() > 0 && !m_connection->server().standby)
        m_shared->epoch.sample(asked, BootClock::now(), answeredAt(*rows, 0).at.wall);
    return rows;
}

std::vector<Result<Reply>> PgStore::execute(std::span<const Command> commands, Instant deadline)
{
    if (commands.empty())
        return {};
    const Instant began = BootClock::now();
    Batch batch{commands, deadline, std::chrono::ceil<Milliseconds>(deadline - began), {},
        std::vector<std::size_t>(commands.size()), 0, {}};
    batch.results.resize(commands.size());
    if (std::ranges::any_of(commands, [](const Command &c) { return std::holds_alternative<Acquire>(c); })) {
        m_competes = true;
        m_usualLimit = batch.allowed;
    }
    std::unordered_map<std::string_view, std::size_t> next;
    std::size_t last = 0;
    std::size_t barrier = 0; // a list sees all before it
    for (std::size_t i = 0; i < commands.size(); ++i) {
        Command checked = commands[i];
        if (auto *operate = std::get_if<Operate>(&checked))
            operate->kind = "tenure"; // what others keep is checked where it is operated on
        auto problem = problemOf(checked, m_traits.limits, m_traits.display);
        if (!problem)
            problem = nameProblem(commands[i], m_traits.display);
        if (problem)
            batch.results[i] = fail(*std::move(problem));
        const LeaseId *lease = leaseOf(commands[i]);
        const std::size_t round
            = lease != nullptr ? std::max(next[lease->name()], barrier) : (barrier = last + 1);
        batch.rounds[i] = round;
        if (lease != nullptr)
            next[lease->name()] = round + 1;
        else
            ++barrier;
        last = std::max(last, round);
    }
    if (auto connected = connect(deadline); !connected)
        batch.over = std::move(connected.error());
    const Duration settingUp = m_fresh ? BootClock::now() - began : Duration();
    m_fresh = false;
    for (std::size_t round = 0; round <= last; ++round)
        runRound(batch, round);
    std::vector<Result<Reply>> out;
    out.reserve(commands.size());
    for (auto &result : batch.results) {
        if (!*result && result->error().recovery == Recovery::Reconnect && m_connection && m_connection->usable()) {
            m_connection.reset(); // a standby and the like: look for the primary again
            m_spare.reset();
        }
        out.push_back(*std::move(result));
        if (out.back())
            out.back()->settingUp = settingUp;
    }
    if (m_connection && !m_connection->usable())
        m_connection.reset();
    return out;
}

void PgStore::runRound(Batch &batch, std::size_t round)
{
    Indices acquires;
    Indices awaiting;
    Indices renews;
    Indices releases;
    Indices reads;
    Indices singles;
    for (std::size_t i = 0; i < batch.commands.size(); ++i) {
        if (batch.rounds[i] != round || batch.results[i])
            continue;
        const Command &command = batch.commands[i];
        const auto *acquire = std::get_if<Acquire>(&command);
        Indices &where = acquire != nullptr ? (acquire->awaitEnd > Milliseconds::zero() ? awaiting : acquires)
            : std::holds_alternative<Renew>(command)              ? renews
            : std::holds_alternative<Release>(command)            ? releases
            : std::holds_alternative<Read>(command)               ? reads
                                                                  : singles;
        where.push_back(i);
    }
    // Renewals first: they are what must not be late.
    for (const Indices *which : {&renews, &releases, &acquires})
        runVerb(batch, *which);
    runReads(batch, reads);
    runVerb(batch, awaiting);
    for (const std::size_t i : singles) {
        if (batch.over) {
            batch.results[i] = fail(*batch.over);
            continue;
        }
        const auto *wanted = std::get_if<List>(&batch.commands[i]);
        auto reply = wanted != nullptr
            ? list(*wanted, batch.deadline)
            : operate(std::get<Operate>(batch.commands[i]), batch.deadline);
        if (reply)
            batch.results[i] = std::move(reply);
        else
            failAll(batch, {i}, reply.error());
    }
}

/// Of what may have been carried out nobody knows; what was refused as a whole is told as it is.
void PgStore::failAll(Batch &batch, const Indices &which, const Error &error)
{
    const bool unknown = m_connection->lastAnswer() == PgConnection::Answer::Unknown;
    if (!m_connection->usable())
        batch.over = error;
    for (const std::size_t i : which) {
        Error each = error;
        if (unknown && isWrite(batch.commands[i])) {
            each.kind = ErrorKind::OutcomeUnknown;
            each.what = "It is not known whether it was carried out: " + error.what;
        }
        batch.results[i] = fail(std::move(each));
    }
}

/// The latest that the server's clock can plausibly show when an acquire that waits there is judged, in us.
PgValue PgStore::latestNow(Milliseconds ttl, Milliseconds wait) const
{
    const auto latest = m_shared->epoch.latestPlausible(ttl);
    return latest ? PgValue(std::to_string((*latest + wait).time_since_epoch().count())) : PgValue();
}

void PgStore::runVerb(Batch &batch, const Indices &which)
{
    if (which.empty())
        return;
    if (batch.over) {
        for (const std::size_t i : which)
            batch.results[i] = fail(*batch.over);
        return;
    }
    const Command &first = batch.commands[which.front()];
    if (which.size() == 1) {
        const auto quick = askQuickly(first, batch.deadline);
        if (!quick)
            return failAll(batch, which, quick.error());
        if (quick->size() == 1)
            return answer(batch, which.front(), answeredAt(*quick, 0));
    }
    const bool acquires = std::holds_alternative<Acquire>(first);
    Arrays arrays;
    std::unordered_map<std::string_view, std::size_t> indexOf;
    for (const std::size_t i : which) {
        arrays.add(wantedBy(batch.commands[i]));
        indexOf[leaseOf(batch.commands[i])->name()] = i;
    }
    std::vector<PgValue> values = arrays.values(batch.deadline);
    const Milliseconds wait = waitWithin(batch.deadline, arrays.awaitEnd);
    const bool awaits = arrays.awaitEnd > Milliseconds::zero();
    if (acquires) {
        values.emplace_back(m_shared->epoch.barrier(arrays.longest) ? "t" : "f");
        values.push_back(latestNow(arrays.shortest, wait));
    }
    if (awaits)
        values.emplace_back(std::to_string(wait.count()));
    const Statements &sql = m_shared->statements;
    const auto rows = ask(awaits                   ? sql.awaitingAcquire
            : acquires                             ? sql.acquire
            : std::holds_alternative<Renew>(first) ? sql.renew
                                                   : sql.release,
        std::move(values), batch.deadline);
    if (!rows) {
        const bool one = which.size() == 1;
        if (!one && m_connection->usable() && isDataError(m_connection->lastSqlstate())) {
            for (const std::size_t i : which) // only the one that carries such a value must fail
                runVerb(batch, {i});
            return;
        }
        return failAll(batch, which, rows.error());
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        const Answered answered = answeredAt(*rows, row);
        answer(batch, indexOf.at(answered.name), answered);
    }
    repeatMissing(batch, which);
}

/// Leases without a row: a term that never was; or one that somebody made while our statement ran.
void PgStore::repeatMissing(Batch &batch, const Indices &which)
{
    for (const std::size_t i : which) {
        if (batch.results[i])
            continue;
        const auto *acquire = std::get_if<Acquire>(&batch.commands[i]);
        Reply reply;
        reply.record.lease = *leaseOf(batch.commands[i]);
        if (acquire == nullptr) {
            reply.outcome = Outcome::Lost;
            batch.results[i] = std::move(reply);
        } else if (const auto barrier = m_shared->epoch.barrier(acquire->ttl)) {
            reply.outcome = Outcome::Refused;
            reply.epochBarrier = true;
            reply.retryIn = *barrier;
            batch.results[i] = std::move(reply);
        } else if (batch.repeats < 100) {
            ++batch.repeats;
            runVerb(batch, {i}); // its row is there by now
        } else {
            batch.results[i] = fail(
                ErrorKind::Unavailable, "The row of this lease comes and goes", m_traits.display);
        }
    }
}

void PgStore::answer(Batch &batch, std::size_t index, const Answered &answered)
{
    const Command &command = batch.commands[index];
    if (std::holds_alternative<Acquire>(command))
        return answerAcquire(batch, index, answered);
    const LeaseId &lease = *leaseOf(command);
    if (std::holds_alternative<Release>(command)) {
        batch.results[index] = replyOf(
            answered, lease, answered.verdict == "released" ? Outcome::Done : Outcome::Lost);
        return;
    }
    const bool renewed = answered.verdict == "renewed";
    Reply reply = replyOf(answered, lease, renewed ? Outcome::Done : Outcome::Lost,
        renewed ? ReadDepth::Remaining : ReadDepth::Full);
    if (renewed && answered.row.asked)
        reply.stepDown = answered.row.askedFor;
    batch.results[index] = std::move(reply);
}

void PgStore::answerAcquire(Batch &batch, std::size_t index, const Answered &answered)
{
    const auto &command = std::get<Acquire>(batch.commands[index]);
    const bool done = answered.verdict == "granted" || answered.verdict == "again";
    Reply reply = replyOf(answered, command.lease, done ? Outcome::Done : Outcome::Refused);
    if (!done)
        reply.retryIn = answered.retryIn;
    if (answered.verdict == "barred" || answered.verdict == "jumped") {
        // The answer's own time was sampled: a real step has raised the barrier by now.
        const auto barrier = m_shared->epoch.barrier(command.ttl);
        reply.epochBarrier = barrier.has_value();
        reply.retryIn = barrier.value_or(Milliseconds(1));
    }
    batch.results[index] = std::move(reply);
}

void PgStore::readForeign(Batch &batch, const Indices &which)
{
    if (which.empty())
        return;
    std::vector<LeaseId> names;
    names.reserve(which.size());
    for (const std::size_t i : which)
        names.push_back(*leaseOf(batch.commands[i]));
    auto replies = m_foreign.read(*m_connection, names, batch.deadline);
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (!replies[i] && !m_connection->usable())
            batch.over = replies[i].error();
        const bool found
            = !replies[i] || !replies[i]->record.raw.empty() || !replies[i]->record.facts.empty();
        if (found || !LeaseId::parse(names[i].name()))
            batch.results[which[i]] = std::move(replies[i]);
    }
}

void PgStore::runReads(Batch &batch, const Indices &which)
{
    if (which.empty())
        return;
    if (batch.over) {
        for (const std::size_t i : which)
            batch.results[i] = fail(*batch.over);
        return;
    }
    PgArray names;
    std::unordered_map<std::string_view, std::size_t> indexOf;
    Indices foreign;
    for (const std::size_t i : which) {
        const LeaseId &lease = *leaseOf(batch.commands[i]);
        if (isForeign(batch.commands[i])) {
            foreign.push_back(i);
            continue;
        }
        names.add(lease.name());
        indexOf[lease.name()] = i;
    }
    readForeign(batch, foreign);
    for (const std::size_t i : foreign) { // it may be ours that is only called so
        const LeaseId &lease = *leaseOf(batch.commands[i]);
        if (!batch.results[i]) {
            names.add(lease.name());
            indexOf[lease.name()] = i;
        }
    }
    if (indexOf.empty())
        return;
    Indices ours;
    for (const auto &[name, i] : indexOf)
        ours.push_back(i);
    if (batch.over)
        return failAll(batch, ours, *batch.over);
    const auto rows = ask(m_shared->statements.read, {names.text()}, batch.deadline);
    const std::string &state = m_connection->lastSqlstate();
    if (!rows && state != "42P01" && state != "3F000") // no table: nobody holds anything
        return failAll(batch, ours, rows.error());
    for (std::size_t row = 0; rows && row < rows->size(); ++row) {
        const Answered answered = answeredAt(*rows, row);
        const std::size_t i = indexOf.at(answered.name);
        const auto &read = std::get<Read>(batch.commands[i]);
        batch.results[i] = replyOf(answered, read.lease, Outcome::Done, read.depth);
    }
    for (const std::size_t i : which) {
        if (batch.results[i])
            continue;
        Reply vacant;
        vacant.record.lease = *leaseOf(batch.commands[i]);
        batch.results[i] = std::move(vacant);
    }
}

} // namespace tenure::postgres
