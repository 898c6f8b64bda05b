// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/log_model.h"

#include "core/base/time_text.h"
#include "ui/theme/words.h"

#include <QRegularExpression>

#include <array>

namespace tenure::ui
{

QString word(LogLevel level)
{
    constexpr std::array words{"info", "WARN", "ERROR"};
    return QLatin1String(words[static_cast<std::size_t>(level)]);
}

QString withoutSecrets(const QString &text)
{
    static const QRegularExpression kUser(QStringLiteral("(://[^\\s/@:]*):[^\\s@]*@"));
    static const QRegularExpression kValue(
        QStringLiteral("\\b((?:password|passwd|pwd|secret|api[-_]?key|authorization)\\s*[=:]\\s*)(?:bearer\\s+)?[^\\s,;&]+"),
        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression kBearer(QStringLiteral("\\b(bearer\\s+)[A-Za-z0-9._~+/=-]+"),
        QRegularExpression::CaseInsensitiveOption);
    QString out = text;
    out.replace(kUser, QStringLiteral("\\1:***@"));
    out.replace(kValue, QStringLiteral("\\1***"));
    out.replace(kBearer, QStringLiteral("\\1***"));
    return out;
}

LogModel::LogModel(const Clock &clock, QObject *parent) : QAbstractTableModel(parent), m_clock(clock)
{
    connect(&m_timer, &QTimer::timeout, this, [this] {
        for (const auto &[source, known] : std::map(m_sources))
            look(source);
    });
}

void LogModel::addSource(LeaseSource *source)
{
    m_sources[source];
    add(LogLevel::Info, source->connection().name, tr("Opened %1").arg(source->connection().url));
    connect(source, &LeaseSource::linkChanged, this, [this, source] { look(source); });
    m_timer.start(std::chrono::seconds(1));
    look(source);
}

void LogModel::removeSource(LeaseSource *source)
{
    disconnect(source, nullptr, this, nullptr);
    if (m_sources.erase(source) > 0)
        add(LogLevel::Info, source->connection().name, tr("Closed"));
}

void LogModel::look(LeaseSource *source)
{
    const auto found = m_sources.find(source);
    if (found == m_sources.end())
        return;
    Known &known = found->second;
    const LinkStatus &link = source->link();
    const LinkState state = linkStateAt(link, m_clock.now());
    const QString error = link.error ? shown(link.error->text()) : QString();
    const bool fresh = isFresh(state);
    if (state != known.state) {
        const bool wasFresh = isFresh(known.state);
        QString text = QStringLiteral("%1 → %2").arg(word(known.state), word(state));
        if (fresh && !wasFresh && !link.server.empty())
            text += QStringLiteral(", ") + shown(link.server);
        if (!fresh && !error.isEmpty())
            text += QStringLiteral(": ") + error;
        const bool bad = state == LinkState::Disconnected || state == LinkState::Denied;
        add(bad ? LogLevel::Problem : state == LinkState::Stale ? LogLevel::Warning : LogLevel::Info,
            source->connection().name, text);
    } else if (!error.isEmpty() && error != known.error) {
        add(LogLevel::Warning, source->connection().name, error);
    }
    known = {state, error};
}

void LogModel::add(LogLevel level, const QString &connection, const QString &text)
{
    Entry entry{m_clock.wall(), level, connection, withoutSecrets(text)};
    m_warnings += level == LogLevel::Info ? 0 : 1;
    const bool listed = level >= m_least;
    if (listed)
        beginInsertRows({}, 0, 0);
    m_entries.push_front(std::move(entry));
    for (std::size_t &index : m_listed)
        ++index;
    if (listed) {
        m_listed.insert(m_listed.begin(), 0);
        endInsertRows();
    }
    if (m_entries.size() > kMost) {
        m_entries.resize(kMost * 9 / 10);
        relist();
    }
    Q_EMIT added();
}

void LogModel::setLeast(LogLevel level)
{
    m_least = level;
    relist();
}

void LogModel::relist()
{
    beginResetModel();
    m_listed.clear();
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (m_entries[i].level >= m_least)
            m_listed.push_back(i);
    }
    endResetModel();
}

QString LogModel::asText() const
{
    QString out;
    for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry) {
        out += ui::text(rfc3339(entry->at)) + QLatin1Char(' ') + word(entry->level) + QLatin1Char(' ')
            + entry->connection + QStringLiteral("  ") + entry->text + QLatin1Char('\n');
    }
    return out;
}

int LogModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_listed.size());
}

int LogModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(Column::Count_);
}

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Entry &found = entry(index.row());
    if (role == Qt::ToolTipRole)
        return found.text;
    if (role == Qt::AccessibleTextRole)
        return tr("%1, %2, %3").arg(word(found.level), found.connection, found.text);
    if (role != Qt::DisplayRole)
        return {};
    switch (static_cast<Column>(index.column())) {
    case Column::Time:
        return timeText(found.at, m_clock.wall());
    case Column::Level:
        return word(found.level);
    case Column::Connection:
        return found.connection;
    case Column::Text:
    case Column::Count_:
        break;
    }
    return found.text;
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columnCount())
        return {};
    const std::array titles{tr("Time (%1)").arg(zoneText()), tr("Level"), tr("Connection"), tr("What")};
    return titles[static_cast<std::size_t>(section)];
}

} // namespace tenure::ui
