// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/alerts_view.h"

#include "ui/models/fleet_row.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

constexpr Duration kSnooze = std::chrono::minutes(30);

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
        const bool open = alert.state == AlertState::Firing;
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
        const QString state = open ? QString() : text(std::string_view(alertStateWord(alert.state)));
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
      m_list(new QListView(this)), m_action(new QLabel(this)), m_ack(new QPushButton(tr("Ack"), this)),
      m_snooze(new QPushButton(tr("Snooze 30 min"), this)), m_open(new QPushButton(tr("Open"), this))
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
    m_snooze->setObjectName(QStringLiteral("alertSnooze"));
    m_open->setObjectName(QStringLiteral("alertOpen"));
    const int unit = theme.unit();
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(2 * unit);
    for (QPushButton *button : {m_ack, m_snooze, m_open})
        buttons->addWidget(button);
    buttons->addStretch(1);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 2 * unit, 0, 2 * unit);
    column->setSpacing(2 * unit);
    m_counts->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    m_action->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    buttons->setContentsMargins(3 * unit, 0, 3 * unit, 0);
    column->addWidget(m_counts);
    column->addWidget(m_list, 1);
    column->addWidget(m_action);
    column->addLayout(buttons);

    connect(m_model, &AlertsModel::countsChanged, this, &AlertsView::updateButtons);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &AlertsView::updateButtons);
    connect(m_list, &QListView::activated, this, &AlertsView::open);
    connect(m_open, &QPushButton::clicked, this, &AlertsView::open);
    connect(m_ack, &QPushButton::clicked, this, [this] {
        if (const auto *entry = current())
            entry->source->acknowledge(entry->alert.id);
    });
    connect(m_snooze, &QPushButton::clicked, this, [this] {
        if (const auto *entry = current())
            entry->source->snooze(entry->alert.id, kSnooze);
    });
    auto *shortcut = new QShortcut(QKeySequence(Qt::Key_A), this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, m_ack, &QPushButton::click);
    updateButtons();
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

void AlertsView::updateButtons()
{
    const auto *entry = current();
    const bool firing = entry != nullptr && entry->alert.state == AlertState::Firing;
    m_ack->setEnabled(firing);
    m_snooze->setEnabled(firing || (entry != nullptr && entry->alert.state == AlertState::Acknowledged));
    m_open->setEnabled(entry != nullptr && !entry->alert.lease.name().empty());
    m_counts->setText(m_model->rowCount() == 0
            ? tr("No alerts. Nothing needs you.")
            : tr("New %1   Acknowledged %2   Snoozed %3   Over %4")
                  .arg(m_model->countOf(AlertState::Firing))
                  .arg(m_model->countOf(AlertState::Acknowledged))
                  .arg(m_model->countOf(AlertState::Snoozed))
                  .arg(m_model->countOf(AlertState::Resolved)));
    m_action->setVisible(entry != nullptr);
    m_action->setText(entry == nullptr ? QString() : shown(entry->alert.action));
}

} // namespace tenure::ui
