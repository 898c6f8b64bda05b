// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/group_panel.h"

#include "ui/theme/theme.h"

#include <QHeaderView>

namespace tenure::ui
{

GroupPanel::GroupPanel(const Theme &theme, QWidget *parent) : QTreeWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("groupPanel"));
    setAccessibleName(tr("Groups"));
    setColumnCount(3);
    setHeaderLabels({tr("Group"), tr("Leases"), tr("Abnormal")});
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setFrameShape(NoFrame);
    setFixedWidth(72 * theme.unit());
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(0, QHeaderView::Stretch);
    header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    useFont(header(), theme, FontRole::Small);
    const auto pick = [this](QTreeWidgetItem *item) { Q_EMIT groupPicked(item->data(0, Qt::UserRole).toInt()); };
    connect(this, &QTreeWidget::itemClicked, this, pick);
    connect(this, &QTreeWidget::itemActivated, this, pick);
}

void GroupPanel::setGroups(const std::vector<FleetModel::Group> &groups)
{
    setVisible(!groups.empty());
    while (topLevelItemCount() > static_cast<int>(groups.size()))
        delete takeTopLevelItem(topLevelItemCount() - 1);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const FleetModel::Group &group = groups[i];
        QTreeWidgetItem *item = topLevelItem(static_cast<int>(i));
        if (item == nullptr) {
            item = new QTreeWidgetItem(this);
            item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
            item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
        }
        item->setText(0, group.title);
        item->setToolTip(0, group.title);
        item->setText(1, QString::number(group.count));
        item->setText(2, group.abnormal == 0 ? QString(QChar(0x2013)) : QString::number(group.abnormal));
        item->setForeground(2, m_theme.color(group.abnormal == 0 ? Token::Muted : Token::Crit));
        item->setFont(2, m_theme.font(group.abnormal == 0 ? FontRole::Body : FontRole::Strong));
        item->setData(0, Qt::UserRole, group.first);
        item->setSizeHint(0, {0, m_theme.rowHeight()});
    }
}

} // namespace tenure::ui
