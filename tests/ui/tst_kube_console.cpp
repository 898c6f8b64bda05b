// SPDX-License-Identifier: GPL-3.0-or-later
// The console on a live Kubernetes API server: rights that are missing, a server that nobody checks,
// events of the cluster. Pictures are taken.
#include "app/console/main_window.h"
#include "core/backend/kubernetes/kube_time.h"
#include "kube_server.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/release_dialog.h"
#include "ui/settings/settings_store.h"
#include "ui/views/lease_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include <nlohmann/json.hpp>

using namespace tenure;
using namespace tenure::ui;
using namespace std::chrono_literals;

class TestKubeConsole final : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void aMissingRightIsNamed();
    void anUncheckedServerIsRed();

private:
    static KubeServer &server() { return sharedKubeServer(); }
    void make(const std::string &name, const std::string &holder);
    void report(const std::string &name, const std::string &message);
    template <typename Widget>
    Widget *visible(const char *name) const
    {
        for (Widget *widget : m_window->findChildren<Widget *>(QLatin1String(name))) {
            if (widget->isVisible())
                return widget;
        }
        return nullptr;
    }
    void shoot(QWidget *widget, const char *name);

    std::string m_namespace;
    QTemporaryDir m_folder;
    Theme m_theme;
    std::unique_ptr<Connections> m_connections
        = std::make_unique<Connections>(m_folder.filePath(QStringLiteral("connections.json")));
    std::unique_ptr<SettingsStore> m_settings
        = std::make_unique<SettingsStore>(m_folder.filePath(QStringLiteral("settings.json")));
    std::unique_ptr<MainWindow> m_window;
};

void TestKubeConsole::initTestCase()
{
    const std::string missing = KubeServer::missing();
    if (!missing.empty()) {
        if (KubeServer::required())
            QFAIL(missing.c_str());
        QSKIP(missing.c_str());
    }
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setApplicationName(QStringLiteral("tst_kube_console"));
    QCoreApplication::setOrganizationName(QStringLiteral("tenure-tests"));
    QVERIFY(QDir().mkpath(QStringLiteral(TENURE_SHOTS)));
    m_theme.setChoice(ThemeChoice::Light);
    m_theme.install(*qApp);
    m_namespace = server().makeNamespace();
    make("scheduler", "sched-7f9c_0b1c2d3e-0000-4000-8000-123456789abc");
    report("scheduler", "sched-7f9c_0b1c2d3e-0000-4000-8000-123456789abc became leader");
    m_window = std::make_unique<MainWindow>(m_theme, SystemClock::instance(), *m_connections, *m_settings);
    m_window->resize(1480, 920);
    m_window->show();
}

void TestKubeConsole::cleanupTestCase()
{
    m_window.reset();
    m_connections.reset();
    QVERIFY(finishRetired(20s));
}

void TestKubeConsole::make(const std::string &name, const std::string &holder)
{
    const std::string now = kube::microTime(SystemClock::instance().wall());
    const nlohmann::json body{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"},
        {"metadata", {{"name", name}}},
        {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 3600}, {"leaseTransitions", 4},
                     {"renewTime", now}, {"acquireTime", now}}}};
    const auto made = server().call("POST", "/apis/coordination.k8s.io/v1/namespaces/" + m_namespace + "/leases", body.dump());
    QVERIFY2(made.status == 201, made.body.c_str());
}

void TestKubeConsole::report(const std::string &name, const std::string &message)
{
    const std::string now = kube::microTime(SystemClock::instance().wall()).substr(0, 19) + "Z";
    const nlohmann::json body{{"apiVersion", "v1"}, {"kind", "Event"},
        {"metadata", {{"generateName", name + "."}, {"namespace", m_namespace}}},
        {"involvedObject", {{"kind", "Lease"}, {"namespace", m_namespace}, {"name", name}}},
        {"reason", "LeaderElection"}, {"message", message}, {"type", "Normal"},
        {"source", {{"component", "billing-controller"}}}, {"firstTimestamp", now}, {"lastTimestamp", now}};
    const auto made = server().call("POST", "/api/v1/namespaces/" + m_namespace + "/events", body.dump());
    QVERIFY2(made.status == 201, made.body.c_str());
}

void TestKubeConsole::aMissingRightIsNamed()
{
    server().allow("ann", m_namespace, {"get", "list", "watch"});
    const QString id = m_connections->openUrl(QString::fromStdString(server().uri(m_namespace, "ann").display()));
    Session *session = m_connections->session(id);
    const LeaseId lease = LeaseId::observed("scheduler");
    QTRY_VERIFY_WITH_TIMEOUT(session->lease(lease) != nullptr && session->lease(lease)->record.holder, 30'000);
    session->allowWrites(15min);
    m_window->openLease(id, lease);
    const QString said = QStringLiteral("missing `patch leases` in ") + QString::fromStdString(m_namespace);
    QTRY_VERIFY_WITH_TIMEOUT(visible<QLabel>("missingRights") != nullptr, 30'000);
    QVERIFY2(visible<QLabel>("missingRights")->text().contains(said), qPrintable(visible<QLabel>("missingRights")->text()));
    const auto *release = visible<QPushButton>("leaseRelease");
    QVERIFY(release && !release->isEnabled());
    QVERIFY2(release->toolTip().contains(said), qPrintable(release->toolTip()));
    QTest::mouseClick(visible<QPushButton>("copyForAdmin"), Qt::LeftButton);
    QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("create role tenure-operator --verb=patch")));
    QVERIFY(visible<QLabel>("clusterEventsWhy")->text().contains(QStringLiteral("missing `list events`")));
    shoot(m_window.get(), "missing-right");
    // However the dialog is reached, it goes no further.
    auto *dialog = qobject_cast<ReleaseDialog *>(m_window->openRelease(id, lease));
    QVERIFY(dialog);
    const auto *next = dialog->findChild<QPushButton *>(QStringLiteral("next"));
    QTRY_VERIFY_WITH_TIMEOUT(!next->isEnabled() && next->toolTip().contains(said), 20'000);
    QVERIFY(dialog->findChild<QPushButton *>(QStringLiteral("copyForAdmin"))->isVisible());
    shoot(dialog, "missing-right-dialog");
    dialog->done(0);
    m_connections->close(id);
}

void TestKubeConsole::anUncheckedServerIsRed()
{
    QVERIFY(visible<QLabel>("danger") == nullptr);
    QFile checked(QString::fromStdString(server().kubeconfig()));
    QVERIFY(checked.open(QIODevice::ReadOnly));
    const QString file = m_folder.filePath(QStringLiteral("unchecked.yaml"));
    QFile unchecked(file);
    QVERIFY(unchecked.open(QIODevice::WriteOnly));
    unchecked.write(checked.readAll().replace("certificate-authority: ca.crt", "insecure-skip-tls-verify: true"));
    unchecked.close();
    StoreUri uri = server().uri(m_namespace);
    uri.parameters["kubeconfig"] = file.toStdString();
    const QString id = m_connections->openUrl(QString::fromStdString(uri.display()));
    Session *session = m_connections->session(id);
    const LeaseId lease = LeaseId::observed("scheduler");
    QTRY_VERIFY_WITH_TIMEOUT(session->lease(lease) != nullptr && session->lease(lease)->record.holder, 30'000);
    m_window->openLease(id, lease);
    QTRY_VERIFY_WITH_TIMEOUT(visible<QLabel>("danger") != nullptr, 20'000);
    QVERIFY(visible<QLabel>("danger")->toolTip().contains(QStringLiteral("insecure-skip-tls-verify")));
    QTRY_VERIFY_WITH_TIMEOUT(visible<QLabel>("clusterEvent0_1") != nullptr, 20'000);
    QVERIFY(visible<QLabel>("clusterEvent0_1")->text().endsWith(QStringLiteral("became leader")));
    QVERIFY(visible<QLabel>("missingRights") == nullptr);
    const auto rowSays = [&] {
        const auto *tree = m_window->findChild<QTreeWidget *>(QStringLiteral("connections"));
        const auto found = tree->findItems(QStringLiteral("UNVERIFIED"), Qt::MatchContains | Qt::MatchRecursive, 1);
        return found.size() == 1 && found.first()->foreground(1).color() == m_theme.color(Token::Crit);
    };
    QTRY_VERIFY_WITH_TIMEOUT(rowSays(), 20'000);
    shoot(m_window.get(), "unchecked-server");
    m_connections->close(id);
    QTRY_VERIFY_WITH_TIMEOUT(visible<QLabel>("danger") == nullptr, 20'000);
}

void TestKubeConsole::shoot(QWidget *widget, const char *name)
{
    for (const auto &[choice, suffix] : {std::pair(ThemeChoice::Dark, "dark"), std::pair(ThemeChoice::Light, "light")}) {
        m_theme.setChoice(choice);
        QTest::qWait(700); // the slowest of the repaints by time
        QVERIFY(widget->grab().save(
            QStringLiteral(TENURE_SHOTS "/kube-%1-%2.png").arg(QLatin1String(name), QLatin1String(suffix))));
    }
}

QTEST_MAIN(TestKubeConsole)
#include "tst_kube_console.moc"
