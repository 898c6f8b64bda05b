// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/alerts_view.h"

#include "ui/models/fleet_row.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/shelve_dialog.h"
#include "ui/views/walk_keys.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

constexpr Duration kRemindBefore = std::chrono::minutes(5);

QString stateText(AlertState state)
{
    switch (state) {
    case AlertState::Returned:
        return AlertsView::tr("over, unseen");
    case AlertState::Acknowledged:
        return AlertsView::tr("acked");
    case AlertState::Snoozed:
        return AlertsView::tr("shelved");
    case AlertState::Resolved:
        return AlertsView::tr("over");
    case AlertState::Firing:
        break;
    }
    return {};
}

class AlertDelegate final : public QStyledItemDelegate
{
public:
    AlertDelegate(const Theme &theme, const AlertsModel &model, QObject *parent)
        : QStyledItemDelegate(parent), m_theme(theme), m_model(model)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return {40 * m_theme.unit(), 2 * m_theme.rowHeight() - m_theme.unit()};
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const AlertsModel::Entry &entry = m_model.entry(index.row());
        const Alert &alert = entry.alert;
        const bool drilled = entry.source->isDrilled(alert.lease);
        const bool open = !drilled && (alert.state == AlertState::Firing || alert.state == AlertState::Returned);
        const int unit = m_theme.unit();
        painter->save();
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        painter->fillRect(option.rect, m_theme.color(selected ? Token::Selection : Token::Bg));
        painter->setPen(m_theme.color(Token::Hairline));
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        const Token ink = !open ? Token::Muted : alert.priority == 1 ? Token::Crit : Token::Warn;
        painter->fillRect(QRect(option.rect.left(), option.rect.top(), unit, option.rect.height() - 1),
            m_theme.color(open ? ink : Token::Hairline));
        const QRect box = option.rect.adjusted(4 * unit, unit, -3 * unit, -unit);
        const int line = box.height() / 2;
        const QRect upper(box.left(), box.top(), box.width(), line);
        const QRect lower(box.left(), box.top() + line, box.width(), line);
        const QString age = ageText(m_model.now() - alert.firstAt);
        paintLine(*painter, upper, QStringLiteral("P%1  %2").arg(alert.priority).arg(shown(alert.rule).toUpper()),
            age, open ? FontRole::Strong : FontRole::Body, ink);
        const QString subject = alert.lease.name().empty() ? entry.connection : shown(alert.lease.name());
        QString state = drilled ? AlertsView::tr("OUT OF SERVICE: drill") : stateText(alert.state);
        if (alert.count > 1)
            state = QStringLiteral("\u00D7%1 ").arg(alert.count) + state;
        paintLine(*painter, lower, subject + QStringLiteral("  ") + shown(alert.text), state, FontRole::Body,
            open ? Token::Text : Token::Muted);
        painter->restore();
    }

private:
    void paintLine(QPainter &painter, const QRect &box, const QString &left, const QString &right, FontRole role, Token ink) const
    {
        painter.setFont(m_theme.font(FontRole::Number));
        painter.setPen(m_theme.color(Token::Muted));
        painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, right);
        const int used = painter.fontMetrics().horizontalAdvance(right) + 2 * m_theme.unit();
        painter.setFont(m_theme.font(role));
        painter.setPen(m_theme.color(ink));
        painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(left, Qt::ElideRight, box.width() - used));
    }
    const Theme &m_theme;
    const AlertsModel &m_model;
};

} // namespace

AlertsView::AlertsView(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_model(new AlertsModel(clock, this)), m_counts(new QLabel(this)),
      m_list(new QListView(this)), m_action(new QLabel(this)), m_shelves(new QTreeWidget(this)), m_ack(new QPushButton(tr("Ack"), this)),
      m_shelve(new QPushButton(tr("Shelve…"), this)), m_open(new QPushButton(tr("Open"), this))
{
    setObjectName(QStringLiteral("alertsView"));
    m_counts->setObjectName(QStringLiteral("alertCounts"));
    m_counts->setProperty("role", QStringLiteral("caption"));
    m_list->setObjectName(QStringLiteral("alertsList"));
    m_list->setAccessibleName(tr("Alerts"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new AlertDelegate(theme, *m_model, this));
    m_action->setObjectName(QStringLiteral("alertAction"));
    m_action->setWordWrap(true);
    m_action->setTextFormat(Qt::PlainText);
    m_action->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_ack->setObjectName(QStringLiteral("alertAck"));
    m_ack->setToolTip(tr("I have seen it (A)"));
    m_shelve->setObjectName(QStringLiteral("alertShelve"));
    m_shelve->setToolTip(tr("Put it aside for a while, for a reason (H)"));
    m_open->setObjectName(QStringLiteral("alertOpen"));
    const int unit = theme.unit();
    QHBoxLayout *buttons = makeButtons();
    makeShelves();
    walkWithJK(m_list);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 2 * unit, 0, 2 * unit);
    column->setSpacing(2 * unit);
    m_counts->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    m_action->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    buttons->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    column->addWidget(m_counts);
    column->addWidget(m_list, 1);
    column->addWidget(m_shelves);
    column->addWidget(m_action);
    column->addLayout(buttons);

    connectParts();
    updateButtons();
}

QHBoxLayout *AlertsView::makeButtons()
{
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(2 * m_theme.unit());
    for (QPushButton *button : {m_ack, m_shelve, m_open})
        buttons->addWidget(button);
    buttons->addStretch(1);
    for (const auto &[name, title] : {std::pair("alertRules", tr("Rules")), std::pair("alertHistory", tr("History"))}) {
        auto *quiet = new QPushButton(title, this);
        quiet->setObjectName(QLatin1String(name));
        quiet->setProperty("quiet", true);
        buttons->addWidget(quiet);
    }
    connect(findChild<QPushButton *>(QStringLiteral("alertRules")), &QPushButton::clicked, this, &AlertsView::rulesAsked);
    connect(findChild<QPushButton *>(QStringLiteral("alertHistory")), &QPushButton::clicked, this, &AlertsView::historyAsked);
    return buttons;
}

void AlertsView::makeShelves()
{
    m_shelves->setObjectName(QStringLiteral("shelves"));
    m_shelves->setAccessibleName(tr("Shelved"));
    m_shelves->setHeaderLabels({tr("Shelved"), tr("Left"), {}});
    m_shelves->setRootIsDecorated(false);
    m_shelves->setFrameShape(QFrame::NoFrame);
    m_shelves->header()->setStretchLastSection(false);
    m_shelves->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_shelves->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_shelves->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    m_shelves->hide();
}

void AlertsView::connectParts()
{
    connect(m_model, &AlertsModel::countsChanged, this, &AlertsView::updateButtons);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &AlertsView::updateButtons);
    connect(m_list, &QListView::activated, this, &AlertsView::open);
    connect(m_open, &QPushButton::clicked, this, &AlertsView::open);
    connect(m_ack, &QPushButton::clicked, this, [this] {
        if (const auto *entry = current())
            entry->source->acknowledge(entry->alert.id);
    });
    connect(m_shelve, &QPushButton::clicked, this, &AlertsView::shelve);
    auto *shelveKey = new QShortcut(QKeySequence(Qt::Key_H), this);
    shelveKey->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shelveKey, &QShortcut::activated, m_shelve, &QPushButton::click);
    auto *shortcut = new QShortcut(QKeySequence(Qt::Key_A), this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, m_ack, &QPushButton::click);
    auto *ages = new QTimer(this); // how much of a shelving is left
    connect(ages, &QTimer::timeout, this, [this] {
        if (isVisible() && m_shelves->topLevelItemCount() > 0)
            showShelves();
        remind();
    });
    ages->start(std::chrono::seconds(30));
}

const AlertsModel::Entry *AlertsView::current() const
{
    const QModelIndex index = m_list->currentIndex();
    return index.isValid() && index.row() < m_model->rowCount() ? &m_model->entry(index.row()) : nullptr;
}

void AlertsView::open()
{
    const auto *entry = current();
    if (entry != nullptr && !entry->alert.lease.name().empty())
        Q_EMIT leaseActivated(entry->connectionId, entry->alert.lease);
}

void AlertsView::shelve()
{
    const auto *entry = current();
    if (entry == nullptr)
        return;
    const QString subject = entry->alert.lease.name().empty() ? entry->connection : shown(entry->alert.lease.name());
    auto *dialog = new ShelveDialog(tr("P%1 %2 of %3: %4").arg(entry->alert.priority)
            .arg(shown(entry->alert.rule).toUpper(), subject, shown(entry->alert.text)), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, id = entry->alert.id, connection = entry->connectionId] {
        // The connection may have been closed meanwhile: the source is looked up again.
        for (int row = 0; row < m_model->rowCount(); ++row) {
            const auto &known = m_model->entry(row);
            if (known.alert.id == id && known.connectionId == connection) {
                known.source->shelve(id, dialog->duration(), dialog->reason());
                return;
            }
        }
    });
    dialog->open();
}

void AlertsView::showShelves()
{
    m_shelves->clear();
    for (LeaseSource *source : m_model->sources()) {
        for (const Shelf &shelf : source->shelves()) {
            auto *item = new QTreeWidgetItem(m_shelves);
            item->setText(0, shown(shelf.rule).toUpper() + QStringLiteral("  ") + shown(shelf.glob));
            item->setText(1, ageText(std::max<Duration>(shelf.until - m_model->now(), Duration::zero())));
            item->setToolTip(0, tr("\"%1\", by %2, matched %3").arg(shown(shelf.reason), shown(shelf.by)).arg(shelf.matched));
            auto *end = new QPushButton(tr("Unshelve"));
            end->setProperty("quiet", true);
            connect(end, &QPushButton::clicked, source, [source, id = shelf.id] { source->unshelve(id); }, Qt::QueuedConnection);
            m_shelves->setItemWidget(item, 2, end);
        }
    }
    const int rows = m_shelves->topLevelItemCount();
    m_shelves->setVisible(rows > 0);
    m_shelves->setFixedHeight((std::min(rows, 4) + 1) * (m_theme.rowHeight() + 2 * m_theme.unit()));
}

/// An alert that comes back should surprise nobody.
void AlertsView::remind()
{
    for (LeaseSource *source : m_model->sources()) {
        const ConnectionInfo info = source->connection();
        for (const Shelf &shelf : source->shelves()) {
            const Duration left = shelf.until - m_model->now();
            if (left > kRemindBefore || left <= Duration::zero() || !m_reminded.insert({info.id, shelf.id}).second)
                continue;
            Q_EMIT shelfEnds(tr("The shelving of %1 %2 on %3 ends in %4 (\"%5\", by %6).")
                                 .arg(shown(shelf.rule).toUpper(), shown(shelf.glob), info.name, ageText(left), shown(shelf.reason), shown(shelf.by)));
        }
    }
}

void AlertsView::updateButtons()
{
    const auto *entry = current();
    const bool firing = entry != nullptr && entry->alert.state == AlertState::Firing;
    m_ack->setEnabled(firing || (entry != nullptr && entry->alert.state == AlertState::Returned));
    m_shelve->setEnabled(firing || (entry != nullptr && entry->alert.state == AlertState::Acknowledged));
    showShelves();
    m_open->setEnabled(entry != nullptr && !entry->alert.lease.name().empty());
    m_counts->setText(m_model->rowCount() == 0
            ? tr("No alerts. Nothing needs you.")
            : tr("New %1   Acked %2   Shelved %3   Over, unseen %4   Over %5")
                  .arg(m_model->countOf(AlertState::Firing))
                  .arg(m_model->countOf(AlertState::Acknowledged))
                  .arg(m_model->countOf(AlertState::Snoozed))
                  .arg(m_model->countOf(AlertState::Returned))
                  .arg(m_model->countOf(AlertState::Resolved)));
    m_action->setVisible(entry != nullptr);
    m_action->setText(entry == nullptr ? QString() : shown(entry->alert.action));
}

} // namespace tenure::ui
