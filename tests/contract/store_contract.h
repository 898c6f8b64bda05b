// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

#include <QObject>

#include <memory>
#include <string>

namespace tenure
{

/// One place of leases under test, fresh for each test function; destruction ends its server.
class ContractFixture
{
public:
    ContractFixture() = default;
    ContractFixture(const ContractFixture &) = delete;
    ContractFixture &operator=(const ContractFixture &) = delete;
    virtual ~ContractFixture() = default;
    [[nodiscard]] virtual std::shared_ptr<const Backend> backend() = 0;
    /// Lets this much of the server's time pass: waits, unless the clock is the test's own.
    virtual void pass(Duration time);
    /// Makes the server lose everything that it kept, or returns false where that cannot be.
    virtual bool restartEmpty() { return false; }
    /// A ttl to wait for the end of.
    [[nodiscard]] virtual Milliseconds shortTtl() const { return Milliseconds(300); }
    /// Why this place cannot do what the test of that name asks; empty when it can.
    [[nodiscard]] virtual std::string whyNot(std::string_view /*test*/) const { return {}; }
    /// Whether acquires say that they think the lease free; rightly or not, they are answered alike.
    [[nodiscard]] virtual bool thinksFree() const { return false; }
    /// Whether records name those whose acquire was refused.
    [[nodiscard]] virtual bool showsCandidates() const { return false; }
};

/// What every backend promises through LeaseStore and LeaseFeed (core/backend/store.h), as tests that a
/// derived Qt Test class inherits: `class TstContractX : public StoreContract { Q_OBJECT ... }`.
class StoreContract : public QObject
{
    Q_OBJECT

protected:
    /// Null: skipped, with the reason told by QSKIP in the derived class's initTestCase().
    [[nodiscard]] virtual std::unique_ptr<ContractFixture> makeFixture() = 0;

private Q_SLOTS:
    void init();
    void cleanup();
    // store_contract.cpp: terms
    void unknownLeaseIsVacant();
    void acquireGrantsToOneOnly();
    void acquireIsIdempotentPerNonce();
    void acquireOfAnotherNonceIsRefused();
    void renewExtendsItsTerm();
    void renewComparesEverything_data();
    void renewComparesEverything();
    void renewAfterExpiryIsLostAndMakesNothing();
    void lateRenewAndReleaseLeaveTheSuccessorAlone();
    void releaseComparesEverything_data();
    void releaseComparesEverything();
    void releaseWithoutTokenComparesHolderAndNonce();
    void releaseFreesAtOnceAndOnlyOnce();
    void tokensGrowOverReleaseExpiryAndTakeOver();
    void tokensGrowAndNobodyActsAfterARestartWithNothing();
    void impossibleTtlsAreRefused_data();
    void impossibleTtlsAreRefused();
    // store_contract_operator.cpp: operators
    void askReachesTheHolderAndKeepsItOut();
    void holdStopsEverybodyAndEnds();
    void holdLastsAsLongAsItsVictimMayBelieve();
    void clearFreesAtOnce();
    void clearEndsAHold();
    void operateOnSomethingElseIsAConflict_data();
    void operateOnSomethingElseIsAConflict();
    void operateOnNothingIsAConflict();
    // store_contract_places.cpp: names, lists, batches, races, feed
    void namesAreKeptAsTheyAre_data();
    void namesAreKeptAsTheyAre();
    void prefixesAreApart();
    void listPagesAndFilters();
    void readingChangesNothing();
    void batchKeepsOrderAndCount();
    void refusedAreShownAsCandidates();
    void oneWinnerOfARace();
    void probeTellsFacts();
    void feedTellsAReleaseAndStops();

private:
    [[nodiscard]] Reply run(const Command &command);
    [[nodiscard]] Reply run(LeaseStore &store, const Command &command);
    [[nodiscard]] Term gain(const LeaseId &lease, const char *holder, Milliseconds ttl);
    [[nodiscard]] LeaseRecord read(const LeaseId &lease);
    [[nodiscard]] std::vector<LeaseRecord> listAll(const std::string &glob, std::size_t pageSize = 1000);

    std::unique_ptr<ContractFixture> m_fixture;
    std::shared_ptr<const Backend> m_backend;
    std::unique_ptr<LeaseStore> m_store;
};

inline constexpr Milliseconds kLongTtl{30000};

[[nodiscard]] LeaseId leaseNamed(std::string_view name);
[[nodiscard]] HolderId holderNamed(std::string_view name);
[[nodiscard]] Instant soon(); ///< a deadline that no working backend needs

} // namespace tenure
