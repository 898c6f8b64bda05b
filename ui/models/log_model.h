// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/lease_source.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <deque>

namespace tenure::ui
{

enum class LogLevel { Info, Warning, Problem };
[[nodiscard]] QString word(LogLevel level); ///< "info", "WARN", "ERROR"

/// What the console itself met: connections that came and went, errors with their text, what was
/// exported or refused. The last 5,000 entries, newest first. Never holds a secret: everything passes
/// withoutSecrets(). GUI thread.
class LogModel final : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum class Column { Time, Level, Connection, Text, Count_ };
    static constexpr std::size_t kMost = 5000;

    struct Entry {
        WallTime at;
        LogLevel level = LogLevel::Info;
        QString connection;
        QString text;
    };

    LogModel(const Clock &clock, QObject *parent);
    /// Tells changes of its link from now on. Borrowed.
    void addSource(LeaseSource *source);
    void removeSource(LeaseSource *source);
    void add(LogLevel level, const QString &connection, const QString &text);
    /// Only entries of this level or worse are listed.
    void setLeast(LogLevel level);

    [[nodiscard]] const Entry &entry(int row) const { return m_entries[m_listed[static_cast<std::size_t>(row)]]; }
    /// Warnings and problems since the start.
    [[nodiscard]] int warnings() const { return m_warnings; }
    /// All entries, oldest first, times in UTC with Z.
    [[nodiscard]] QString asText() const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    void added();

private:
    struct Known {
        LinkState state = LinkState::Connecting;
        QString error;
    };
    void look(LeaseSource *source);
    void relist();

    const Clock &m_clock;
    std::deque<Entry> m_entries; ///< newest first
    std::vector<std::size_t> m_listed; ///< into m_entries
    std::map<LeaseSource *, Known> m_sources;
    LogLevel m_least = LogLevel::Info;
    QTimer m_timer; ///< data grows stale without any news
    int m_warnings = 0;
};

/// `text` without what may be a password: user parts of URLs, values after "password=", bearer tokens.
[[nodiscard]] QString withoutSecrets(const QString &text);

} // namespace tenure::ui
