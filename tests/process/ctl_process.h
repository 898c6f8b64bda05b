// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTcpServer>

#include <csignal>

#include <sys/prctl.h>

namespace tenure::test
{

/// A child that dies with the test, however the test ends.
inline void dieWithParent(QProcess &process)
{
    process.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
}

struct Ran {
    int code = -1; ///< -1: crashed or did not end in time
    QByteArray out, err;
    qint64 milliseconds = 0;
};

/// Runs tenurectl to its end, at most `limit` milliseconds.
inline Ran runCtl(const QStringList &arguments, int limit = 10'000, const QStringList &environment = {})
{
    QProcess process;
    dieWithParent(process);
    QStringList all = QProcess::systemEnvironment();
    all << environment;
    process.setEnvironment(all);
    QElapsedTimer timer;
    timer.start();
    process.start(QStringLiteral(TENURECTL_PATH), arguments);
    process.closeWriteChannel();
    const bool ended = process.waitForFinished(limit);
    Ran ran;
    ran.milliseconds = timer.elapsed();
    if (!ended) {
        process.kill();
        process.waitForFinished();
    }
    ran.out = process.readAllStandardOutput();
    ran.err = process.readAllStandardError();
    if (ended && process.exitStatus() == QProcess::NormalExit)
        ran.code = process.exitCode();
    return ran;
}

/// One `tenurectl campaign --json`, and what it told.
class Campaign
{
public:
    Campaign(const QString &url, const QString &lease, const QString &ttl, const QString &id,
        const QStringList &environment = {})
    {
        dieWithParent(m_process);
        m_process.setEnvironment(QProcess::systemEnvironment() + environment);
        m_process.start(QStringLiteral(TENURECTL_PATH),
            {QStringLiteral("campaign"), url, lease, QStringLiteral("--json"), QStringLiteral("--ttl"), ttl,
                QStringLiteral("--id"), id});
        m_process.waitForStarted();
    }
    ~Campaign()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    Campaign(const Campaign &) = delete;
    Campaign &operator=(const Campaign &) = delete;

    void signal(int number) { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    QProcess &process() { return m_process; }
    QList<QJsonObject> events()
    {
        m_process.waitForReadyRead(1);
        m_text += m_process.readAllStandardOutput();
        QList<QJsonObject> all;
        for (const QByteArray &line : m_text.split('\n')) {
            const QJsonObject event = QJsonDocument::fromJson(line).object();
            if (!event.isEmpty())
                all << event;
        }
        return all;
    }
    /// The last event of that type, empty when there was none.
    QJsonObject last(const QString &type)
    {
        QJsonObject found;
        for (const QJsonObject &event : events()) {
            if (event[QStringLiteral("type")].toString() == type)
                found = event;
        }
        return found;
    }
    bool leads()
    {
        bool leading = false;
        for (const QJsonObject &event : events()) {
            const QString type = event[QStringLiteral("type")].toString();
            leading = type == QStringLiteral("gained") || (leading && type != QStringLiteral("lost"));
        }
        return leading;
    }

private:
    QProcess m_process;
    QByteArray m_text;
};

inline double bootNs(const QJsonObject &event)
{
    return event[QStringLiteral("boot_ns")].toDouble();
}

inline quint16 freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost, 0);
    return server.serverPort();
}

} // namespace tenure::test
