// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings_dialog.h"

#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QFileInfo>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

using namespace tenure;
using namespace tenure::ui;

class TestSettings final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanup() { setTimeShown(TimeShown::Utc); }

    void comesBackAsItWas()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("deep/settings.json"));
        Settings wanted;
        {
            SettingsStore store(path);
            store.change([&](Settings &settings) {
                settings.theme = ThemeChoice::Dark;
                settings.textSize = 130;
                settings.times = TimeShown::Both;
                settings.views = {{QStringLiteral("night"), QStringLiteral("state:late env:prod"), QStringLiteral("state"), true}};
                settings.pins = {{QStringLiteral("prod-eu"), QByteArray("a/\x00\xff\xfe name\n", 11)}};
                settings.keys[QStringLiteral("reread")] = QStringLiteral("Ctrl+R");
                wanted = settings;
            });
        }
        QVERIFY(SettingsStore(path).now() == wanted);
        QCOMPARE(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther | QFile::WriteGroup | QFile::WriteOther),
            QFile::Permissions());
        QCOMPARE(QFileInfo(path).dir().entryList(QDir::Files).size(), 1); // nothing left of the writing
    }

    void oddFilesAreLeftAlone_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<bool>("read");
        QTest::newRow("newer") << QByteArray("{\"version\": 99, \"theme\": \"dark\", \"future\": [1]}") << true;
        QTest::newRow("damaged") << QByteArray("{\"version\": 1, \"theme\": \"da") << false;
        QTest::newRow("empty") << QByteArray("") << false;
        QTest::newRow("not ours") << QByteArray("[1, 2]") << false;
    }
    void oddFilesAreLeftAlone()
    {
        QFETCH(QByteArray, content);
        QFETCH(bool, read);
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("settings.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        SettingsStore store(path);
        QVERIFY(!store.readOnlyReason().isEmpty());
        QCOMPARE(store.now().theme, read ? ThemeChoice::Dark : ThemeChoice::System);
        QSignalSpy changed(&store, &SettingsStore::changed);
        store.change([](Settings &settings) { settings.textSize = 150; });
        QCOMPARE(store.now().textSize, 150); // for this run
        QCOMPARE(changed.size(), 1);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), content);
    }

    void nonsenseInTheFileGetsDefaults()
    {
        const QJsonObject odd{{QStringLiteral("textSize"), 9000}, {QStringLiteral("theme"), 7},
            {QStringLiteral("notifyUpTo"), -3}, {QStringLiteral("views"), QStringLiteral("none")}};
        const Settings read = settingsFromJson(odd);
        QCOMPARE(read.textSize, 200);
        QCOMPARE(read.theme, ThemeChoice::System);
        QCOMPARE(read.notifyUpTo, 1);
        QVERIFY(read.views.empty());
    }

    void whatIsSetHoldsAtOnceAndCanBeReset()
    {
        QTemporaryDir folder;
        Theme theme;
        theme.install(*qApp);
        SettingsStore store(folder.filePath(QStringLiteral("settings.json")));
        connect(&store, &SettingsStore::changed, &theme, [&] { applyLooks(store.now(), theme); });
        SettingsDialog dialog(theme, store, {}, nullptr);
        dialog.show();
        dialog.findChild<QRadioButton *>(QStringLiteral("setTheme2"))->click();
        QCOMPARE(theme.scheme(), Scheme::Dark);
        const int before = theme.rowHeight();
        dialog.findChild<QSpinBox *>(QStringLiteral("setTextSize"))->setValue(150);
        QVERIFY(theme.rowHeight() > before);
        dialog.findChild<QRadioButton *>(QStringLiteral("setTimes1"))->click();
        QCOMPARE(timeShown(), TimeShown::Local);
        dialog.showPage(SettingsDialog::tr("Appearance"));
        dialog.findChild<QPushButton *>(QStringLiteral("settingsReset"))->click();
        QCOMPARE(store.now().textSize, 100);
        QCOMPARE(store.now().times, TimeShown::Local); // of another page
        theme.setChoice(ThemeChoice::Light);
    }

    void searchFindsAPage()
    {
        QTemporaryDir folder;
        Theme theme;
        SettingsStore store(folder.filePath(QStringLiteral("settings.json")));
        SettingsDialog dialog(theme, store, {{{QStringLiteral("reread"), QStringLiteral("Re-read"), QKeySequence(Qt::Key_F5)}}, false, {}, {}, {}, {}}, nullptr);
        auto *pages = dialog.findChild<QListWidget *>(QStringLiteral("settingsPages"));
        const int all = pages->count();
        QVERIFY(all >= 6);
        dialog.findChild<QLineEdit *>(QStringLiteral("settingsSearch"))->setText(QStringLiteral("re-READ"));
        int shown = 0;
        for (int i = 0; i < all; ++i)
            shown += pages->item(i)->isHidden() ? 0 : 1;
        QCOMPARE(shown, 1);
        QCOMPARE(pages->currentItem()->text(), SettingsDialog::tr("Keyboard"));
        auto *key = dialog.findChild<QKeySequenceEdit *>(QStringLiteral("key_reread"));
        QCOMPARE(key->keySequence(), QKeySequence(Qt::Key_F5));
        QVERIFY(!dialog.findChild<QCheckBox *>(QStringLiteral("setTray"))->isEnabled()); // no tray here
    }

    void momentsFollowTheZone()
    {
        qputenv("TZ", "Asia/Kolkata"); // half an hour off
        tzset();
        const WallTime when{std::chrono::microseconds(1'764'374'066'000'000)}; // 2025-11-28 23:54:26 UTC
        QCOMPARE(timeText(when, when), QStringLiteral("23:54:26"));
        QCOMPARE(stampText(when, when), QStringLiteral("23:54:26 UTC"));
        const QString sentence = QStringLiteral("stopped renewing at 23:54:11.0, expired 15.0 s later");
        QCOMPARE(zoned(sentence, when), sentence);
        setTimeShown(TimeShown::Local);
        QCOMPARE(timeText(when, when), QStringLiteral("05:24:26"));
        QCOMPARE(zoned(sentence, when), QStringLiteral("stopped renewing at 05:24:11.0, expired 15.0 s later"));
        setTimeShown(TimeShown::Both);
        QCOMPARE(timeText(when, when), QStringLiteral("23:54:26 / 05:24:26"));
        QVERIFY(stampText(when, when).startsWith(QStringLiteral("23:54:26 UTC (05:24:26 ")));
        qunsetenv("TZ");
        tzset();
    }
};

QTEST_MAIN(TestSettings)
#include "tst_settings.moc"
