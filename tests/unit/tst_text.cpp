// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"

#include <QTest>

using namespace tenure;

class TstText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knowsUtf8();
    void makesAnythingPrintable();
    void globs_data();
    void globs();
    void globIsLinear();
    void quotesForAShell();
};

void TstText::knowsUtf8()
{
    QVERIFY(isUtf8("plain \xC3\xA9 \xF0\x9F\x94\x92"));
    for (const char *bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3", "\x80", "\xFF"})
        QVERIFY2(!isUtf8(bad), printable(bad).c_str());
}

void TstText::makesAnythingPrintable()
{
    QCOMPARE(printable("a\nb\t\x01"), "a\\nb\\t\\x01");
    QCOMPARE(printable("\xFF\xC3\xA9"), "\\xFF\xC3\xA9");
    QCOMPARE(printable("\xE2\x80\xAE"), "\\u{202E}"); // would turn the text around
    QCOMPARE(printable(std::string(10, 'x'), 4), "xxxx...");
    QCOMPARE(printable(std::string_view("\0", 1)), "\\x00");
}

void TstText::globs_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("matches");
    const auto row = [](const char *pattern, const char *text, bool matches) {
        QTest::addRow("%s ~ %s", pattern, text)
            << QString::fromLatin1(pattern) << QString::fromLatin1(text) << matches;
    };
    row("*", "", true);
    row("", "", true);
    row("", "a", false);
    row("a*", "abc", true);
    row("*c", "abc", true);
    row("a?c", "abc", true);
    row("a?c", "ac", false);
    row("*b*b*", "abcb", true);
    row("[a]", "a", false);
    row("[a]", "[a]", true);
    row("app", "app2", false);
}

void TstText::globs()
{
    QFETCH(QString, pattern);
    QFETCH(QString, text);
    QTEST(globMatch(pattern.toStdString(), text.toStdString()), "matches");
}

void TstText::globIsLinear()
{
    std::string pattern;
    for (int i = 0; i < 200; ++i)
        pattern += "*a";
    QVERIFY(!globMatch(pattern + "b", std::string(20'000, 'a'))); // exponential: would never end
}

void TstText::quotesForAShell()
{
    QCOMPARE(shellQuoted("plain-1.2/x"), "plain-1.2/x");
    QCOMPARE(shellQuoted("it's"), "'it'\\''s'");
    QCOMPARE(shellQuoted(""), "''");
    QCOMPARE(shellQuoted("$(rm)"), "'$(rm)'");
}

QTEST_GUILESS_MAIN(TstText)
#include "tst_text.moc"
