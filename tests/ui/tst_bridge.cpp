// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/uri.h"
#include "ui/bridge/mailbox.h"
#include "ui/bridge/profile_store.h"
#include "ui/bridge/retire.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

using namespace tenure;
using namespace tenure::ui;

class TestBridge final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void jobsRunInOrderInTheGuiThread()
    {
        QObject context;
        Mailbox box(&context);
        std::vector<int> seen;
        bool allHere = true;
        const auto gui = std::this_thread::get_id();
        std::thread sender([&] {
            for (int i = 0; i < 1000; ++i) {
                box.post([&, i] {
                    allHere = allHere && std::this_thread::get_id() == gui;
                    seen.push_back(i);
                });
            }
        });
        sender.join();
        QTRY_COMPARE(seen.size(), std::size_t(1000));
        QVERIFY(allHere);
        QVERIFY(std::is_sorted(seen.begin(), seen.end()));
    }

    void nothingRunsAfterClose()
    {
        QObject context;
        auto box = std::make_unique<Mailbox>(&context);
        const auto slot = box->slot();
        int ran = 0;
        box->post([&] { ++ran; });
        box.reset();
        Mailbox::postTo(slot, [&] { ++ran; });
        QCoreApplication::processEvents();
        QCOMPARE(ran, 0);
    }

    void aJobMayCloseTheBox()
    {
        QObject context;
        Mailbox box(&context);
        int ran = 0;
        box.post([&] { ++ran; box.close(); });
        box.post([&] { ++ran; });
        QTRY_COMPARE(ran, 1);
        QCoreApplication::processEvents();
        QCOMPARE(ran, 1);
    }

    void retiredWorkIsWaitedForButNotForEver()
    {
        std::mutex mutex;
        mutex.lock();
        retire([&] { const std::lock_guard wait(mutex); });
        QVERIFY(!finishRetired(std::chrono::milliseconds(20)));
        mutex.unlock();
        QVERIFY(finishRetired(std::chrono::seconds(10)));
    }

    void profilesSurviveAndStayPrivate()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("sub/connections.json"));
        ConnectionProfile profile;
        profile.id = newProfileId();
        profile.name = QStringLiteral("prod-eu");
        profile.url = QStringLiteral("redis://ops@db.example:6380/2");
        profile.environment = Environment::Production;
        profile.secretFrom = SecretFrom::Keyring;
        QVERIFY(ProfileStore(path).put(profile));
        const ProfileStore again(path);
        QCOMPARE(again.profiles().size(), std::size_t(1));
        QVERIFY(again.profiles().front() == profile);
        QCOMPARE(QFile::permissions(path) & (QFile::ReadGroup | QFile::ReadOther), QFile::Permissions());
    }

    void aPasswordIsNeverSaved()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("connections.json"));
        ConnectionProfile profile;
        profile.id = newProfileId();
        profile.url = QStringLiteral("redis://ops:hunter2@db.example/0");
        ProfileStore store(path);
        const auto saved = store.put(profile);
        QVERIFY(!saved);
        QCOMPARE(saved.error().kind, ErrorKind::BadConfig);
        QVERIFY(!QFile::exists(path));
    }

    void aNewerFileIsReadButNotWritten()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("connections.json"));
        const QByteArray newer = R"({"version":2,"connections":[{"id":"a","name":"x","url":"demo:","novel":1}]})";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(newer);
        file.close();
        ProfileStore store(path);
        QCOMPARE(store.profiles().size(), std::size_t(1));
        QVERIFY(!store.readOnlyReason().isEmpty());
        ConnectionProfile mine;
        mine.id = QStringLiteral("b");
        QVERIFY(!store.put(mine));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), newer);
    }

    void productionIsGuessed_data()
    {
        QTest::addColumn<QString>("url");
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("looks");
        QTest::newRow("host") << "redis://redis.prod.example:6379" << "" << true;
        QTest::newRow("name") << "redis://10.1.2.3" << "orders-prd" << true;
        QTest::newRow("local") << "redis://127.0.0.1:6379" << "prod copy" << false;
        QTest::newRow("product") << "redis://10.1.2.3" << "products" << false;
        QTest::newRow("delivery") << "redis://10.1.2.3" << "delivery" << false;
        QTest::newRow("file") << "sqlite:///srv/prod.db" << "" << false;
    }
    void productionIsGuessed()
    {
        QFETCH(QString, url);
        QFETCH(QString, name);
        QTEST(looksLikeProduction(url, name), "looks");
    }
};

QTEST_GUILESS_MAIN(TestBridge)
#include "tst_bridge.moc"
