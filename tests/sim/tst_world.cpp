// SPDX-License-Identifier: GPL-3.0-or-later
// Seeded worlds: P1 to P6 after every step of a thousand runs, and planted faults that must be found.
#include "core/sim/world.h"

#include <QTest>

#include <cstdlib>
#include <iostream>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

std::uint64_t environmentNumber(const char *name, std::uint64_t fallback)
{
    bool ok = false;
    const auto value = qEnvironmentVariable(name).toULongLong(&ok);
    return ok ? value : fallback;
}

void printFailure(std::uint64_t seed, const sim::WorldReport &report)
{
    std::cerr << "seed " << seed << ": " << report.violation << "\n";
    for (const std::string &line : report.log)
        std::cerr << "    " << line << "\n";
    std::cerr << "repeat with TENURE_SEED=" << seed << " TENURE_RUNS=1\n";
}

/// Seeds until the first violation, at most `limit`.
std::optional<std::uint64_t> firstViolation(sim::WorldOptions options, std::uint64_t limit)
{
    for (std::uint64_t seed = 1; seed <= limit; ++seed) {
        options.seed = seed;
        if (!sim::World(options).run().violation.empty())
            return seed;
    }
    return std::nullopt;
}

} // namespace

class TestWorld : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void promisesHoldInEveryWorld();
    void quietWorldHasOneTerm();
    void sameSeedSameRun();
    void plantedFaultIsFound_data();
    void plantedFaultIsFound();
};

void TestWorld::promisesHoldInEveryWorld()
{
    const std::uint64_t first = environmentNumber("TENURE_SEED", 1);
    const std::uint64_t runs = environmentNumber("TENURE_RUNS", 1000);
    std::uint64_t grants = 0;
    std::uint64_t faults = 0;
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        sim::WorldOptions options;
        options.seed = seed;
        options.electors = 2 + static_cast<int>(seed % 4);
        const sim::WorldReport report = sim::World(options).run();
        if (!report.violation.empty()) {
            printFailure(seed, report);
            QFAIL(report.violation.c_str());
        }
        grants += report.grants;
        faults += report.faultsInjected;
    }
    // A search that breaks nothing proves nothing: these worlds were in trouble and recovered.
    QVERIFY(grants > 5 * runs);
    QVERIFY(faults > 20 * runs);
}

void TestWorld::quietWorldHasOneTerm()
{
    sim::WorldOptions options;
    options.faults = false;
    options.length = 600s;
    const sim::WorldReport report = sim::World(options).run();
    QCOMPARE(report.violation, std::string());
    QCOMPARE(report.grants, 1U);
    QVERIFY(report.led > report.length - 100ms);
}

void TestWorld::sameSeedSameRun()
{
    sim::WorldOptions options;
    options.seed = 77;
    const sim::WorldReport one = sim::World(options).run();
    const sim::WorldReport two = sim::World(options).run();
    QCOMPARE(one.steps, two.steps);
    QCOMPARE(one.log, two.log);
    QCOMPARE(one.led, two.led);
}

void TestWorld::plantedFaultIsFound_data()
{
    QTest::addColumn<int>("plant");
    QTest::newRow("validity counted from the answer") << int(sim::Plant::ValidityFromReply);
    QTest::newRow("no margin for clock drift") << int(sim::Plant::NoMargin);
    QTest::newRow("deaf to a definite denial") << int(sim::Plant::DeafToDenial);
}

void TestWorld::plantedFaultIsFound()
{
    QFETCH(int, plant);
    sim::WorldOptions options;
    options.plant = sim::Plant(plant);
    const auto seed = firstViolation(options, 1000);
    QVERIFY2(seed.has_value(), "a thousand seeds did not find the planted fault");
}

QTEST_GUILESS_MAIN(TestWorld)
#include "tst_world.moc"
