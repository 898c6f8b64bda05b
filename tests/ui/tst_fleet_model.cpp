// SPDX-License-Identifier: GPL-3.0-or-later
#include "fabricated.h"

#include "ui/models/alerts_model.h"
#include "ui/models/events_model.h"
#include "ui/models/fleet_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;

class TestFleetModel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void worstComesFirst();
    void oneNameOnTwoConnectionsIsTwoRows();
    void changesOfABatchAreToldOnce();
    void calmOrderWaits();
    void selectionFollowsItsLease();
    void removedLeasesGo();
    void statesAgeWithoutNews();
    void staleLinkMakesAllUnknown();
    void filterHidesAndCounts();
    void filterByTimeIsReEvaluated();
    void removingASourceTakesItsRows();
    void eventsAreNewestFirstAndBounded();
    void alertsSortByWhatNeedsAPerson();

private:
    [[nodiscard]] QStringList names() const;
    ManualClock m_clock;
    std::unique_ptr<FabricatedSource> m_prod, m_stage;
    std::unique_ptr<FleetModel> m_model;
    std::unique_ptr<QAbstractItemModelTester> m_tester;
};

void TestFleetModel::init()
{
    m_prod = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("p"), QStringLiteral("prod-eu"), Surroundings::Production);
    m_stage = std::make_unique<FabricatedSource>(m_clock, QStringLiteral("s"), QStringLiteral("stg"), Surroundings::Staging);
    m_model = std::make_unique<FleetModel>(m_clock, nullptr);
    m_tester = std::make_unique<QAbstractItemModelTester>(m_model.get(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const char *name : {"a", "b", "c"})
        m_prod->held(name, "h-" + std::string(name));
    m_model->addSource(m_prod.get());
    m_model->flush();
}

void TestFleetModel::cleanup()
{
    m_tester.reset();
    m_model.reset();
}

QStringList TestFleetModel::names() const
{
    QStringList out;
    for (int row = 0; row < m_model->rowCount(); ++row)
        out << m_model->index(row, int(FleetColumn::Lease)).data().toString();
    return out;
}

void TestFleetModel::worstComesFirst()
{
    m_prod->vacant("z", "h", 41s);
    m_prod->held("y", "h", 9s); // late
    m_prod->held("b", "h").churning = true;
    m_prod->tellAll();
    m_model->flush();
    QCOMPARE(names(), QStringList({QStringLiteral("z"), QStringLiteral("b"), QStringLiteral("y"), QStringLiteral("a"), QStringLiteral("c")}));
    std::size_t total = 0;
    const auto worst = m_model->worst(2, &total);
    QCOMPARE(total, std::size_t(3));
    QCOMPARE(worst.front()->name, QStringLiteral("z"));
}

void TestFleetModel::oneNameOnTwoConnectionsIsTwoRows()
{
    m_stage->held("a", "other");
    m_model->addSource(m_stage.get());
    m_model->flush();
    QCOMPARE(m_model->rowCount(), 4);
    const int first = m_model->positionOf({QStringLiteral("p"), LeaseId::observed("a")});
    const int second = m_model->positionOf({QStringLiteral("s"), LeaseId::observed("a")});
    QVERIFY(first >= 0 && second >= 0 && first != second);
}

void TestFleetModel::changesOfABatchAreToldOnce()
{
    QSignalSpy changed(m_model.get(), &QAbstractItemModel::dataChanged);
    QSignalSpy layout(m_model.get(), &QAbstractItemModel::layoutChanged);
    for (int i = 0; i < 100; ++i) {
        m_prod->tell("a");
        m_prod->tell("c");
    }
    QCOMPARE(changed.size(), 0);
    QTRY_COMPARE(changed.size(), 1); // by its own timer
    QCOMPARE(changed.front().at(0).toModelIndex().row(), 0);
    QCOMPARE(changed.front().at(1).toModelIndex().row(), 2);
    QCOMPARE(layout.size(), 0);
}

void TestFleetModel::calmOrderWaits()
{
    m_model->setCalm(true);
    m_prod->vacant("c", "h", 5s);
    m_prod->tell("c");
    m_model->flush();
    QCOMPARE(names().back(), QStringLiteral("c"));
    QCOMPARE(m_model->wouldMove(), std::size_t(1));
    m_model->resort();
    QCOMPARE(names().front(), QStringLiteral("c"));
    QCOMPARE(m_model->wouldMove(), std::size_t(0));

    m_prod->vacant("b", "h", 5s);
    m_prod->tell("b");
    m_model->flush();
    QCOMPARE(names().front(), QStringLiteral("c"));
    m_model->setCalm(false); // the pointer left
    QCOMPARE(names().front(), QStringLiteral("b"));
}

void TestFleetModel::selectionFollowsItsLease()
{
    const QPersistentModelIndex kept = m_model->index(0, 0);
    QCOMPARE(m_model->key(kept.row()).lease.name(), std::string("a"));
    m_prod->vacant("c", "h", 5s);
    m_prod->held("0", "h");
    m_prod->tellAll();
    m_model->flush();
    QCOMPARE(m_model->key(kept.row()).lease.name(), std::string("a"));
}

void TestFleetModel::removedLeasesGo()
{
    m_prod->drop("b");
    m_model->flush();
    QCOMPARE(names(), QStringList({QStringLiteral("a"), QStringLiteral("c")}));
    QCOMPARE(m_model->summary().total, std::size_t(2));
    m_prod->held("b", "again");
    m_prod->tell("b");
    m_model->flush();
    QCOMPARE(names().size(), 3);
    QCOMPARE(m_model->index(1, int(FleetColumn::Holder)).data().toString(), QStringLiteral("again"));
}

void TestFleetModel::statesAgeWithoutNews()
{
    QCOMPARE(m_model->summary().states[std::size_t(LeaseState::Held)], std::size_t(3));
    m_clock.advance(8s);
    m_prod->m_link.lastProof = m_clock.now();
    // No lease was told to have changed; the model's own second hand finds it.
    QTRY_COMPARE(m_model->summary().states[std::size_t(LeaseState::Late)], std::size_t(3));
}

void TestFleetModel::staleLinkMakesAllUnknown()
{
    m_clock.advance(30s);
    m_prod->m_link.lastProof = m_clock.now() - 7s;
    Q_EMIT m_prod->linkChanged();
    m_model->flush();
    QCOMPARE(m_model->summary().states[std::size_t(LeaseState::Unknown)], std::size_t(3));
    const auto cell = [this](FleetColumn column) { return m_model->index(0, int(column)).data().toString(); };
    QCOMPARE(cell(FleetColumn::Left), QStringLiteral("?"));
    QCOMPARE(cell(FleetColumn::Holder), QStringLiteral("was h-a"));
    QCOMPARE(cell(FleetColumn::State), QStringLiteral("UNKNOWN"));
}

void TestFleetModel::filterHidesAndCounts()
{
    m_model->setFilter(*LeaseFilter::parse("holder:h-b"));
    QCOMPARE(names(), QStringList(QStringLiteral("b")));
    QCOMPARE(m_model->summary().total, std::size_t(3));
    m_prod->held("d", "h-b2");
    m_prod->tell("d");
    m_model->flush();
    QCOMPARE(names(), QStringList({QStringLiteral("b"), QStringLiteral("d")}));
    m_model->setFilter({});
    QCOMPARE(m_model->rowCount(), 4);
}

void TestFleetModel::filterByTimeIsReEvaluated()
{
    m_model->setFilter(*LeaseFilter::parse("ttl<10s"));
    QCOMPARE(m_model->rowCount(), 0);
    m_clock.advance(5s);
    m_prod->m_link.lastProof = m_clock.now();
    QTRY_COMPARE(m_model->rowCount(), 3);
}

void TestFleetModel::removingASourceTakesItsRows()
{
    m_stage->held("x", "h");
    m_model->addSource(m_stage.get());
    m_model->flush();
    m_model->removeSource(m_prod.get());
    QCOMPARE(names(), QStringList(QStringLiteral("x")));
    QVERIFY(m_model->hasSources());
}

void TestFleetModel::eventsAreNewestFirstAndBounded()
{
    EventsModel events(m_clock, std::nullopt, nullptr);
    const QAbstractItemModelTester tester(&events, QAbstractItemModelTester::FailureReportingMode::QtTest);
    events.addSource(m_prod.get());
    for (std::size_t i = 0; i < EventsModel::kMost + 500; ++i) {
        Transition change;
        change.number = i;
        change.lease = LeaseId::observed("a");
        change.kind = TransitionKind::TakenOver;
        change.oldHolder = "x";
        change.newHolder = "y\n\x1b[31m";
        change.at = m_clock.now() + Duration(i);
        m_prod->m_transitions.push_back(change);
    }
    Q_EMIT m_prod->transitionsAdded(EventsModel::kMost + 500);
    events.flush();
    QCOMPARE(events.rowCount(), static_cast<int>(EventsModel::kMost));
    QCOMPARE(events.entry(0).transition.number, std::uint64_t(EventsModel::kMost + 499));
    const QString to = events.index(0, int(EventColumn::To)).data().toString();
    QVERIFY2(!to.contains(QLatin1Char('\n')) && !to.contains(QChar(0x1b)), qPrintable(to));
}

void TestFleetModel::alertsSortByWhatNeedsAPerson()
{
    AlertsModel alerts(m_clock, nullptr);
    const QAbstractItemModelTester tester(&alerts, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto add = [&](std::uint64_t id, int priority, AlertState state) {
        Alert alert;
        alert.id = id;
        alert.priority = priority;
        alert.state = state;
        alert.firstAt = m_clock.now();
        m_prod->m_alerts[id] = alert;
    };
    add(1, 3, AlertState::Firing);
    add(2, 1, AlertState::Resolved);
    add(3, 2, AlertState::Firing);
    alerts.addSource(m_prod.get());
    QCOMPARE(alerts.entry(0).alert.id, std::uint64_t(3));
    QCOMPARE(alerts.entry(2).alert.id, std::uint64_t(2));
    m_prod->acknowledge(3);
    QCOMPARE(alerts.entry(0).alert.id, std::uint64_t(1));
    QCOMPARE(alerts.countOf(AlertState::Acknowledged), 1);
}

QTEST_GUILESS_MAIN(TestFleetModel)
#include "tst_fleet_model.moc"
