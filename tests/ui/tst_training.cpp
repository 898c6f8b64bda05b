// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson with two windows: the trainer's lab, and the trainee's, which does not tell the truth.
#include "ui/lab/sim_column.h"
#include "ui/lab/sim_lab.h"
#include "ui/lab/trainee_window.h"
#include "ui/lab/training_bar.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;
using namespace std::chrono_literals;

class TestTraining final : public QObject
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
        m_lab->openNamed(QStringLiteral("D1"));
        click("openTrainee");
    }
    void cleanup() { m_lab.reset(); }

    void showsWhatAConsoleSawAndNothingElse()
    {
        m_lab->seek(14s);
        QCOMPARE(state(), QStringLiteral("● HELD"));
        m_lab->seek(17s); // crashed at 15 s, still within its ttl
        QCOMPARE(state(), QStringLiteral("◐ LATE"));
        m_lab->seek(21s);
        for (const QLabel *label : trainee()->findChildren<QLabel *>())
            QVERIFY2(!label->text().contains(QStringLiteral("crash")), qPrintable(label->text()));
        const auto *events = trainee()->findChild<QTableWidget *>(QStringLiteral("traineeEvents"));
        for (int row = 0; row < events->rowCount(); ++row)
            QVERIFY(!events->item(row, 1)->text().contains(QStringLiteral("crash")));
        QVERIFY(trainee()->windowTitle().contains(QStringLiteral("SIM")));
        m_lab->seek(30s);
        QCOMPARE(state(), QStringLiteral("● HELD"));
        QCOMPARE(events->item(0, 1)->text(), QStringLiteral("● HELD"));
        QCOMPARE(events->item(1, 1)->text(), QStringLiteral("▲ ran out"));
    }

    void cardsAreAskedThereAndTheTrainerSeesTheAnswers()
    {
        m_lab->seek(17s);
        click("nextCard");
        auto *card = trainee()->findChild<QWidget *>(QStringLiteral("card"));
        QVERIFY(!card->isHidden());
        QVERIFY(m_lab->findChild<QWidget *>(QStringLiteral("card"), Qt::FindDirectChildrenOnly)->isHidden());
        for (QPushButton *choice : card->findChildren<QPushButton *>()) {
            if (choice->text() == QStringLiteral("the first one"))
                QTest::mouseClick(choice, Qt::LeftButton);
        }
        QVERIFY(result().startsWith(QStringLiteral("Trainee: 1 of 1 cards right")));
        click("nextCard");
        for (QPushButton *choice : card->findChildren<QPushButton *>()) {
            if (choice->text() == QStringLiteral("a restart"))
                QTest::mouseClick(choice, Qt::LeftButton);
        }
        QVERIFY(result().startsWith(QStringLiteral("Trainee: 1 of 2 cards right")));
        QVERIFY(!m_lab->findChild<QPushButton *>(QStringLiteral("nextCard"))->isEnabled()); // there are two
        QTest::mouseClick(trainee()->findChild<QPushButton *>(QStringLiteral("traineeHint")), Qt::LeftButton);
        QVERIFY(!trainee()->findChild<QLabel *>(QStringLiteral("traineeHintText"))->isHidden());
        QVERIFY(result().endsWith(QStringLiteral("hints 1")));
        m_lab->seek(18s);
        shoot("trainee");
        m_lab->openNamed(QStringLiteral("D3")); // another lesson begins anew
        QVERIFY(result().startsWith(QStringLiteral("Trainee: 0 of 0 cards right")));
    }

    void whatTheTraineeDoesBefallsTheRun()
    {
        m_lab->seek(10s);
        QTest::mouseClick(trainee()->findChild<QPushButton *>(QStringLiteral("traineeRelease")), Qt::LeftButton);
        m_lab->seek(11s);
        const auto *events = trainee()->findChild<QTableWidget *>(QStringLiteral("traineeEvents"));
        bool released = false;
        for (int row = 0; row < events->rowCount(); ++row)
            released = released || events->item(row, 1)->text() == QStringLiteral("▲ released by an operator");
        QVERIFY(released);
        QVERIFY(result().contains(QStringLiteral("actions 1")));
    }

    void bookmarksComeBack()
    {
        m_lab->seek(12s);
        click("bookmark");
        m_lab->seek(30s);
        auto *marks = m_lab->findChild<QComboBox *>(QStringLiteral("bookmarks"));
        QCOMPARE(marks->count(), 2);
        marks->setCurrentIndex(1);
        Q_EMIT marks->activated(1);
        QCOMPARE(m_lab->now(), Duration(12s));
    }

    void closingEndsTheLesson()
    {
        m_lab->findChild<QCheckBox *>(QStringLiteral("reveal"))->setChecked(true);
        m_lab->seek(20s);
        shoot("trainee-revealed");
        trainee()->close();
        QTRY_VERIFY(!trainee());
        QVERIFY(m_lab->findChild<TrainingBar *>()->isHidden());
        m_lab->seek(1s);
    }

private:
    [[nodiscard]] TraineeWindow *trainee() const { return m_lab->findChild<TrainingBar *>()->trainee(); }
    [[nodiscard]] QString state() const { return trainee()->findChild<QLabel *>(QStringLiteral("traineeState"))->text(); }
    [[nodiscard]] QString result() const { return m_lab->findChild<QLabel *>(QStringLiteral("traineeResult"))->text(); }
    void click(const char *name)
    {
        QTest::mouseClick(m_lab->findChild<QPushButton *>(QLatin1String(name)), Qt::LeftButton);
    }
    void shoot(const char *name)
    {
        QTest::qWait(100);
        QVERIFY(trainee()->grab().save(QStringLiteral(TENURE_SHOTS "/%1-light.png").arg(QLatin1String(name))));
        QVERIFY(m_lab->grab().save(QStringLiteral(TENURE_SHOTS "/%1-trainer-light.png").arg(QLatin1String(name))));
    }

    Theme m_theme;
    std::unique_ptr<SimLab> m_lab;
};

QTEST_MAIN(TestTraining)
#include "tst_training.moc"
