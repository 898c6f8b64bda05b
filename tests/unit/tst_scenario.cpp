// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario files: what is read, and that every mistake has its line and column.
#include "core/sim/scenario.h"

#include <QTest>

#include <set>

using namespace tenure;
using namespace tenure::sim;
using namespace std::chrono_literals;

namespace
{

const char *kWhole = R"(code: T1
name: whole
title: All there is
teach: Look.
lease: ttl=6s renew=2s deadline=4s
network: latency=0.2ms..2ms drop=1% push=on
instances:
  - A B
  - C client=client_clock
work: items=20 work=lognormal(3.3s,0.8) check=250ms idempotent=on
length: 60s
steps:
  - at 10s pause A 9s
  - at 12s cut A->store for 8s
  - at 30s latency store 0.2s->3s for 15s
  - at 31s skew C +5s
  - at 32s drift A 0.6x for 5s
  - at 40s failover store lag=300ms
  - at 50s release by operator
cards:
  - at 11s card "Who leads?" A B none = B none
expect:
  - transitions == 1
  - time_without_leader in 4.3s..6.8s
  - duplicates >= 1 in 20%..45% of runs
variants:
  - name: plain
  - name: fenced
    work: fencing=on
    expect: unsafe_writes == 0
)";

std::string problemsOf(const std::string &text)
{
    std::string all;
    for (const Problem &problem : parseScenario(text).problems)
        all += problem.text() + "\n";
    return all;
}

} // namespace

class TestScenario : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsAllParts();
    void readsPlainLines();
    void observedChangeIsForSoundClients();
    void mistakes_data();
    void mistakes();
    void allMistakesAtOnce();
    void stepsByHand();
    void catalogueIsSound();
    void unknownNameListsAll();
};

void TestScenario::readsAllParts()
{
    const ParsedScenario parsed = parseScenario(kWhole);
    QCOMPARE(problemsOf(kWhole), std::string());
    QCOMPARE(parsed.scenario.code, std::string("T1"));
    QCOMPARE(parsed.scenario.runs.size(), 2U);
    const Setup &plain = parsed.scenario.runs[0];
    const Setup &fenced = parsed.scenario.runs[1];
    QCOMPARE(plain.lease.ttl, Duration(6s));
    QCOMPARE(plain.instances.size(), 3U);
    QVERIFY(plain.instances[2].client == ClientKind::ClientClock);
    QCOMPARE(plain.network.drop.ppm, 10'000);
    QVERIFY(plain.push);
    QVERIFY(plain.work.fencing == Fencing::Off);
    QVERIFY(fenced.work.fencing == Fencing::On);
    QCOMPARE(fenced.work.items, 20);
    QCOMPARE(plain.steps.size(), 7U);
    QVERIFY(plain.steps[1].way == Step::Way::To);
    QVERIFY(plain.steps[2].rising);
    QCOMPARE(plain.steps[3].amount, Duration(5s));
    QCOMPARE(plain.steps[4].ratePpm, 600'000);
    QCOMPARE(plain.steps[5].amount, Duration(300ms));
    QCOMPARE(plain.expect.size(), 3U);
    QCOMPARE(fenced.expect.size(), 4U);
    QCOMPARE(plain.expect[1].low, Duration(4300ms).count());
    QVERIFY(plain.expect[2].ofRuns == std::pair(20, 45));
    QCOMPARE(parsed.scenario.cards.size(), 1U);
    QCOMPARE(parsed.scenario.cards[0].right.size(), 2U);
}

void TestScenario::readsPlainLines()
{
    const ParsedScenario parsed = parseScenario("# a drill script\n"
                                                "set ttl=6s renew=2s deadline=4s length=30s\n"
                                                "spawn A B C\n"
                                                "queue items=10 work=200ms\n"
                                                "at 10s crash leader\n"
                                                "expect transitions == 1\n"
                                                "variant fencing on\n"
                                                "queue fencing=on\n");
    QVERIFY(parsed.problems.empty());
    QCOMPARE(parsed.scenario.runs.size(), 1U);
    QCOMPARE(parsed.scenario.runs[0].variant, std::string("fencing on"));
}

void TestScenario::observedChangeIsForSoundClients()
{
    const ParsedScenario sound = parseScenario("set ttl=6s clock=observed\nspawn A B\n");
    QVERIFY(sound.problems.empty());
    QCOMPARE(sound.scenario.runs[0].expiry, Expiry::Observed);
    const ParsedScenario specimen = parseScenario("set ttl=6s clock=observed\nspawn A B client=client_clock\n");
    QCOMPARE(specimen.problems.size(), 1U);
    QVERIFY(specimen.problems[0].text().find("clock=observed is for sound clients only") != std::string::npos);
}

void TestScenario::mistakes_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char *line, const char *problem) { QTest::newRow(line) << line << problem; };
    row("at 10s explode A", "line 3, column 8: There is no verb \"explode\"");
    row("at 10s pause X 9s", "line 3, column 14: There is no instance \"X\"");
    row("at ten pause A 9s", "line 3, column 4: \"ten\" is not a duration");
    row("at 10s pause A", "line 3, column 8: Every fault ends");
    row("at 70s crash A", "line 3, column 4: 1 m 10 s is after the end of the run");
    row("at 55s pause A 9s", "line 3, column 4: \"pause A 9s\" would end at 1 m 04 s");
    row("at 10s cut A=store for 3s", "line 3, column 12: A link is written");
    row("at 10s cut A->moon for 3s", "line 3, column 12: A link leads to the store or the queue");
    row("at 10s drop 120% for 3s", "line 3, column 13: 120% is more than all");
    row("at 10s latency store 3s..1s for 5s", "line 3, column 22: \"3s..1s\" goes from more to less");
    row("at 10s drift A 40x", "line 3, column 16: A clock runs at");
    row("at 10s stop A 3s", "line 3, column 8: stop does not last");
    row("spawn A", "line 3, column 7: There is an instance \"A\" already");
    row("spawn D client=clever", "line 3, column 16: There is no client \"clever\"");
    row("spawn leader", "line 3, column 7: \"leader\" cannot be the name");
    row("set ttl=7s", "line 3, column 5: ttl was set before, in line 1");
    row("set colour=red", "line 3, column 5: There is no setting \"colour\"");
    row("set tokens=gold", "line 3, column 12: \"gold\" is not a choice of tokens");
    row("expect happiness == 1", "line 3, column 8: There is no metric \"happiness\"");
    row("expect duplicates == 1", "line 3, column 8: duplicates needs a queue");
    row("expect transitions in 5..2", "line 3, column 23: Nothing can be within 5..2");
    row("expect transitions ~ 5", "line 3, column 20: \"~\" is none of");
    row("expect time_without_leader <= 5", "line 3, column 31: \"5\" is not a duration");
    row("card \"Who?\" A B = C", "line 3, column 19: \"C\" is none of the choices");
    row("set renew=5s", "line 3, column 11: The timing cannot work");
    row("sing", "line 3, column 1: There is no verb \"sing\"");
}

void TestScenario::mistakes()
{
    QFETCH(QString, line);
    QFETCH(QString, problem);
    const std::string found = problemsOf("set ttl=6s length=60s\nspawn A B\n" + line.toStdString() + "\n");
    QVERIFY2(found.starts_with(problem.toStdString()), found.c_str());
    // The same line in YAML is found where it stands there.
    if (!line.startsWith(QLatin1String("at ")) && !line.startsWith(QLatin1String("expect ")))
        return;
    const bool step = line.startsWith(QLatin1String("at "));
    const int column = problem.section(QLatin1String("column "), 1).section(QLatin1Char(':'), 0, 0).toInt();
    const int shift = step ? 4 : 4 - 7;
    const std::string yaml = "lease: ttl=6s\ninstances: A B\n" + std::string(step ? "steps:" : "expect:") + "\n  - "
        + (step ? line : line.mid(7)).toStdString() + "\n";
    const std::string inYaml = problemsOf(yaml);
    const std::string place = "line 4, column " + std::to_string(column + shift) + ":";
    QVERIFY2(inYaml.starts_with(place), (place + " expected, not " + inYaml).c_str());
}

void TestScenario::allMistakesAtOnce()
{
    const std::string found = problemsOf("name: x\ncolour: red\ninstances: A\nsteps:\n  - at 1s sing\n  - at 2s crash B\n");
    QVERIFY(found.find("line 2, column 1: There is no key \"colour\"") != std::string::npos);
    QVERIFY(found.find("line 5, column 11: There is no verb \"sing\"") != std::string::npos);
    QVERIFY(found.find("line 6, column 17: There is no instance \"B\"") != std::string::npos);
    QVERIFY(problemsOf("steps: [a\n").find("This is not YAML") != std::string::npos);
    QVERIFY(!problemsOf("").empty());
    QVERIFY(!problemsOf("- just\n- a list\n").empty());
}

void TestScenario::stepsByHand()
{
    const Setup setup = parseScenario(kWhole).scenario.runs[0];
    const Result<Step> step = parseStep("at 3s pause A 9s", setup);
    QVERIFY(step.has_value());
    QVERIFY(step->verb == Step::Verb::Pause);
    QCOMPARE(step->text, std::string("pause A 9s"));
    QVERIFY(parseStep("cut leader--store for 5s", setup).has_value());
    QVERIFY(!parseStep("pause Z 9s", setup).has_value());
    QVERIFY(!parseStep("", setup).has_value());
}

void TestScenario::catalogueIsSound()
{
    QVERIFY(catalogue().size() >= 21U);
    std::set<std::string> codes;
    for (const CatalogueEntry &entry : catalogue()) {
        const ParsedScenario parsed = parseScenario(entry.text);
        for (const Problem &problem : parsed.problems)
            QFAIL((std::string(entry.file) + ": " + problem.text()).c_str());
        QVERIFY(codes.insert(parsed.scenario.code).second);
        QVERIFY(parsed.scenario.teach.size() > 100);
        QVERIFY(!parsed.scenario.title.empty());
        for (const Setup &setup : parsed.scenario.runs)
            QVERIFY(!setup.expect.empty());
    }
    for (int i = 1; i <= 20; ++i)
        QVERIFY(codes.contains("D" + std::to_string(i)));
    QCOMPARE(scenarioNamed("d3")->id, scenarioNamed("gc-pause")->id);
}

void TestScenario::unknownNameListsAll()
{
    const auto none = scenarioNamed("d99");
    QVERIFY(!none);
    QVERIFY(none.error().kind == ErrorKind::NotFound);
    QVERIFY(none.error().remedy.find("D3 gc-pause") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestScenario)
#include "tst_scenario.moc"
