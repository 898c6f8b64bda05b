// SPDX-License-Identifier: GPL-3.0-or-later
// Dead letters go back only through the gate: with operator mode, a name and a reason, and on record.
#include "core/journal/journal_query.h"
#include "core/runtime/journal_tap.h"
#include "core/work/open_work_queue.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant soon()
{
    return BootClock::now() + 10s;
}

} // namespace

class TestRetryGate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_queue = openWorkQueue(*StoreUri::parse("sqlite://" + path("work.db")), "mail").value();
        const NewItem item{"x", {}, {}, 1};
        QVERIFY(m_queue->enqueue(std::span(&item, 1), soon()));
        const Worker worker{*HolderId::parse("w"), {}};
        const auto claims = m_queue->claim(worker, 1, 60s, soon());
        Settlement failed{Settlement::Kind::Fail, claims->front().ticket, {}, {}, "no route to host"};
        QCOMPARE(m_queue->settle(worker, std::span(&failed, 1), soon())->front(), Settled::Dead);
        m_id = claims->front().ticket.id;
        m_audit.clear();
    }

    void refusals_data()
    {
        QTest::addColumn<bool>("operatorMode");
        QTest::addColumn<QString>("by");
        QTest::addColumn<QString>("reason");
        QTest::addColumn<int>("kind");
        QTest::newRow("read-only") << false << "op" << "INC-1" << static_cast<int>(ErrorKind::Denied);
        QTest::newRow("no reason") << true << "op" << " \t" << static_cast<int>(ErrorKind::BadConfig);
        QTest::newRow("nobody") << true << "" << "INC-1" << static_cast<int>(ErrorKind::BadConfig);
    }
    void refusals()
    {
        QFETCH(bool, operatorMode);
        QFETCH(QString, by);
        QFETCH(QString, reason);
        OperatorGate gate(nullptr, SystemClock::instance(), [this](const AuditEntry &entry) { m_audit.push_back(entry); });
        if (operatorMode)
            gate.allowWrites(1min);
        const RetryResult done = gate.retryDead(*m_queue, {"mail", m_id, by.toStdString(), reason.toStdString()});
        QVERIFY(!done);
        QTEST(static_cast<int>(done.error().kind), "kind");
        QCOMPARE(m_queue->counts(soon())->dead, std::uint64_t{1});
        // A refusal is on record as well.
        QCOMPARE(m_audit.size(), std::size_t{2});
        QVERIFY(m_audit[0].isIntent());
        QVERIFY(!m_audit[1].isIntent() && !m_audit[1].retried->has_value());
    }

    void theIntentStandsBeforeAnythingIsDone()
    {
        std::uint64_t deadAtIntent = 0;
        OperatorGate gate(nullptr, SystemClock::instance(), [&](const AuditEntry &entry) {
            if (entry.isIntent())
                deadAtIntent = m_queue->counts(soon())->dead;
        });
        gate.allowWrites(1min);
        QCOMPARE(*gate.retryDead(*m_queue, {"mail", 0, "op", "INC-1"}), std::uint64_t{1});
        QCOMPARE(deadAtIntent, std::uint64_t{1});
        QCOMPARE(m_queue->counts(soon())->dead, std::uint64_t{0});
        QCOMPARE(m_queue->counts(soon())->pending, std::uint64_t{1});
    }

    void theJournalTellsIt()
    {
        Journal::Options keep;
        keep.path = path("journal.db");
        {
            const auto journal = std::make_shared<Journal>(keep);
            journal->describe({"c1", "prod", "sqlite:///x"});
            OperatorGate gate(nullptr, SystemClock::instance(), journaledAudit(journal, "c1", {}));
            gate.allowWrites(1min);
            QCOMPARE(*gate.retryDead(*m_queue, {"mail", m_id, "op", "INC-1"}), std::uint64_t{1});
            QCOMPARE(*gate.retryDead(*m_queue, {"mail", m_id, "op", "INC-2"}), std::uint64_t{0});
        }
        auto query = JournalQuery::open(keep.path);
        QVERIFY(query);
        const auto actions = query->actions({}, 0, 10);
        QVERIFY(actions);
        QCOMPARE(actions->size(), std::size_t{4}); // newest first
        const JournalAction &intent = (*actions)[3];
        const JournalAction &outcome = (*actions)[2];
        QCOMPARE(intent.verb, std::string("retry"));
        QCOMPARE(intent.by, std::string("op"));
        QCOMPARE(intent.lease.connection, std::string("c1"));
        QCOMPARE(intent.expected, "dead letter " + std::to_string(m_id) + " of mail");
        QCOMPARE(intent.reason, std::string("INC-1"));
        QCOMPARE(intent.outcome, std::string());
        QCOMPARE(outcome.intent, intent.id);
        QCOMPARE(outcome.outcome, std::string("retried"));
        QCOMPARE((*actions)[0].outcome, std::string("nothing to retry"));
        QVERIFY(query->verify()->sound);
    }

private:
    [[nodiscard]] std::string path(const char *name) const { return m_dir->filePath(QLatin1String(name)).toStdString(); }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<WorkQueue> m_queue;
    std::vector<AuditEntry> m_audit;
    std::int64_t m_id = 0;
};

QTEST_GUILESS_MAIN(TestRetryGate)
#include "tst_retry_gate.moc"
