// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fleet_table.h"

#include "ui/theme/theme.h"
#include "ui/views/fleet_delegate.h"

#include <QHeaderView>
#include <QKeyEvent>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

/// Least width in units, and share of what is left over.
struct ColumnWidth {
    int units;
    int share;
};
constexpr std::array<ColumnWidth, static_cast<std::size_t>(FleetColumn::Count_)> kWidths{{
    {33, 0}, {40, 5}, {24, 1}, {46, 5}, {26, 0}, {30, 1}, {22, 0}, {22, 0}, {22, 0}, {16, 0}}};

} // namespace

FleetTable::FleetTable(const Theme &theme, FleetModel &model, QWidget *parent)
    : QTableView(parent), m_theme(theme), m_model(model)
{
    setObjectName(QStringLiteral("fleetTable"));
    setAccessibleName(tr("Leases"));
    setModel(&model);
    setItemDelegate(new FleetDelegate(theme, model, this));
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setShowGrid(false);
    setFrameShape(NoFrame);
    setMouseTracking(true);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setVerticalScrollMode(ScrollPerPixel);
    setContextMenuPolicy(Qt::ActionsContextMenu);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(theme.rowHeight());
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setMinimumSectionSize(12 * theme.unit());
    useFont(horizontalHeader(), theme, FontRole::Small);
    horizontalHeader()->setSortIndicator(static_cast<int>(FleetColumn::State), Qt::AscendingOrder);
    setSortingEnabled(true);
    connect(&m_timer, &QTimer::timeout, this, &FleetTable::repaintAging);
    connect(&theme, &Theme::changed, this, [this] {
        verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
        fitColumns();
        viewport()->update();
    });
    connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_kept = current(); });
    connect(&model, &QAbstractItemModel::modelReset, this, [this] {
        const int at = m_kept ? m_model.positionOf(*m_kept) : -1;
        if (at >= 0)
            setCurrentIndex(m_model.index(at, 0));
    });
}

std::optional<FleetKey> FleetTable::current() const
{
    const QModelIndex index = currentIndex();
    return index.isValid() && index.row() < m_model.rowCount() ? std::optional(m_model.key(index.row()))
                                                              : std::nullopt;
}

void FleetTable::fitColumns()
{
    int left = viewport()->width();
    int shares = 0;
    for (const ColumnWidth &width : kWidths) {
        left -= width.units * m_theme.unit();
        shares += width.share;
    }
    left = std::max(left, 0);
    for (std::size_t i = 0; i < kWidths.size(); ++i)
        setColumnWidth(static_cast<int>(i), kWidths[i].units * m_theme.unit() + left * kWidths[i].share / shares);
}

void FleetTable::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    fitColumns();
}

void FleetTable::showEvent(QShowEvent *event)
{
    QTableView::showEvent(event);
    m_timer.start(250ms);
}

void FleetTable::hideEvent(QHideEvent *event)
{
    QTableView::hideEvent(event);
    m_timer.stop();
    m_pointerInside = false;
    updateCalm();
}

void FleetTable::repaintAging()
{
    m_quarter = (m_quarter + 1) % 4;
    if (m_quarter == 0) {
        viewport()->update();
        return;
    }
    const int column = static_cast<int>(FleetColumn::Left);
    const int first = std::max(rowAt(0), 0);
    const int last = rowAt(viewport()->height() - 1);
    const Instant now = m_model.now();
    const int end = last < 0 ? m_model.rowCount() - 1 : last;
    for (int row = first; row <= end; ++row) {
        const FleetRow &found = m_model.row(row);
        if (found.ends > now && found.ends - now < 10s)
            viewport()->update(visualRect(m_model.index(row, column)));
    }
}

void FleetTable::updateCalm()
{
    m_model.setCalm(m_pointerInside || (hasFocus() && currentIndex().isValid()));
}

bool FleetTable::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::Enter || event->type() == QEvent::Leave) {
        m_pointerInside = event->type() == QEvent::Enter;
        updateCalm();
    }
    return QTableView::viewportEvent(event);
}

void FleetTable::focusInEvent(QFocusEvent *event)
{
    QTableView::focusInEvent(event);
    updateCalm();
}

void FleetTable::focusOutEvent(QFocusEvent *event)
{
    QTableView::focusOutEvent(event);
    updateCalm();
}

void FleetTable::keyPressEvent(QKeyEvent *event)
{
    const bool plain = event->modifiers() == Qt::NoModifier;
    if (plain && (event->key() == Qt::Key_J || event->key() == Qt::Key_K)) {
        const int step = event->key() == Qt::Key_J ? 1 : -1;
        const int row = std::clamp(currentIndex().row() + step, 0, std::max(0, m_model.rowCount() - 1));
        setCurrentIndex(m_model.index(row, std::max(0, currentIndex().column())));
        updateCalm();
        return;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (currentIndex().isValid())
            Q_EMIT activated(currentIndex());
        return;
    }
    QTableView::keyPressEvent(event);
    updateCalm();
}

} // namespace tenure::ui
