// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded trace, replayed, gives exactly the changes, gaps and alerts that were scripted: live, and
// again from the journal.
#include "core/churn/alerts.h"
#include "core/journal/journal_query.h"
#include "tests/support/journal_kit.h"
#include "tests/support/looks.h"

#include <QTemporaryDir>
#include <QTest>

#include <sstream>

using namespace tenure;
using namespace tenure::test;

namespace
{

/// One line of a trace: what was so in a stretch of whole seconds. A look each second, but for `down`.
///   0-30 lead a 7        a holds with token 7 since the first of these seconds, renews every 5 s
///   31-44 silent a 7     nothing more comes from it
///   45-49 gone           its grant ran out
///   45-49 free           it gave the lease back
///   50-80 down           the connection is broken
struct Line {
    int from = 0, to = 0;
    std::string what, holder;
    std::uint64_t token = 0;
};

std::vector<Line> parsed(const char* text)
{
    std::vector<Line> out;
    std::istringstream lines(text);
    for (std::string raw; std::getline(lines, raw);) {
        std::istringstream words(raw);
        Line line;
        char dash = 0;
        if (!(words >> line.from >> dash >> line.to >> line.what))
            continue;
        words >> line.holder >> line.token;
        out.push_back(line);
    }
    return out;
}

std::string oneDecimal(Duration duration)
{
    const auto tenths = std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(duration).count();
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string told(const std::string& word, Duration at, const std::string& from, const std::string& to,
    FencingToken token, const std::optional<Duration>& gap)
{
    return oneDecimal(at) + " " + word + " " + (from.empty() ? "-" : from) + ">" + (to.empty() ? "-" : to) + " "
        + std::to_string(token.value) + (gap ? " gap " + oneDecimal(*gap) : "");
}

/// What the console would have said, second by second, and kept.
class Replayed
{
public:
    explicit Replayed(const std::string& journal) : m_kit(journal) { }

    void play(const char* trace)
    {
        for (const Line& line : parsed(trace)) {
            if (line.what == "lead")
                m_acquired = m_renewed = line.from;
            for (int at = line.from; at <= line.to; ++at)
                second(line, at);
        }
        QVERIFY(m_kit.journal->flush(20s));
    }

    std::vector<std::string> changes, alerts; ///< in the order in which they came
    std::map<std::uint64_t, std::string> lives; ///< of alerts: "leaderless firing returned"
    JournalKit& kit() { return m_kit; }

private:
    void second(const Line& line, int at)
    {
        const bool down = line.what == "down";
        m_link.connected = !down;
        m_link.everConnected = m_link.pushOpen = true;
        m_kit.goTo(std::chrono::seconds(at));
        if (!down) {
            m_link.lastProof = kStart + std::chrono::seconds(at);
            see(line, at);
            m_kit.journal->observed(m_kit.connection, m_kit.start + std::chrono::seconds(at), 5s);
        }
        const Instant now = kStart + std::chrono::seconds(at);
        for (const Transition& t : m_fleet.tick(now, {}, isFresh(linkStateAt(m_link, now))))
            take(t);
        note(m_rules.tick(m_fleet.all(), m_link, now), at);
    }

    void see(const Line& line, int at)
    {
        Glance glance;
        glance.at = std::chrono::seconds(at);
        glance.released = line.what == "free";
        if (line.what == "lead" && (at - m_acquired) % 5 == 0)
            m_renewed = at;
        if (line.what == "lead" || line.what == "silent") {
            glance.holder = line.holder;
            m_token = line.token;
            glance.acquired = std::chrono::seconds(m_acquired);
            glance.renewed = std::chrono::seconds(m_renewed);
        }
        glance.token = m_token;
        glance.roundTrip = Duration::zero();
        for (const Transition& t : m_fleet.apply(look(glance), {}))
            take(t);
    }

    void take(Transition t)
    {
        const auto at = std::chrono::duration_cast<std::chrono::seconds>(m_link.lastProof - kStart).count();
        changes.push_back(told(transitionWord(t.kind), t.at - kStart, t.oldHolder, t.newHolder, t.token, t.gap));
        note(m_rules.onTransition(t, *m_fleet.find(t.lease)), static_cast<int>(at));
        t.at = m_kit.start + (t.at - kStart);
        m_kit.journal->append(m_kit.connection, t);
    }

    void note(const std::vector<Alert>& news, int at)
    {
        for (Alert alert : news) {
            std::string& life = lives[alert.id];
            const std::string state = alertStateWord(alert.state);
            if (life.empty() || !life.ends_with(state)) { // one more match is no news
                alerts.push_back(std::to_string(at) + " " + alert.rule + " " + state);
                life += (life.empty() ? alert.rule : "") + " " + state;
            }
            alert.firstAt = m_kit.start + (alert.firstAt - kStart);
            alert.lastAt = m_kit.start + (alert.lastAt - kStart);
            m_kit.journal->append(m_kit.connection, 1, alert);
        }
    }

    JournalKit m_kit;
    Fleet m_fleet;
    AlertRules m_rules;
    LinkStatus m_link;
    int m_acquired = 0, m_renewed = 0;
    std::uint64_t m_token = 0;
};

std::vector<std::string> lines(const char* text)
{
    std::vector<std::string> out;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos)
            out.push_back(line.substr(begin));
    }
    return out;
}

QString joined(const std::vector<std::string>& all)
{
    QString out;
    for (const std::string& one : all)
        out += QString::fromStdString(one) + QLatin1Char('\n');
    return out;
}

} // namespace

class TestTrace : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aTraceGivesWhatWasScripted_data();
    void aTraceGivesWhatWasScripted();
};

void TestTrace::aTraceGivesWhatWasScripted_data()
{
    QTest::addColumn<QByteArray>("trace");
    QTest::addColumn<QByteArray>("changes");
    QTest::addColumn<QByteArray>("alerts");
    QTest::newRow("a quiet lease") << QByteArray("0-300 lead a 7") << QByteArray("0.0 appeared ->a 7") << QByteArray("");
    QTest::newRow("a crash and its takeover")
        << QByteArray("0-30 lead a 7\n31-44 silent a 7\n45-49 gone\n50-120 lead b 8")
        << QByteArray("0.0 appeared ->a 7\n45.0 expired a>- 7\n50.0 acquired ->b 8 gap 5.0")
        << QByteArray("43 late firing\n45 late returned");
    QTest::newRow("nobody takes it")
        << QByteArray("0-30 lead a 7\n31-99 free\n100-150 lead b 8")
        << QByteArray("0.0 appeared ->a 7\n31.0 released a>- 7\n100.0 acquired ->b 8 gap 69.0")
        << QByteArray("62 leaderless firing\n105 leaderless returned");
    QTest::newRow("six flaps in a minute: twelve rows, one alert")
        << QByteArray("0-4 lead a 1\n5-9 free\n10-14 lead a 2\n15-19 free\n20-24 lead a 3\n25-29 free\n30-34 lead a 4\n"
           "35-39 free\n40-44 lead a 5\n45-49 free\n50-54 lead a 6\n55-59 free\n60-70 lead a 7")
        << QByteArray("0.0 appeared ->a 1\n5.0 released a>- 1\n10.0 acquired ->a 2 gap 5.0\n15.0 released a>- 2\n"
           "20.0 acquired ->a 3 gap 5.0\n25.0 released a>- 3\n30.0 acquired ->a 4 gap 5.0\n35.0 released a>- 4\n"
           "40.0 acquired ->a 5 gap 5.0\n45.0 released a>- 5\n50.0 acquired ->a 6 gap 5.0\n55.0 released a>- 6\n"
           "60.0 acquired ->a 7 gap 5.0")
        << QByteArray("50 churn firing");
    QTest::newRow("two take turns")
        << QByteArray("0-9 lead a 1\n10-19 lead b 2\n20-29 lead a 3\n30-39 lead b 4\n40-49 lead a 5\n50-59 lead b 6")
        << QByteArray("0.0 appeared ->a 1\n10.0 taken-over a>b 2\n20.0 taken-over b>a 3\n30.0 taken-over a>b 4\n"
           "40.0 taken-over b>a 5\n50.0 taken-over a>b 6")
        << QByteArray("40 flapping firing");
    QTest::newRow("nothing is raised behind a broken connection")
        << QByteArray("0-30 lead a 7\n31-60 free\n61-200 down\n201-240 free\n241-260 lead b 8")
        << QByteArray("0.0 appeared ->a 7\n31.0 released a>- 7\n241.0 acquired ->b 8 gap 210.0")
        << QByteArray("76 stale firing\n211 stale returned\n211 leaderless firing\n246 leaderless returned");
    QTest::newRow("a change that nobody saw")
        << QByteArray("0-30 lead a 7\n31-60 down\n61-100 lead b 9")
        << QByteArray("0.0 appeared ->a 7\n61.0 taken-over a>b 9 gap 16.0")
        << QByteArray("46 stale firing\n71 stale returned");
    QTest::newRow("the store lost its memory")
        << QByteArray("0-30 lead a 7\n31-33 free\n34-60 lead b 3")
        << QByteArray("0.0 appeared ->a 7\n31.0 released a>- 7\n34.0 acquired ->b 3 gap 3.0")
        << QByteArray("34 token-regressed firing");
}

void TestTrace::aTraceGivesWhatWasScripted()
{
    QFETCH(QByteArray, trace);
    QFETCH(QByteArray, changes);
    QFETCH(QByteArray, alerts);
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("j.db")).toStdString();
    Replayed replayed(path);
    replayed.play(trace.constData());
    QCOMPARE(joined(replayed.changes), joined(lines(changes.constData())));
    QCOMPARE(joined(replayed.alerts), joined(lines(alerts.constData())));

    auto query = JournalQuery::open(path);
    QVERIFY(query);
    auto events = query->events({}, 0, 1000);
    QVERIFY(events);
    std::vector<std::string> kept;
    for (auto event = events->rbegin(); event != events->rend(); ++event)
        kept.push_back(told(transitionWord(event->kind), event->at - replayed.kit().wallStart, event->oldHolder,
            event->newHolder, event->token, event->gap));
    QCOMPARE(joined(kept), joined(replayed.changes));
    const auto raised = query->alerts({}, 0, 1000);
    QVERIFY(raised);
    std::vector<std::string> lives;
    for (auto alert = raised->rbegin(); alert != raised->rend(); ++alert) {
        std::string life = alert->rule;
        for (const AlertStep& step : alert->steps)
            life += std::string(" ") + alertStateWord(step.state);
        lives.push_back(life);
    }
    std::vector<std::string> live;
    for (const auto& [id, life] : replayed.lives)
        live.push_back(life);
    QCOMPARE(joined(lives), joined(live));
}

QTEST_GUILESS_MAIN(TestTrace)
#include "tst_trace.moc"
