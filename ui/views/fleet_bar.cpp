// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fleet_bar.h"

#include "ui/settings/settings_store.h"
#include "ui/theme/theme.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

namespace tenure::ui
{

FleetBar::FleetBar(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_group(new QComboBox(this)), m_view(new QButtonGroup(this)),
      m_sizes(new QButtonGroup(this)), m_sizeBox(new QWidget(this)), m_views(new QPushButton(tr("Views"), this)),
      m_export(new QPushButton(tr("Export"), this)), m_resort(new QPushButton(tr("Re-sort (S)"), this)),
      m_shown(new QLabel(this)), m_moves(new QLabel(this))
{
    setObjectName(QStringLiteral("fleetBar"));
    const int unit = theme.unit();
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(4 * unit, unit, 4 * unit, unit);
    row->setSpacing(2 * unit);
    m_group->setObjectName(QStringLiteral("fleetGroup"));
    m_group->setAccessibleName(tr("Group by"));
    m_group->addItems({tr("No groups"), tr("By state"), tr("By backend"), tr("By environment"), tr("By prefix"), tr("By holder")});
    row->addWidget(m_group);
    row->addSpacing(unit);
    auto *views = new QHBoxLayout;
    views->setSpacing(0);
    views->addWidget(segment(m_view, tr("Table"), 0, QStringLiteral("fleetTableView")));
    views->addWidget(segment(m_view, tr("Tiles"), 1, QStringLiteral("fleetTileView")));
    row->addLayout(views);
    auto *sizes = new QHBoxLayout(m_sizeBox);
    sizes->setContentsMargins({});
    sizes->setSpacing(0);
    for (const int pixels : {10, 14, 20})
        sizes->addWidget(segment(m_sizes, QString::number(pixels), pixels, QStringLiteral("fleetTile%1").arg(pixels)));
    m_sizeBox->setToolTip(tr("Size of a tile in pixels"));
    row->addWidget(m_sizeBox);
    m_views->setObjectName(QStringLiteral("fleetViews"));
    m_views->setMenu(new QMenu(m_views));
    m_views->setToolTip(tr("Filter, grouping and view under a name"));
    row->addWidget(m_views);
    m_export->setObjectName(QStringLiteral("fleetExport"));
    m_export->setToolTip(tr("What is listed now, as a file (Ctrl+E)"));
    auto *exports = new QMenu(m_export);
    for (const auto &[title, format] : {std::pair(tr("CSV, safe for spreadsheets…"), Format::Csv),
             std::pair(tr("JSON…"), Format::Json), std::pair(tr("PNG, as it looks now…"), Format::Png)})
        connect(exports->addAction(title), &QAction::triggered, this, [this, format = format] { Q_EMIT exportAsked(format); });
    m_export->setMenu(exports);
    row->addWidget(m_export);
    row->addSpacing(2 * unit);
    m_shown->setObjectName(QStringLiteral("fleetShown"));
    m_shown->setProperty("role", QStringLiteral("caption"));
    row->addWidget(m_shown);
    row->addStretch(1);
    m_moves->setObjectName(QStringLiteral("fleetMoves"));
    m_resort->setObjectName(QStringLiteral("fleetResort"));
    row->addWidget(m_moves);
    row->addWidget(m_resort);
    setFixedHeight(theme.rowHeight() + 4 * unit); // its button comes and goes
    connect(&theme, &Theme::changed, this, [this] { setFixedHeight(m_theme.rowHeight() + 4 * m_theme.unit()); });

    connect(m_group, &QComboBox::activated, this, [this](int index) { Q_EMIT groupPicked(static_cast<FleetGroup>(index)); });
    connect(m_view, &QButtonGroup::idClicked, this, [this](int id) { Q_EMIT tilesPicked(id == 1); });
    connect(m_sizes, &QButtonGroup::idClicked, this, &FleetBar::pitchPicked);
    connect(m_resort, &QPushButton::clicked, this, &FleetBar::resortAsked);
    connect(m_views->menu(), &QMenu::aboutToShow, this, &FleetBar::fillViews);
    setTiles(false);
    setPitch(14);
}

QPushButton *FleetBar::segment(QButtonGroup *group, const QString &text, int id, const QString &name)
{
    auto *button = new QPushButton(text, this);
    button->setObjectName(name);
    button->setCheckable(true);
    button->setProperty("segment", true);
    group->addButton(button, id);
    return button;
}

void FleetBar::setStore(SettingsStore *store)
{
    m_store = store;
}

void FleetBar::fillViews()
{
    QMenu *menu = m_views->menu();
    menu->clear();
    const std::vector<SavedView> none;
    const std::vector<SavedView> &views = m_store == nullptr ? none : m_store->now().views;
    for (const SavedView &view : views) {
        connect(menu->addAction(view.name), &QAction::triggered, this, [this, name = view.name] { Q_EMIT viewPicked(name); });
    }
    if (views.empty())
        menu->addAction(tr("No view is saved yet"))->setEnabled(false);
    menu->addSeparator();
    connect(menu->addAction(tr("Save this view…")), &QAction::triggered, this, &FleetBar::saveViewAsked);
    if (!views.empty()) {
        QMenu *remove = menu->addMenu(tr("Remove"));
        for (const SavedView &view : views)
            connect(remove->addAction(view.name), &QAction::triggered, this, [this, name = view.name] { Q_EMIT removeViewAsked(name); });
    }
}

void FleetBar::setCounts(const QString &shown, std::size_t wouldMove)
{
    m_shown->setText(shown);
    m_moves->setText(wouldMove == 1 ? tr("1 row would move.") : tr("%1 rows would move.").arg(wouldMove));
    m_moves->setVisible(wouldMove > 0);
    m_resort->setVisible(wouldMove > 0);
}

void FleetBar::setGroup(FleetGroup group)
{
    m_group->setCurrentIndex(static_cast<int>(group));
}

FleetGroup FleetBar::group() const
{
    return static_cast<FleetGroup>(m_group->currentIndex());
}

void FleetBar::setTiles(bool tiles)
{
    m_view->button(tiles ? 1 : 0)->setChecked(true);
    m_sizeBox->setVisible(tiles);
    m_group->setEnabled(!tiles);
    m_group->setToolTip(tiles ? tr("Tiles keep their place; grouping is for the table") : QString());
}

bool FleetBar::tiles() const
{
    return m_view->checkedId() == 1;
}

void FleetBar::setPitch(int pixels)
{
    if (QAbstractButton *button = m_sizes->button(pixels))
        button->setChecked(true);
}

void FleetBar::popupExport()
{
    m_export->showMenu();
}

} // namespace tenure::ui
