// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "tests/process/ctl_process.h"

#include <QFile>
#include <QMap>

namespace tenure::test
{

/// One `tenurectl run` in the background. Its output goes to where the test's goes.
class Run
{
public:
    Run(const QStringList &arguments, const QStringList &environment = {})
    {
        dieWithParent(m_process);
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.setEnvironment(QProcess::systemEnvironment() + environment);
        m_process.start(QStringLiteral(TENURECTL_PATH), QStringList(QStringLiteral("run")) + arguments);
        m_process.waitForStarted();
        m_pid = static_cast<pid_t>(m_process.processId());
    }
    ~Run()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    [[nodiscard]] pid_t pid() const { return m_pid; }
    void signal(int number) const { ::kill(m_pid, number); }
    bool ended(int limit = 15'000)
    {
        return m_process.state() == QProcess::NotRunning || m_process.waitForFinished(limit);
    }
    [[nodiscard]] int code() const { return m_process.exitCode(); }
    QByteArray output()
    {
        m_text += m_process.readAll();
        return m_text;
    }

private:
    QProcess m_process;
    QByteArray m_text;
    pid_t m_pid = 0;
};

/// From the first to the last sign of life of all processes of one term, by the boot clock.
struct Life {
    quint64 token = 0;
    QByteArray holder;
    qint64 first = 0, last = 0;
    qsizetype ticks = 0;
};

/// What tickers wrote, read on from where the last look ended.
class LifeLog
{
public:
    explicit LifeLog(const QString &path) : m_file(path) { }
    /// In the order of their tokens.
    QList<Life> lives()
    {
        if (m_file.isOpen() || m_file.open(QIODevice::ReadOnly))
            m_rest += m_file.readAll();
        const qsizetype end = m_rest.lastIndexOf('\n'); // half a line is one being written
        for (const QByteArray &line : m_rest.left(std::max<qsizetype>(end, 0)).split('\n'))
            add(line.split(' '));
        m_rest = m_rest.mid(end + 1);
        return m_lives.values();
    }

private:
    void add(const QList<QByteArray> &words)
    {
        if (words.size() != 3)
            return;
        Life &life = m_lives[words[0].toULongLong()];
        const qint64 at = words[2].toLongLong();
        life.token = words[0].toULongLong();
        life.holder = words[1];
        life.first = life.ticks == 0 ? at : std::min(life.first, at);
        life.last = std::max(life.last, at);
        ++life.ticks;
    }
    QFile m_file;
    QByteArray m_rest;
    QMap<quint64, Life> m_lives;
};

/// The processes whose parent is `pid`, from /proc.
inline QList<pid_t> childrenOf(pid_t pid)
{
    QFile file(QStringLiteral("/proc/%1/task/%1/children").arg(pid));
    QList<pid_t> children;
    if (file.open(QIODevice::ReadOnly)) {
        for (const QByteArray &word : file.readAll().split(' ')) {
            if (!word.trimmed().isEmpty())
                children << word.toInt();
        }
    }
    return children;
}

} // namespace tenure::test
