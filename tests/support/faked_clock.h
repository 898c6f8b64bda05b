// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QTemporaryDir>

#include <fstream>
#include <string>
#include <vector>

namespace tenure::test
{

/// The wall clock of a server that is started with environment(): it steps when told to, its monotonic
/// clock goes on. By libfaketime.
class FakedClock
{
public:
    FakedClock() : m_offset(m_directory.filePath(QStringLiteral("offset")).toStdString()) { set("+0"); }
    [[nodiscard]] static bool installed() { return QFile::exists(QString::fromLatin1(kLibrary)); }
    [[nodiscard]] std::vector<std::string> environment() const
    {
        return {std::string("LD_PRELOAD=") + kLibrary, "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1",
            "FAKETIME_TIMESTAMP_FILE=" + m_offset};
    }
    /// So many seconds away from the true time: "+3600".
    void set(const char *seconds) const
    {
        std::ofstream(m_offset) << seconds << "\n";
        const bool open = QFile::setPermissions(QString::fromStdString(m_offset),
                              QFile::ReadOwner | QFile::WriteOwner | QFile::ReadOther)
            && QFile::setPermissions(m_directory.path(),
                QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner | QFile::ReadOther | QFile::ExeOther);
        if (!open) // the server runs as somebody else
            qFatal("the file of the faked clock cannot be opened to others");
    }

private:
    static constexpr const char *kLibrary = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    const QTemporaryDir m_directory;
    const std::string m_offset;
};

} // namespace tenure::test
