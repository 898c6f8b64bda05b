// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fleet_view.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/chip_bar.h"
#include "ui/views/fleet_bar.h"
#include "ui/views/fleet_table.h"
#include "ui/views/group_panel.h"
#include "ui/views/pinned_band.h"
#include "ui/views/tile_wall.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

enum Page { TablePage, TilePage, EmptyPage, HiddenPage };

QString counted(std::size_t count)
{
    return QLocale(QLocale::English).toString(static_cast<qulonglong>(count)).replace(QLatin1Char(','), QChar(0x2009));
}

} // namespace

FleetView::FleetView(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_model(new FleetModel(clock, this)), m_chips(new ChipBar(theme, this)),
      m_filter(new QLineEdit(this)), m_filterError(new QLabel(this)),
      m_pinned(new PinnedBand(theme, clock, this)), m_pages(new QStackedWidget(this)),
      m_table(new FleetTable(theme, *m_model, this)),
      m_bar(new FleetBar(theme, this)), m_tiles(new TileWall(theme, *m_model, this))
{
    setObjectName(QStringLiteral("fleetView"));
    const int unit = theme.unit();
    m_filter->setObjectName(QStringLiteral("fleetFilter"));
    m_filter->setAccessibleName(tr("Filter"));
    m_filter->setPlaceholderText(tr("Filter: state:late|vacant  env:prod  holder:~idx  ttl<5s  churn>3/10m  -name"));
    m_filter->setClearButtonEnabled(true);
    m_filterError->setObjectName(QStringLiteral("fleetFilterError"));
    m_filterError->setProperty("role", QStringLiteral("crit"));
    m_filterError->setTextFormat(Qt::PlainText);
    m_filterError->setWordWrap(true);
    m_filterError->hide();
    m_pages->addWidget(makeTablePage());
    m_pages->addWidget(makeTilePage());
    m_pages->addWidget(makeEmptyPage());
    m_pages->addWidget(makeHiddenPage());

    auto *top = new QVBoxLayout;
    top->setContentsMargins(4 * unit, 3 * unit, 4 * unit, 3 * unit);
    top->setSpacing(2 * unit);
    top->addWidget(m_chips);
    top->addWidget(m_filter);
    top->addWidget(m_filterError);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(m_pinned);
    column->addWidget(m_pages, 1);
    column->addWidget(m_bar);
    setFocusProxy(m_table);

    connect(m_filter, &QLineEdit::textChanged, this, &FleetView::applyFilter);
    connect(m_chips, &ChipBar::filterPicked, m_filter, &QLineEdit::setText);
    connect(m_model, &FleetModel::flushed, this, &FleetView::updateSummary);
    connect(m_pinned, &PinnedBand::activated, this, &FleetView::activate);
    connect(m_pinned, &PinnedBand::restAsked, this, [this] { setFilter(QStringLiteral("state:abnormal|churn")); });
    connect(m_table, &QAbstractItemView::activated, this,
        [this](const QModelIndex &index) { activate(m_model->key(index.row())); });
    makeBar();
    makeActions();
    updateSummary();
}

QWidget *FleetView::makeEmptyPage()
{
    auto *page = new QWidget(this);
    page->setObjectName(QStringLiteral("fleetEmpty"));
    m_emptyText = new QLabel(page);
    m_emptyText->setAlignment(Qt::AlignCenter);
    m_emptyText->setWordWrap(true);
    auto *add = new QPushButton(tr("Add connection"), page);
    auto *simulation = new QPushButton(tr("Open simulation"), page);
    add->setObjectName(QStringLiteral("fleetAddConnection"));
    simulation->setObjectName(QStringLiteral("fleetOpenSimulation"));
    connect(add, &QPushButton::clicked, this, &FleetView::addConnectionRequested);
    connect(simulation, &QPushButton::clicked, this, &FleetView::openSimulationRequested);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(2 * m_theme.unit());
    buttons->addStretch(1);
    buttons->addWidget(add);
    buttons->addWidget(simulation);
    buttons->addStretch(1);
    auto *column = new QVBoxLayout(page);
    column->setSpacing(4 * m_theme.unit());
    column->addStretch(2);
    column->addWidget(m_emptyText);
    column->addLayout(buttons);
    column->addStretch(3);
    return page;
}

QWidget *FleetView::makeHiddenPage()
{
    auto *page = new QWidget(this);
    page->setObjectName(QStringLiteral("fleetNoMatch"));
    m_hiddenText = new QLabel(page);
    m_hiddenText->setObjectName(QStringLiteral("fleetNoMatchText"));
    m_hiddenText->setAlignment(Qt::AlignCenter);
    m_hiddenText->setTextFormat(Qt::PlainText);
    m_hiddenText->setWordWrap(true);
    auto *clear = new QPushButton(tr("Clear filter"), page);
    clear->setObjectName(QStringLiteral("fleetClearFilter"));
    connect(clear, &QPushButton::clicked, m_filter, &QLineEdit::clear);
    auto *column = new QVBoxLayout(page);
    column->setSpacing(4 * m_theme.unit());
    column->addStretch(2);
    column->addWidget(m_hiddenText);
    column->addWidget(clear, 0, Qt::AlignCenter);
    column->addStretch(3);
    return page;
}

void FleetView::makeActions()
{
    const auto add = [this](QWidget *owner, const QString &name, const QString &title, const QKeySequence &key, auto slot) {
        auto *action = new QAction(title, this);
        action->setObjectName(name);
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, slot);
        owner->addAction(action);
        if (owner != m_table && key != QKeySequence::Find)
            m_table->addAction(action); // for its context menu
    };
    add(m_table, QStringLiteral("actionOpenLease"), tr("Open"), {}, [this] {
        if (const auto key = m_table->current())
            activate(*key);
    });
    add(this, QStringLiteral("actionCopyName"), tr("Copy name"), QKeySequence(Qt::Key_C), [this] { copyName(); });
    add(this, QStringLiteral("actionCopyCommand"), tr("Copy as command"), QKeySequence(Qt::SHIFT | Qt::Key_C), [this] { copyCommand(); });
    add(this, QStringLiteral("actionPin"), tr("Pin or unpin"), QKeySequence(Qt::Key_P), [this] { togglePin(); });
    add(this, QStringLiteral("actionResort"), tr("Re-sort"), QKeySequence(Qt::Key_S), [this] { m_model->resort(); });
    add(this, QStringLiteral("actionFilter"), tr("Filter"), QKeySequence::Find, [this] { focusFilter(); });
}

void FleetView::addSource(LeaseSource *source)
{
    m_model->addSource(source);
    m_model->flush();
}

void FleetView::removeSource(LeaseSource *source)
{
    m_model->removeSource(source);
}

void FleetView::setFilter(const QString &filter)
{
    m_filter->setText(filter);
}

void FleetView::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

void FleetView::applyFilter()
{
    const QString line = m_filter->text();
    const auto parsed = LeaseFilter::parse(line.toStdString());
    m_filter->setProperty("bad", !parsed.has_value());
    m_filter->style()->unpolish(m_filter);
    m_filter->style()->polish(m_filter);
    m_filterError->setVisible(!parsed);
    if (!parsed) {
        // What was shown stays: a half-typed word is no reason to hide everything.
        m_filterError->setText(tr("%1: %2").arg(shown(parsed.error().token), shown(parsed.error().sentence)));
        return;
    }
    m_chips->setFilter(line);
    m_model->setFilter(*parsed);
}

void FleetView::updateSummary()
{
    const FleetSummary &summary = m_model->summary();
    const auto listed = static_cast<std::size_t>(m_model->rowCount());
    m_chips->setSummary(summary);
    m_pinned->show(*m_model);
    m_bar->setCounts(tr("%1 of %2 shown").arg(counted(listed), counted(summary.total)),
        m_bar->tiles() ? 0 : m_model->wouldMove());
    m_groups->setGroups(m_model->groups());
    showTile();
    m_hiddenText->setText(tr("No match for %1. %2 leases are hidden.")
                              .arg(m_filter->text().trimmed(), counted(summary.total)));
    m_emptyText->setText(m_model->hasSources()
            ? tr("No leases seen yet on these connections. They appear here as soon as one is taken.")
            : tr("No connections yet. Add one, or open the classroom simulation: it needs no network."));
    for (QPushButton *button : m_pages->widget(EmptyPage)->findChildren<QPushButton *>())
        button->setVisible(!m_model->hasSources());
    m_pages->setCurrentIndex(summary.total == 0 ? EmptyPage : listed == 0 ? HiddenPage
                                                                : m_bar->tiles() ? TilePage : TablePage);
}

void FleetView::activate(const FleetKey &key)
{
    Q_EMIT leaseActivated(key.connection, key.lease);
}

} // namespace tenure::ui
