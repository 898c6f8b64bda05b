// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/observe/link.h"

#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

const Instant kNow{std::chrono::hours(5)};

LinkStatus healthy()
{
    LinkStatus link;
    link.connected = link.everConnected = link.pushOpen = true;
    link.staleAfter = 4s;
    link.lastProof = kNow - 300ms;
    link.since = kNow - 60s;
    return link;
}

Error error(ErrorKind kind)
{
    Error out;
    out.kind = kind;
    out.what = "it said no";
    return out;
}

} // namespace

class TestLink : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void states_data();
    void states();
    void staleExactlyAfterItsLimit();
};

void TestLink::states_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("fresh");
    QTest::addColumn<LinkStatus>("link");
    const auto row = [](const char* name, const char* text, bool fresh, auto change) {
        LinkStatus link = healthy();
        change(link);
        QTest::newRow(name) << QByteArray(text) << fresh << link;
    };
    row("live", "LIVE 0.3 s", true, [](LinkStatus&) {});
    row("no push", "POLLING 0.3 s", true, [](LinkStatus& l) { l.pushOpen = false; });
    row("silent", "STALE 7.2 s", false, [](LinkStatus& l) { l.lastProof = kNow - 7200ms; });
    row("silent without push", "STALE 7.2 s", false, [](LinkStatus& l) {
        l.lastProof = kNow - 7200ms;
        l.pushOpen = false;
    });
    row("cut", "DISCONNECTED 41 s, next try in 4.0 s", false, [](LinkStatus& l) {
        l.connected = false;
        l.since = kNow - 41s;
        l.nextTry = kNow + 4s;
        l.error = error(ErrorKind::Unavailable);
    });
    row("cut a moment ago", "DISCONNECTED 0.0 s", false, [](LinkStatus& l) {
        l.connected = false;
        l.since = kNow;
    });
    row("never yet", "CONNECTING", false,
        [](LinkStatus& l) { l.connected = l.everConnected = false; });
    row("never, twice failed", "CONNECTING (2 failed, next try in 0.5 s)", false,
        [](LinkStatus& l) {
            l.connected = l.everConnected = false;
            l.attempt = 2;
            l.nextTry = kNow + 500ms;
            l.error = error(ErrorKind::Unavailable);
        });
    row("no right", "DENIED", false, [](LinkStatus& l) {
        l.connected = false;
        l.error = error(ErrorKind::Denied);
    });
    row("wrong password", "DENIED", false, [](LinkStatus& l) {
        l.connected = l.everConnected = false;
        l.error = error(ErrorKind::Rejected);
    });
    row("frozen", "PAUSED", false, [](LinkStatus& l) { l.paused = true; });
    row("frozen and cut", "PAUSED", false, [](LinkStatus& l) {
        l.paused = true;
        l.connected = false;
    });
}

void TestLink::states()
{
    QFETCH(QByteArray, text);
    QFETCH(bool, fresh);
    QFETCH(LinkStatus, link);
    QCOMPARE(QByteArray::fromStdString(linkText(link, kNow)), text);
    const LinkState state = linkStateAt(link, kNow);
    QCOMPARE(isFresh(state), fresh);
    QVERIFY(text.startsWith(linkWord(state)));
}

void TestLink::staleExactlyAfterItsLimit()
{
    LinkStatus link = healthy();
    link.lastProof = kNow;
    QCOMPARE(linkStateAt(link, kNow + 4s), LinkState::Live);
    QCOMPARE(linkStateAt(link, kNow + 4s + 1ns), LinkState::Stale);
}

QTEST_GUILESS_MAIN(TestLink)
#include "tst_link.moc"
