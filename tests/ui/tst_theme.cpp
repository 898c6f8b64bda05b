// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include "ui/theme/words.h"

#include <QApplication>
#include <QFontMetrics>
#include <QSignalSpy>
#include <QTest>

#include <set>

using namespace tenure;
using namespace tenure::ui;

class TestTheme : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyPairHasItsContrast_data();
    void everyPairHasItsContrast();
    void contrastKnowsBlackAndWhite();
    void switchesAtRunTime();
    void followsTheSystem();
    void glyphsDiffer();
    void styleSheetLeavesNoPlaceholder();
};

void TestTheme::everyPairHasItsContrast_data()
{
    QTest::addColumn<int>("scheme");
    QTest::newRow("light") << static_cast<int>(Scheme::Light);
    QTest::newRow("dark") << static_cast<int>(Scheme::Dark);
    QTest::newRow("high contrast") << static_cast<int>(Scheme::HighContrast);
}

void TestTheme::everyPairHasItsContrast()
{
    QFETCH(int, scheme);
    for (const TokenPair &pair : tokenPairs()) {
        const QColor front = tokenColor(static_cast<Scheme>(scheme), pair.front);
        const QColor back = tokenColor(static_cast<Scheme>(scheme), pair.back);
        const double measured = contrast(front, back);
        QVERIFY2(measured >= pair.least,
            qPrintable(QStringLiteral("token %1 on %2: %3 < %4").arg(int(pair.front)).arg(int(pair.back)).arg(measured).arg(pair.least)));
    }
}

void TestTheme::contrastKnowsBlackAndWhite()
{
    QCOMPARE(contrast(Qt::black, Qt::white), 21.0);
    QCOMPARE(contrast(Qt::white, Qt::white), 1.0);
}

void TestTheme::switchesAtRunTime()
{
    Theme theme;
    theme.install(*qApp);
    QSignalSpy changed(&theme, &Theme::changed);
    theme.setChoice(ThemeChoice::Dark);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(QApplication::palette().color(QPalette::Base), tokenColor(Scheme::Dark, Token::Bg));
    theme.setChoice(ThemeChoice::Light);
    QCOMPARE(QApplication::palette().color(QPalette::Base), tokenColor(Scheme::Light, Token::Bg));
    theme.setChoice(ThemeChoice::HighContrast);
    QCOMPARE(theme.scheme(), Scheme::HighContrast);
    QCOMPARE(changed.size(), 3);
}

void TestTheme::followsTheSystem()
{
    QApplication::setPalette(QPalette());
    Theme theme;
    const Scheme system = theme.scheme();
    theme.install(*qApp);
    theme.setChoice(ThemeChoice::HighContrast);
    theme.setChoice(ThemeChoice::System);
    // Our own dark palette must not be taken for the system's.
    QCOMPARE(theme.scheme(), system);
}

void TestTheme::glyphsDiffer()
{
    std::set<QString> glyphs{churnGlyph()};
    const QFontMetrics metrics(QApplication::font());
    int states = 0;
    for (const auto state : {LeaseState::Held, LeaseState::Late, LeaseState::Overdue, LeaseState::Expired,
             LeaseState::Vacant, LeaseState::OperatorHold, LeaseState::Unknown}) {
        const QString shape = glyph(state);
        QCOMPARE(shape.size(), 1);
        QVERIFY2(metrics.inFont(shape.front()), qPrintable(word(state)));
        glyphs.insert(shape);
        ++states;
    }
    QCOMPARE(static_cast<int>(glyphs.size()), states + 1);
}

void TestTheme::styleSheetLeavesNoPlaceholder()
{
    const Theme theme;
    QVERIFY(!styleSheet(theme).contains(QLatin1Char('@')));
}

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
