// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/work_model.h"

#include "core/base/text.h"
#include "ui/theme/words.h"

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kShownPayload = 160;

const QString &nothing()
{
    static const QString dash(QChar(0x2013));
    return dash;
}

QString orNothing(const QString &text)
{
    return text.isEmpty() ? nothing() : text;
}

QString tokenText(FencingToken token)
{
    return token ? QString::number(token.value) : nothing();
}

} // namespace

WorkModel::WorkModel(const Theme &theme, const Clock &clock, QObject *parent)
    : QAbstractTableModel(parent), m_theme(theme), m_clock(clock)
{
}

void WorkModel::setItems(std::vector<ItemView> items, Instant at)
{
    m_at = at;
    if (!items.empty() && rowCount() > 0 && items.front().state != item(0).state)
        setItems({}, at);
    // Both are in the order of their ids, or against it: what is gone leaves first, then what is new comes in.
    const bool falling = !items.empty() && newestFirst(items.front().state);
    const auto precedes = [falling](const ItemView &a, const ItemView &b) { return falling ? a.id > b.id : a.id < b.id; };
    std::size_t kept = 0;
    for (int row = 0; row < rowCount();) {
        while (kept < items.size() && precedes(items[kept], item(row)))
            ++kept;
        if (kept < items.size() && items[kept].id == item(row).id) {
            ++row;
            continue;
        }
        int last = row;
        while (last + 1 < rowCount() && (kept == items.size() || precedes(item(last + 1), items[kept])))
            ++last;
        beginRemoveRows({}, row, last);
        m_items.erase(m_items.begin() + row, m_items.begin() + last + 1);
        endRemoveRows();
    }
    for (std::size_t i = 0; i < items.size();) {
        if (i < m_items.size() && m_items[i].id == items[i].id) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < items.size() && (i >= m_items.size() || precedes(items[end], m_items[i])))
            ++end;
        beginInsertRows({}, static_cast<int>(i), static_cast<int>(end) - 1);
        m_items.insert(m_items.begin() + static_cast<std::ptrdiff_t>(i),
            items.begin() + static_cast<std::ptrdiff_t>(i), items.begin() + static_cast<std::ptrdiff_t>(end));
        endInsertRows();
        i = end;
    }
    m_items = std::move(items);
    tell(WorkColumn::Id, WorkColumn::Payload);
}

void WorkModel::setFresh(bool fresh)
{
    if (fresh == m_fresh)
        return;
    m_fresh = fresh;
    tell(WorkColumn::Id, WorkColumn::Payload);
}

void WorkModel::tick()
{
    tell(WorkColumn::When, WorkColumn::When);
    tell(WorkColumn::Age, WorkColumn::Age);
}

void WorkModel::tell(WorkColumn from, WorkColumn to)
{
    if (!m_items.empty())
        Q_EMIT dataChanged(index(0, static_cast<int>(from)), index(rowCount() - 1, static_cast<int>(to)));
}

int WorkModel::rowOf(std::int64_t id) const
{
    const auto found = std::ranges::find(m_items, id, &ItemView::id);
    return found == m_items.end() ? -1 : static_cast<int>(found - m_items.begin());
}

int WorkModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_items.size());
}

int WorkModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(WorkColumn::Count_);
}

Duration WorkModel::due(const ItemView &item) const
{
    return item.due - (m_clock.now() - m_at);
}

bool WorkModel::isLate(const ItemView &item) const
{
    return item.state == ItemState::Processing && due(item) <= 0ns;
}

QString WorkModel::whenText(const ItemView &item) const
{
    if (item.state == ItemState::Completed || item.state == ItemState::Dead || !m_fresh)
        return nothing();
    const Duration left = due(item);
    if (item.state == ItemState::Pending)
        return left <= 0ns ? tr("ready") : tr("in %1").arg(ui::text(left));
    if (left > 0ns)
        return tr("%1 left").arg(ui::text(left));
    // Of another boot: when the claim ran out cannot be told.
    return item.due == 0ns ? tr("\u25B2 LATE") : tr("\u25B2 LATE by %1").arg(ui::text(-left));
}

QString WorkModel::text(const ItemView &item, WorkColumn column) const
{
    switch (column) {
    case WorkColumn::Id:
        return QString::number(item.id);
    case WorkColumn::When:
        return whenText(item);
    case WorkColumn::Attempts:
        return tr("%1 of %2").arg(item.attempts).arg(item.maxAttempts);
    case WorkColumn::Worker:
        return orNothing(shown(item.worker));
    case WorkColumn::Token:
        return tokenText(item.token);
    case WorkColumn::Fence:
        return tokenText(item.fence);
    case WorkColumn::Reason:
        return orNothing(shown(item.reason));
    case WorkColumn::Age:
        return m_fresh ? ui::text(item.age + (m_clock.now() - m_at)) : nothing();
    case WorkColumn::Key:
        return orNothing(shown(item.key));
    case WorkColumn::Payload:
    case WorkColumn::Count_:
        break;
    }
    QString payload = ui::text(std::string_view(printable(item.excerpt, kShownPayload)));
    if (item.bytes > item.excerpt.size())
        payload += tr("  (%1 bytes)").arg(item.bytes);
    return orNothing(payload);
}

QVariant WorkModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ItemView &one = item(index.row());
    const auto column = static_cast<WorkColumn>(index.column());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return text(one, column);
    case Qt::UserRole:
        return qlonglong(one.id);
    case Qt::ForegroundRole: {
        if (!m_fresh)
            return m_theme.color(Token::Stale);
        const bool warns = isLate(one) && (column == WorkColumn::When || column == WorkColumn::Worker);
        const bool quiet = text(one, column) == nothing();
        return m_theme.color(warns ? Token::Warn : quiet ? Token::Muted : Token::Text);
    }
    case Qt::FontRole:
        if (isLate(one) && m_fresh && column == WorkColumn::When)
            return m_theme.font(FontRole::Strong);
        return m_theme.font(column == WorkColumn::Payload ? FontRole::Mono : FontRole::Number);
    case Qt::AccessibleTextRole:
        if (column == WorkColumn::Id)
            return tr("Item %1, %2, attempt %3").arg(text(one, column), whenText(one), text(one, WorkColumn::Attempts));
        return text(one, column);
    default:
        return {};
    }
}

QVariant WorkModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::DisplayRole) {
        const std::array<QString, static_cast<std::size_t>(WorkColumn::Count_)> heads{tr("Item"), tr("When"),
            tr("Attempt"), tr("Worker"), tr("Token"), tr("Leader's token"), tr("Why it failed"), tr("Age"),
            tr("Key"), tr("Payload")};
        return heads[static_cast<std::size_t>(section)];
    }
    if (role == Qt::ToolTipRole) {
        switch (static_cast<WorkColumn>(section)) {
        case WorkColumn::When:
            return tr("By the store's clock: how long the claim still lasts, or when the item may be claimed");
        case WorkColumn::Token:
            return tr("The claim's fencing token: larger with each claim, so that resources can refuse an older one");
        case WorkColumn::Fence:
            return tr("The token of the leader for whom it was claimed; \u2013 for work that needs no leader");
        default:
            break;
        }
    }
    return {};
}

} // namespace tenure::ui
