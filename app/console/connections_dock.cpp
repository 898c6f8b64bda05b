// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/connections_dock.h"

#include "ui/dialogs/tone.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

constexpr int kIdRole = Qt::UserRole;
constexpr int kStrikingRole = Qt::UserRole + 1; ///< the colour stays also in the selected row

class StateDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(kStrikingRole).toBool())
            option->palette.setBrush(QPalette::HighlightedText, index.data(Qt::ForegroundRole).value<QBrush>());
    }
};

QString errorSentence(const Error &error)
{
    QString text = QString::fromStdString(error.what);
    if (!error.remedy.empty())
        text += QStringLiteral(". ") + QString::fromStdString(error.remedy);
    return text;
}

} // namespace

ConnectionsDock::ConnectionsDock(const Theme &theme, Connections &connections, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_connections(connections)
{
    m_tree = new QTreeWidget;
    m_tree->setObjectName(QStringLiteral("connections"));
    m_tree->setAccessibleName(tr("Connections"));
    m_tree->setColumnCount(2);
    m_tree->setHeaderHidden(true);
    m_tree->setIndentation(theme.unit() * 3);
    m_tree->setRootIsDecorated(false);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    m_tree->setItemDelegateForColumn(1, new StateDelegate(m_tree));
    m_tree->setFrameShape(QFrame::NoFrame);
    m_details = new QLabel;
    m_details->setObjectName(QStringLiteral("connectionDetails"));
    m_details->setWordWrap(true);
    m_details->setMargin(theme.unit() * 2);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *add = new QPushButton(tr("Add connection…"));
    add->setObjectName(QStringLiteral("addConnection"));
    auto *demo = new QPushButton(tr("Open simulation"));
    demo->setToolTip(tr("A simulated world of leases and candidates; it needs no network"));
    auto *buttons = new QHBoxLayout;
    const int margin = theme.unit() * 2;
    buttons->setContentsMargins(margin, margin, margin, margin);
    buttons->setSpacing(margin);
    buttons->addWidget(add);
    buttons->addWidget(demo);
    auto *all = new QVBoxLayout(this);
    all->setContentsMargins({});
    all->setSpacing(0);
    all->addWidget(m_tree, 1);
    all->addWidget(m_details);
    all->addLayout(buttons);

    connect(add, &QPushButton::clicked, this, &ConnectionsDock::addRequested);
    connect(demo, &QPushButton::clicked, this, [this] { m_connections.openDemo(); });
    connect(m_tree, &QTreeWidget::customContextMenuRequested, this, &ConnectionsDock::showMenu);
    connect(m_tree, &QTreeWidget::itemActivated, this,
        [this](QTreeWidgetItem *item) { toggle(item->data(0, kIdRole).toString()); });
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this] {
        refresh();
        Q_EMIT currentChanged(currentId());
    });
    connect(&connections, &Connections::profilesChanged, this, &ConnectionsDock::rebuild);
    connect(&connections, &Connections::sessionOpened, this, &ConnectionsDock::refresh);
    connect(&connections, &Connections::sessionClosing, this,
        [this] { QMetaObject::invokeMethod(this, [this] { refresh(); }, Qt::QueuedConnection); });
    connect(&theme, &Theme::changed, this, &ConnectionsDock::rebuild);
    connect(&m_timer, &QTimer::timeout, this, &ConnectionsDock::refresh);
    m_timer.start(std::chrono::milliseconds(500));
    rebuild();
}

QString ConnectionsDock::currentId() const
{
    const QTreeWidgetItem *item = m_tree->currentItem();
    return item ? item->data(0, kIdRole).toString() : QString();
}

void ConnectionsDock::select(const QString &id)
{
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        QTreeWidgetItem *group = m_tree->topLevelItem(i);
        for (int k = 0; k < group->childCount(); ++k) {
            if (group->child(k)->data(0, kIdRole).toString() == id)
                m_tree->setCurrentItem(group->child(k));
        }
    }
}

void ConnectionsDock::rebuild()
{
    const QString current = currentId();
    m_tree->clear();
    for (const Environment environment : {Environment::Production, Environment::Staging,
             Environment::Development, Environment::Sim}) {
        QTreeWidgetItem *group = nullptr;
        for (const ConnectionProfile &profile : m_connections.profiles()) {
            if (profile.environment != environment)
                continue;
            if (!group) {
                group = new QTreeWidgetItem(m_tree, {environmentWord(environment)});
                group->setFlags(Qt::ItemIsEnabled);
                group->setFirstColumnSpanned(true);
                group->setForeground(0, m_theme.color(Token::Muted));
                group->setFont(0, m_theme.font(FontRole::Small));
                group->setSizeHint(0, {0, m_theme.rowHeight()});
            }
            auto *item = new QTreeWidgetItem(group, {profile.name});
            item->setData(0, kIdRole, profile.id);
            item->setSizeHint(0, {0, m_theme.rowHeight()});
        }
        if (group)
            group->setExpanded(true);
    }
    select(current);
    if (currentId().isEmpty() && !m_connections.profiles().empty())
        select(m_connections.profiles().back().id);
    refresh();
}

void ConnectionsDock::showState(QTreeWidgetItem *item, const ConnectionProfile &profile)
{
    const Session *session = m_connections.session(profile.id);
    item->setToolTip(0, profile.url);
    if (!session) {
        item->setText(1, tr("not connected"));
        item->setForeground(1, m_theme.color(Token::Muted));
        item->setForeground(0, m_theme.color(Token::Muted));
        return;
    }
    const LinkState state = session->linkState();
    const bool sim = session->isSimulated();
    QString text = QString::fromStdString(linkText(session->link(), BootClock::now()));
    item->setToolTip(1, text);
    text = text.section(QLatin1Char(','), 0, 0);
    const bool forgeable = session->traits() && !session->traits()->danger.empty();
    item->setText(1, sim ? tr("SIM · ") + text : forgeable ? tr("⚠ UNVERIFIED · ") + text : text);
    item->setForeground(0, m_theme.color(Token::Text));
    item->setData(1, kStrikingRole, forgeable);
    item->setForeground(1, m_theme.color(forgeable ? Token::Crit
            : isFresh(state)                       ? (sim ? Token::Sim : Token::Muted)
                                                   : token(state)));
}

void ConnectionsDock::refresh()
{
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        QTreeWidgetItem *group = m_tree->topLevelItem(i);
        for (int k = 0; k < group->childCount(); ++k) {
            const QString id = group->child(k)->data(0, kIdRole).toString();
            if (const ConnectionProfile *profile = m_connections.profile(id))
                showState(group->child(k), *profile);
        }
    }
    const Session *session = m_connections.session(currentId());
    QString details;
    Tone tone = Tone::Muted;
    if (session && session->link().error && !isFresh(session->linkState())) {
        const LinkState state = session->linkState();
        details = errorSentence(*session->link().error);
        if (session->link().nextTry && session->isOpen()) {
            const Duration left = *session->link().nextTry - BootClock::now();
            details += QLatin1Char('\n')
                + (left > std::chrono::milliseconds(100) ? tr("Trying again in %1.").arg(text(left))
                                                         : tr("Trying now."));
        }
        tone = state == LinkState::Denied || !session->backend() ? Tone::Critical : Tone::Stale;
    } else if (session) {
        details = QString::fromStdString(session->link().server);
        if (!session->link().pushHow.empty() && !session->isSimulated())
            details += tr(". Push: %1").arg(QString::fromStdString(session->link().pushHow));
    }
    const StoreTraits *traits = session ? session->traits() : nullptr;
    if (traits && !traits->danger.empty()) {
        details.prepend(QStringLiteral("⚠ ") + QString::fromStdString(traits->danger) + QStringLiteral(".\n"));
        tone = Tone::Critical;
    }
    m_details->setVisible(!details.isEmpty());
    m_details->setText(details);
    setTone(m_details, tone);
}

void ConnectionsDock::toggle(const QString &id)
{
    if (id.isEmpty())
        return;
    if (m_connections.session(id))
        m_connections.close(id);
    else
        m_connections.open(id);
}

void ConnectionsDock::showMenu(const QPoint &where)
{
    const QTreeWidgetItem *item = m_tree->itemAt(where);
    const QString id = item ? item->data(0, kIdRole).toString() : QString();
    QMenu menu;
    menu.addAction(tr("Add connection…"), this, &ConnectionsDock::addRequested);
    if (!id.isEmpty()) {
        Session *session = m_connections.session(id);
        menu.addSeparator();
        menu.addAction(session ? tr("Disconnect") : tr("Connect"), this, [this, id] { toggle(id); });
        if (session)
            menu.addAction(tr("Try now"), session, &Session::refresh);
        menu.addAction(tr("Sign in…"), this, [this, id] { Q_EMIT passwordRequested(id); });
        menu.addAction(tr("Edit…"), this, [this, id] { Q_EMIT editRequested(id); });
        menu.addAction(tr("Remove"), this, [this, id] { m_connections.remove(id); });
    }
    menu.exec(m_tree->viewport()->mapToGlobal(where));
}

} // namespace tenure::ui
