// SPDX-License-Identifier: GPL-3.0-or-later
// Rules, alerts and who is told of them, through the whole window over a real store: a file of rules,
// a webhook and an Alertmanager on real sockets, a desktop's notification service on a real bus.
#include "app/console/main_window.h"
#include "app/console/notifier.h"
#include "core/base/sha256.h"
#include "tests/support/http_peer.h"
#include "ui/bridge/retire.h"
#include "ui/settings/settings_dialog.h"
#include "ui/views/alerts_page.h"

#include <QApplication>
#include <QCheckBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include <csignal>
#include <sys/prctl.h>

using namespace tenure;
using namespace tenure::ui;
using namespace std::chrono_literals;

namespace
{

constexpr const char *kStrangersOnly = R"({"version": 1, "rules": [
    {"rule": "unknown-holder", "on": true, "priority": 1, "known-holders": ["good-*"]}]})";

QString s(const char *text)
{
    return QString::fromLatin1(text);
}

std::string header(const HttpPeer::Request &request, const std::string &name)
{
    const auto at = request.head.find("\r\n" + name + ": ");
    if (at == std::string::npos)
        return {};
    const auto from = at + name.size() + 4;
    return request.head.substr(from, request.head.find('\r', from) - from);
}

QJsonDocument json(const HttpPeer::Request &request)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(request.body));
}

void write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(path));
}

QByteArray read(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The console over a store of its own, in a folder that goes with it.
struct Scene {
    explicit Scene(const char *rules = kStrangersOnly)
    {
        write(folder.filePath(s("rules.json")), rules);
        connections = std::make_unique<Connections>(folder.filePath(s("connections.json")));
        settings = std::make_unique<SettingsStore>(folder.filePath(s("settings.json")));
        window = std::make_unique<MainWindow>(theme, SystemClock::instance(), *connections, *settings);
        window->show();
        const auto uri = StoreUri::parse(url().toStdString());
        backend = *makeBackend(*uri);
        store = backend->makeStore();
        if (!store->init(false, in(10s)))
            qFatal("no store");
    }
    [[nodiscard]] QString url() const { return s("sqlite://") + folder.filePath(s("leases.db")); }
    [[nodiscard]] static Instant in(Duration time) { return BootClock::now() + time; }
    [[nodiscard]] QString message() const { return window->findChild<QLabel *>(s("message"))->text(); }

    /// `holder` leads from now on; whoever did before gives it back.
    void lead(const char *holder)
    {
        if (term)
            carryOut(Release{lease, *term});
        const Nonce nonce = Nonce::random();
        const Reply reply = carryOut(Acquire{lease, *HolderId::parse(holder), nonce, 60s});
        term = Term{*HolderId::parse(holder), nonce, reply.record.token};
    }
    Reply carryOut(const Command &command)
    {
        const auto answers = store->execute(std::span(&command, 1), in(10s));
        if (!answers.front())
            qFatal("%s", answers.front().error().text().c_str());
        return *answers.front();
    }
    /// A webhook or Alertmanager, as a person sets it in the dialog; and its test message.
    QString setWebhook(const QString &address, bool manager, const QString &secret)
    {
        SettingsDialog *dialog = window->openSettings();
        auto *line = dialog->findChild<QLineEdit *>(s("setWebhookUrl"));
        line->setText(address);
        Q_EMIT line->editingFinished();
        dialog->findChild<QAbstractButton *>(manager ? s("setWebhookKind1") : s("setWebhookKind0"))->setChecked(true);
        if (!secret.isEmpty()) {
            auto *key = dialog->findChild<QLineEdit *>(s("setWebhookSecret"));
            key->setText(secret);
            Q_EMIT key->editingFinished();
        }
        auto *test = dialog->findChild<QPushButton *>(s("webhookTest"));
        auto *result = dialog->findChild<QLabel *>(s("webhookResult"));
        test->click();
        const bool done = QTest::qWaitFor([test] { return test->isEnabled(); }, 40'000);
        const QString said = done ? result->text() : s("nothing came of it");
        dialog->close();
        return said;
    }

    QTemporaryDir folder;
    Theme theme;
    std::unique_ptr<Connections> connections;
    std::unique_ptr<SettingsStore> settings;
    std::unique_ptr<MainWindow> window;
    std::shared_ptr<const Backend> backend;
    std::unique_ptr<LeaseStore> store;
    const LeaseId lease = LeaseId::observed("jobs/leader");
    std::optional<Term> term;
};

bool firing(const Session *session, const std::string &rule)
{
    return std::any_of(session->alerts().begin(), session->alerts().end(),
        [&](const auto &entry) { return entry.second.rule == rule && entry.second.state == AlertState::Firing; });
}

Alert alertOf(std::uint64_t id, AlertState state, int priority = 1)
{
    Alert alert;
    alert.id = id;
    alert.rule = "leaderless";
    alert.priority = priority;
    alert.lease = LeaseId::observed("jobs/" + std::to_string(id));
    alert.state = state;
    alert.text = "Nobody leads <b>";
    alert.action = "Find out why";
    alert.firstAt = alert.lastAt = BootClock::now();
    return alert;
}

} // namespace

/// What a desktop does with notifications.
class NoteService final : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")
public:
    struct Shown {
        QString summary, body;
        QStringList actions;
        int urgency = 0;
    };
    std::map<uint, Shown> standing;
    int calls = 0;

public Q_SLOTS:
    QString GetServerInformation(QString &vendor, QString &version, QString &spec)
    {
        vendor = version = s("test");
        spec = s("1.2");
        return s("test");
    }
    uint Notify(const QString &, uint replaces, const QString &, const QString &summary, const QString &body,
        const QStringList &actions, const QVariantMap &hints, int)
    {
        ++calls;
        const uint id = replaces != 0 ? replaces : ++m_last;
        standing[id] = {summary, body, actions, hints[s("urgency")].toInt()};
        return id;
    }
    void CloseNotification(uint id) { standing.erase(id); }

Q_SIGNALS:
    void ActionInvoked(uint id, const QString &action);
    void NotificationClosed(uint id, uint reason);

private:
    uint m_last = 0;
};

class TestAlertSender final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        qunsetenv("TENURE_WEBHOOK_SECRET");
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setApplicationName(s("tst_alert_sender"));
        QCoreApplication::setOrganizationName(s("tenure-tests"));
    }
    void cleanupTestCase() { QVERIFY(finishRetired(20s)); }

    void rulesOfTheFileHoldAndEditsAreKept()
    {
        Scene scene;
        Session *session = scene.connections->session(scene.connections->openUrl(scene.url()));
        scene.lead("stranger");
        QTRY_VERIFY_WITH_TIMEOUT(firing(session, "unknown-holder"), 20'000);
        AlertsPage *page = scene.window->showRules();
        auto *list = page->findChild<QTreeWidget *>(s("rulesList"));
        list->setCurrentItem(list->topLevelItem(int(RuleId::UnknownHolder)));
        QVERIFY(page->findChild<QCheckBox *>(s("ruleOn"))->isChecked());
        page->findChild<QCheckBox *>(s("ruleOn"))->setChecked(false);
        page->findChild<QPushButton *>(s("rulesSave"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(!firing(session, "unknown-holder"), 20'000); // at once, in the open session
        const std::string path = scene.folder.filePath(s("rules.json")).toStdString();
        const auto off = [&] {
            const auto book = RuleBook::load(path);
            return book && !book->valuesFor("x")[std::size_t(RuleId::UnknownHolder)].on
                && book->valuesFor("x")[std::size_t(RuleId::UnknownHolder)].knownHolders.size() == 1;
        };
        QTRY_VERIFY_WITH_TIMEOUT(off(), 20'000); // and the known holders are still in the file
    }

    void aBrokenFileOfRulesIsToldAndKept()
    {
        const QByteArray broken = R"({"version": 1, "rules": [{"rule": "chrun"}]})";
        Scene scene(broken.constData());
        QVERIFY2(scene.message().contains(s("chrun")), qPrintable(scene.message()));
        AlertsPage *page = scene.window->showRules();
        page->findChild<QPushButton *>(s("rulesSave"))->click();
        const QString path = scene.folder.filePath(s("rules.json"));
        QTRY_VERIFY_WITH_TIMEOUT(read(path) != broken && RuleBook::load(path.toStdString()).has_value() && QFile::exists(path), 20'000);
        QCOMPARE(read(path + s(".unreadable")), broken);
        QVERIFY(scene.message().contains(s("unreadable")));
    }

    void aWebhookIsToldSignedAndAgain()
    {
        std::atomic<int> busy = 0;
        HttpPeer peer([&](const HttpPeer::Request &, const HttpPeer::Wire &wire) {
            wire.answer(busy-- > 0 ? "503 Busy" : "200 OK", "");
        });
        Scene scene;
        const QString said = scene.setWebhook(QString::fromStdString(peer.url()) + s("/hook"), false, s("k3y-of-mine"));
        QVERIFY2(said.startsWith(s("Delivered")), qPrintable(said));
        QCOMPARE(peer.requests().size(), std::size_t(2)); // a test alert and its end
        QVERIFY(!read(scene.folder.filePath(s("settings.json"))).contains("k3y-of-mine"));
        const QString id = scene.connections->openUrl(scene.url());
        Session *session = scene.connections->session(id);
        session->setFrozen(true); // a view that is held still holds back no alert
        busy = 2;
        scene.lead("stranger");
        QTRY_COMPARE_WITH_TIMEOUT(peer.requests().size(), std::size_t(5), 40'000);
        scene.lead("good-1");
        QTRY_COMPARE_WITH_TIMEOUT(peer.requests().size(), std::size_t(6), 40'000);
        for (const HttpPeer::Request &request : peer.requests()) {
            QCOMPARE(request.path, std::string("/hook"));
            const std::string stamp = header(request, "X-Tenure-Timestamp");
            QCOMPARE(header(request, "X-Tenure-Signature"), "sha256=" + hmacSha256Hex("k3y-of-mine", stamp + "." + request.body));
        }
        const QJsonObject first = json(peer.requests()[4]).object();
        QCOMPARE(first[s("event")].toString(), s("trigger"));
        QCOMPARE(first[s("rule")].toString(), s("unknown-holder"));
        QCOMPARE(first[s("lease")].toString(), s("jobs/leader"));
        QVERIFY(first[s("first_at")].toString().endsWith(QLatin1Char('Z')));
        QCOMPARE(peer.requests()[2].body, peer.requests()[4].body);
        const QJsonObject last = json(peer.requests()[5]).object();
        QCOMPARE(last[s("event")].toString(), s("resolve"));
        QCOMPARE(last[s("dedup_key")].toString(), first[s("dedup_key")].toString());
    }

    void aRedirectIsNotFollowedAndIsTold()
    {
        HttpPeer elsewhere([](const HttpPeer::Request &, const HttpPeer::Wire &wire) { wire.answer("200 OK", ""); });
        HttpPeer peer([&](const HttpPeer::Request &, const HttpPeer::Wire &wire) {
            wire.answer("302 Found", "", "Location: " + elsewhere.url() + "/stolen\r\n");
        });
        Scene scene;
        const QString said = scene.setWebhook(QString::fromStdString(peer.url()), false, {});
        QVERIFY2(said.contains(s("redirect")), qPrintable(said));
        scene.connections->openUrl(scene.url());
        scene.lead("stranger");
        QTRY_VERIFY_WITH_TIMEOUT(scene.message().contains(s("redirect")), 40'000);
        QVERIFY(elsewhere.requests().empty());
    }

    void anAlertmanagerIsToldOfTheEnd()
    {
        HttpPeer peer([](const HttpPeer::Request &, const HttpPeer::Wire &wire) { wire.answer("200 OK", ""); });
        Scene scene;
        scene.setWebhook(QString::fromStdString(peer.url()) + s("/am/"), true, {});
        const QString id = scene.connections->openUrl(scene.url());
        const auto known = [&](const char *rule, bool over) {
            for (const HttpPeer::Request &request : peer.requests()) {
                for (const QJsonValue entry : json(request).array()) {
                    if (entry[s("labels")][s("rule")].toString() == s(rule) && entry[s("endsAt")].isString() == over)
                        return true;
                }
            }
            return false;
        };
        scene.lead("stranger");
        QTRY_VERIFY_WITH_TIMEOUT(known("unknown-holder", false), 40'000);
        QCOMPARE(peer.requests().back().path, std::string("/am/api/v2/alerts"));
        QVERIFY(!known("unknown-holder", true));
        // Nobody watches any more: it must not be told as lasting for ever.
        scene.connections->close(id);
        QTRY_VERIFY_WITH_TIMEOUT(known("unknown-holder", true), 40'000);
    }

    void whatIsSimulatedWakesNobodyOutside()
    {
        HttpPeer peer([](const HttpPeer::Request &, const HttpPeer::Wire &wire) { wire.answer("200 OK", ""); });
        Scene scene;
        scene.setWebhook(QString::fromStdString(peer.url()), false, {});
        Session *sim = scene.connections->session(scene.connections->openDemo());
        Session *real = scene.connections->session(scene.connections->openUrl(scene.url()));
        Q_EMIT sim->alertsRaised({alertOf(1, AlertState::Firing)});
        Q_EMIT real->alertsRaised({alertOf(2, AlertState::Firing)});
        QTRY_COMPARE_WITH_TIMEOUT(peer.requests().size(), std::size_t(3), 20'000); // two of the test
        QCOMPARE(json(peer.requests().back()).object()[s("lease")].toString(), s("jobs/2"));
    }

    void theDesktopIsToldWithButtons()
    {
        QProcess daemon;
        const QTemporaryDir folder;
        const QString address = s("unix:path=") + folder.filePath(s("bus"));
        daemon.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });
        daemon.start(s("dbus-daemon"), {s("--session"), s("--nofork"), s("--print-address"), s("--address=") + address});
        if (!daemon.waitForStarted() || !daemon.waitForReadyRead(20'000)) {
            QVERIFY2(qEnvironmentVariableIsEmpty("TENURE_REQUIRE_SERVERS"), "no dbus-daemon");
            QSKIP("no dbus-daemon");
        }
        QDBusConnection theirs = QDBusConnection::connectToBus(address, s("desktop"));
        NoteService desktop;
        QVERIFY(theirs.registerObject(s("/org/freedesktop/Notifications"), &desktop,
            QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
        QVERIFY(theirs.registerService(s("org.freedesktop.Notifications")));
        {
            SettingsStore settings(folder.filePath(s("settings.json")));
            QWidget window;
            Notifier notifier(SystemClock::instance(), settings, QDBusConnection::connectToBus(address, s("console")), &window);
            QTRY_VERIFY_WITH_TIMEOUT(notifier.way().contains(s("buttons")), 20'000);
            notifier.take(s("prod-eu"), {alertOf(1, AlertState::Firing), alertOf(2, AlertState::Firing)});
            notifier.take(s("prod-eu"), {alertOf(3, AlertState::Firing, 3)}); // not so urgent: nobody wants it
            QTRY_COMPARE_WITH_TIMEOUT(desktop.standing.size(), std::size_t(1), 20'000);
            const NoteService::Shown shown = desktop.standing.begin()->second;
            QVERIFY2(shown.body.contains(s("2 leases")) && shown.body.contains(s("&lt;b&gt;")), qPrintable(shown.body));
            QCOMPARE(shown.urgency, 2);
            QVERIFY(shown.actions.contains(s("acknowledge")));
            QSignalSpy seen(&notifier, &Notifier::acknowledgeAsked);
            Q_EMIT desktop.ActionInvoked(desktop.standing.begin()->first, s("acknowledge"));
            QTRY_VERIFY_WITH_TIMEOUT(seen.size() >= 2, 20'000);
            // What is over is taken back.
            notifier.take(s("prod-eu"), {alertOf(1, AlertState::Acknowledged), alertOf(2, AlertState::Resolved)});
            QTRY_VERIFY_WITH_TIMEOUT(desktop.standing.empty(), 20'000);
            // A flood is one message, without a button that would acknowledge what nobody read.
            std::vector<Alert> flood;
            for (std::uint64_t i = 10; i < 40; ++i)
                flood.push_back(alertOf(i, AlertState::Firing));
            notifier.take(s("stg"), flood);
            QTRY_COMPARE_WITH_TIMEOUT(desktop.standing.size(), std::size_t(1), 20'000);
            QVERIFY2(desktop.standing.begin()->second.summary.contains(s("in 10 min")), qPrintable(desktop.standing.begin()->second.summary));
            QVERIFY(!desktop.standing.begin()->second.actions.contains(s("acknowledge")));
        }
        QDBusConnection::disconnectFromBus(s("console"));
        QDBusConnection::disconnectFromBus(s("desktop"));
        daemon.kill();
        daemon.waitForFinished();
    }
};

QTEST_MAIN(TestAlertSender)
#include "tst_alert_sender.moc"
