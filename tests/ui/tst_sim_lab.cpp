// SPDX-License-Identifier: GPL-3.0-or-later
// The simulation lab: played, stepped, scrubbed, forked; D11 as a stranger sees it; pictures.
#include "ui/lab/sim_column.h"
#include "ui/lab/sim_lab.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTableWidget>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace std::chrono_literals;

class TestSimLab final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        m_theme.setChoice(ThemeChoice::Light);
        m_theme.install(*qApp);
        QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
    }
    void init()
    {
        m_lab = std::make_unique<SimLab>(m_theme);
        m_lab->resize(1480, 900);
        m_lab->show();
    }

    void everyScenarioPlaysToItsVerdict()
    {
        auto *choice = m_lab->findChild<QComboBox *>(QStringLiteral("scenario"));
        QVERIFY(choice->count() >= 21);
        for (int i = 0; i < choice->count(); ++i) {
            m_lab->openNamed(choice->itemData(i).toString());
            m_lab->seek(1h);
            for (SimColumn *column : m_lab->columns()) {
                QVERIFY(column->player().atEnd());
                const QString verdict = column->findChild<QLabel *>(QStringLiteral("verdict"))->text();
                QVERIFY2(!verdict.contains(QStringLiteral("✖")), qPrintable(choice->itemText(i) + verdict));
                QVERIFY(!verdict.isEmpty());
            }
        }
    }

    /// Each scenario at the moment that tells it, for people to look at.
    void everyScenarioAtItsMoment_data()
    {
        QTest::addColumn<Duration>("moment");
        for (const auto &[code, moment] : std::initializer_list<std::pair<const char *, Duration>>{{"D1", 20s}, {"D2", 18s},
                 {"D3", 25s}, {"D4", 20s}, {"D5", 26s}, {"D6", 22s}, {"D7", 22s}, {"D8", 70s}, {"D9", 10min}, {"D10", 25s},
                 {"D11", 20s}, {"D12", 5min}, {"D13", 5min}, {"D14", 20s}, {"D15", 21s}, {"D16", 20s}, {"D17", 30s},
                 {"D18", 31s}, {"D19", 31s}, {"D20", 22s}, {"W1", 12s}, {"W2", 25s}})
            QTest::newRow(code) << moment;
    }
    void everyScenarioAtItsMoment()
    {
        QFETCH(Duration, moment);
        const QString code = QLatin1String(QTest::currentDataTag());
        m_lab->openNamed(code);
        QCOMPARE(shownCode(), code);
        m_lab->seek(moment);
        QCOMPARE(m_lab->now(), moment);
        // Nobody reads a column that has no room: no word of the instances is cut off.
        for (const SimColumn *column : m_lab->columns()) {
            const auto *table = column->findChild<QTableWidget *>(QStringLiteral("simInstances"));
            for (int row = 0; row < table->rowCount(); ++row) {
                for (int cell = 0; cell < table->columnCount(); ++cell) {
                    const QTableWidgetItem *item = table->item(row, cell);
                    const int needs = QFontMetrics(item->font()).horizontalAdvance(item->text());
                    QVERIFY2(needs + 6 <= table->columnWidth(cell), qPrintable(QStringLiteral("%1: \"%2\" needs %3 px, its column has %4")
                        .arg(code, item->text()).arg(needs).arg(table->columnWidth(cell))));
                    QVERIFY2(table->columnViewportPosition(cell) + needs + 6 <= table->viewport()->width(),
                        qPrintable(QStringLiteral("%1: \"%2\" is cut off at the border").arg(code, item->text())));
                }
            }
        }
        shoot(qPrintable(QStringLiteral("sim-moment-") + code), code == QLatin1String("D11") ? Themes::Both : Themes::Light);
    }

    void doubleLeaderShowsWhatFencingDoes()
    {
        m_lab->openNamed(QStringLiteral("D11"));
        m_lab->seek(60s);
        QCOMPARE(m_lab->columns().size(), 2U);
        auto *left = m_lab->columns()[0];
        auto *right = m_lab->columns()[1];
        QVERIFY(left->findChild<QLabel *>(QStringLiteral("story"))->text().contains(QStringLiteral("with token")));
        QVERIFY(!left->findChild<QLabel *>(QStringLiteral("story"))->isHidden());
        QVERIFY(right->findChild<QLabel *>(QStringLiteral("story"))->text().contains(QStringLiteral("came late with token")));
        shoot("sim-d11");
    }

    void faultsByHandBefallEveryVariantAndAreLifted()
    {
        m_lab->openNamed(QStringLiteral("D3"));
        m_lab->seek(5s);
        m_lab->perform(QStringLiteral("pause leader 30s"));
        m_lab->seek(6s);
        shoot("sim-fault");
        for (SimColumn *column : m_lab->columns())
            QCOMPARE(column->player().world().faults().size(), 1U);
        QTest::mouseClick(m_lab->findChild<QPushButton *>(QStringLiteral("clearAll")), Qt::LeftButton);
        for (SimColumn *column : m_lab->columns())
            QVERIFY(column->player().world().faults().empty());
        m_lab->perform(QStringLiteral("sing A"));
        QVERIFY(m_lab->findChild<QLabel *>(QStringLiteral("problem"))->text().contains(QStringLiteral("no verb")));
    }

    void backAndForthIsTheSame()
    {
        m_lab->openNamed(QStringLiteral("D1"));
        auto &player = m_lab->columns().front()->player();
        m_lab->seek(10s);
        m_lab->perform(QStringLiteral("pause leader 20s"));
        m_lab->seek(35s);
        const auto log = player.world().log();
        m_lab->seek(3s);
        QVERIFY(player.hasFuture());
        m_lab->seek(35s);
        QVERIFY(player.world().log() == log);
        m_lab->seek(3s);
        QTest::mouseClick(m_lab->findChild<QPushButton *>(QStringLiteral("fork")), Qt::LeftButton);
        m_lab->seek(35s);
        QVERIFY(!(player.world().log() == log));
        const Duration before = m_lab->now();
        m_lab->stepBack();
        QVERIFY(m_lab->now() < before);
        m_lab->seek(2s);
        m_lab->stepForward();
        QVERIFY(m_lab->now() > 2s);
    }

    void playsAtTheChosenSpeed()
    {
        m_lab->openNamed(QStringLiteral("D1"));
        m_lab->findChild<QSlider *>(QStringLiteral("speed"))->setValue(9);
        QTest::mouseClick(m_lab->findChild<QPushButton *>(QStringLiteral("play")), Qt::LeftButton);
        // The trainer's card stops it at its moment, and it goes on once it is answered.
        auto *goOn = m_lab->findChild<QPushButton *>(QStringLiteral("goOn"));
        auto *card = m_lab->findChild<QWidget *>(QStringLiteral("card"));
        for (const Duration at : {Duration(17s), Duration(18s)}) {
            QTRY_VERIFY_WITH_TIMEOUT(!card->isHidden() && goOn->isHidden(), 20000);
            QCOMPARE(m_lab->now(), at);
            QTest::mouseClick(card->findChildren<QPushButton *>().last(), Qt::LeftButton);
            QTRY_VERIFY_WITH_TIMEOUT(!goOn->isHidden(), 5000);
            QTest::mouseClick(goOn, Qt::LeftButton);
        }
        QTRY_VERIFY_WITH_TIMEOUT(m_lab->columns().front()->player().atEnd(), 20000);
        QVERIFY(m_lab->findChild<QPushButton *>(QStringLiteral("play"))->text().contains(QStringLiteral("Play")));
    }

private:
    enum class Themes { Light, Both };
    [[nodiscard]] QString shownCode() const
    {
        return m_lab->findChild<QComboBox *>(QStringLiteral("scenario"))->currentData().toString();
    }
    void shoot(const char *name, Themes themes = Themes::Both)
    {
        for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
            if (themes == Themes::Light && choice == ThemeChoice::Dark)
                continue;
            m_theme.setChoice(choice);
            QTest::qWait(100);
            QVERIFY(m_lab->grab().save(QStringLiteral(TENURE_SHOTS "/%1-%2.png").arg(QLatin1String(name), QLatin1String(suffix))));
        }
    }

    Theme m_theme;
    std::unique_ptr<SimLab> m_lab;
};

QTEST_MAIN(TestSimLab)
#include "tst_sim_lab.moc"
