// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/postgres/pg_epoch.h"
#include "core/backend/postgres/pg_foreign_view.h"
#include "core/backend/postgres/pg_rows.h"
#include "core/backend/store.h"

#include <memory>

namespace tenure::postgres
{

/// What the stores and feeds of one backend share.
struct Shared {
    explicit Shared(Settings s) : settings(std::move(s)), statements(settings.schema) { }
    const Settings settings;
    const Statements statements;
    EpochWatch epoch;
};

/// How long an acquire may wait in the server: half the time until the deadline at most, the rest is for its
/// answer.
[[nodiscard]] Milliseconds waitWithin(Instant deadline, Milliseconds wish);

/// LeaseStore on our table: all commands of a kind in a batch are one statement over arrays, which
/// compares and sets by the server's clock. A release or an acquire that comes alone is tried with a quicker
/// one first. Looking makes nothing.
class PgStore final : public LeaseStore
{
public:
    PgStore(std::shared_ptr<Shared> shared, StoreTraits traits);
    ~PgStore() override;

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override;
    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override;
    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override;
    /// Connects, and has the server plan what a candidate will need, which it does when a statement is
    /// first used on a session: a release or a first renewal has no time for that. Over a slow line, where
    /// planning matters little and connecting much, it keeps a second session ready instead.
    bool idle(Instant deadline, const std::atomic<bool> &cancelled) override;
    /// True when it connected now: there was no session.
    bool connectAhead(Instant deadline, const std::atomic<bool> &cancelled);

private:
    struct Batch;
    using Indices = std::vector<std::size_t>;

    [[nodiscard]] Result<void> connect(Instant deadline, const std::atomic<bool> *cancelled = nullptr);
    void standBy(Instant deadline, const std::atomic<bool> &cancelled);
    [[nodiscard]] bool lineIsSlow() const;
    void runRound(Batch &batch, std::size_t round);
    void runVerb(Batch &batch, const Indices &which);
    void runReads(Batch &batch, const Indices &which);
    void readForeign(Batch &batch, const Indices &which);
    void failAll(Batch &batch, const Indices &which, const Error &error);
    void repeatMissing(Batch &batch, const Indices &which);
    void answer(Batch &batch, std::size_t index, const Answered &answered);
    void answerAcquire(Batch &batch, std::size_t index, const Answered &answered);
    [[nodiscard]] Result<Reply> operate(const Operate &command, Instant deadline);
    [[nodiscard]] Result<Reply> operateOurs(const Operate &command, Instant deadline);
    [[nodiscard]] Result<Reply> list(const List &command, Instant deadline);
    [[nodiscard]] Result<Reply> listOurs(const List &command, Instant deadline);
    [[nodiscard]] PgValue latestNow(Milliseconds ttl, Milliseconds wait) const;
    [[nodiscard]] Result<PgRows> askQuickly(const Command &command, Instant deadline);
    [[nodiscard]] Result<PgRows> ask(
        const std::string &sql, std::vector<PgValue> values, Instant deadline);

    const std::shared_ptr<Shared> m_shared;
    const StoreTraits m_traits;
    std::unique_ptr<PgConnection> m_connection;
    std::unique_ptr<PgConnection> m_spare; ///< takes its place when it breaks, over a slow line
    Instant m_spareNotBefore; ///< the server wanted no second session
    Duration m_connectTook{}; ///< until a session could be used, the last time
    bool m_competes = false; ///< this store is a candidate's
    bool m_fresh = false; ///< connected since the last batch began
    std::size_t m_planned = 0; ///< on this connection, of what idle() plans
    Milliseconds m_usualLimit{1000}; ///< what an attempt of this candidate may take
    ForeignView m_foreign; ///< what other people's libraries keep there
};

} // namespace tenure::postgres
