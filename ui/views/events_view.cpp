// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/events_view.h"

#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QPainter>
#include <QTableView>
#include <QVBoxLayout>

#include <array>

namespace tenure::ui
{

EventsView::EventsView(const Theme &theme, const Clock &clock, std::optional<LeaseId> only, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_model(new EventsModel(clock, only, this)), m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("eventsView"));
    m_table->setObjectName(QStringLiteral("eventsTable"));
    m_table->setAccessibleName(tr("Changes of leadership"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(theme.rowHeight());
    QHeaderView *header = m_table->horizontalHeader();
    header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    header->setHighlightSections(false);
    header->setStretchLastSection(true);
    useFont(header, theme, FontRole::Small);
    m_table->setColumnHidden(static_cast<int>(EventColumn::Connection), only.has_value());
    m_table->setColumnHidden(static_cast<int>(EventColumn::Lease), only.has_value());
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    const auto showOrHide = [this] { m_table->setVisible(m_model->rowCount() > 0); };
    connect(m_model, &QAbstractItemModel::rowsInserted, this, showOrHide);
    connect(m_model, &QAbstractItemModel::modelReset, this, showOrHide);
    connect(m_table, &QAbstractItemView::activated, this, [this](const QModelIndex &index) {
        const EventsModel::Entry &entry = m_model->entry(index.row());
        Q_EMIT leaseActivated(entry.connectionId, entry.transition.lease);
    });
    connect(&theme, &Theme::changed, this, &EventsView::fit);
    fit();
    showOrHide();
}

void EventsView::fit()
{
    constexpr std::array units{31, 28, 42, 26, 33, 33, 26, 40};
    for (std::size_t i = 0; i < units.size(); ++i)
        m_table->setColumnWidth(static_cast<int>(i), units[i] * m_theme.unit());
    if (timeShown() == TimeShown::Both)
        m_table->setColumnWidth(0, 52 * m_theme.unit());
    m_table->verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
    m_table->viewport()->update();
    m_table->horizontalHeader()->viewport()->update();
}

void EventsView::paintEvent(QPaintEvent *)
{
    if (m_table->isVisible())
        return;
    QPainter painter(this);
    painter.setPen(m_theme.color(Token::Muted));
    painter.drawText(rect().adjusted(4, 4, -4, -4), Qt::AlignCenter | Qt::TextWordWrap,
        tr("No change of leadership was seen in this session."));
}

} // namespace tenure::ui
