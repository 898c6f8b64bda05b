// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/top_bar.h"

#include "ui/dialogs/environment_badge.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kOperatorTime = 15min;

/// A palette would lose against the application's style sheet.
void tint(QToolButton *button, const QColor &color)
{
    const QString sheet = QStringLiteral("QToolButton { color: %1; }").arg(color.name());
    if (button->styleSheet() != sheet)
        button->setStyleSheet(sheet);
}

QString minutesText(Duration left)
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    return QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
}

} // namespace

TopBar::TopBar(const Theme &theme, QAction *freeze, QAction *reread, QWidget *parent)
    : QToolBar(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("topBar"));
    setWindowTitle(tr("Top bar"));
    setMovable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    m_band = new EnvironmentBadge(Environment::Development, {});
    m_bandAction = addWidget(m_band);
    m_danger = new QLabel(tr("⚠ SERVER NOT VERIFIED"));
    m_danger->setObjectName(QStringLiteral("danger"));
    m_danger->setProperty("role", QStringLiteral("crit"));
    m_danger->setContentsMargins(theme.unit() * 2, 0, theme.unit() * 2, 0);
    useFont(m_danger, theme, FontRole::Strong);
    m_dangerAction = addWidget(m_danger);
    m_operator = new QToolButton;
    m_operator->setObjectName(QStringLiteral("operatorMode"));
    m_operator->setPopupMode(QToolButton::InstantPopup);
    m_operator->setMenu(new QMenu(m_operator));
    connect(m_operator->menu(), &QMenu::aboutToShow, this, &TopBar::fillOperatorMenu);
    m_operatorAction = addWidget(m_operator);
    m_find = new QPushButton(tr("Find or run…   Ctrl+K"));
    m_find->setObjectName(QStringLiteral("find"));
    m_find->setMinimumWidth(fontMetrics().averageCharWidth() * 34);
    connect(m_find, &QPushButton::clicked, this, &TopBar::findRequested);
    addWidget(m_find);
    addAction(freeze);
    addAction(reread);
    auto *space = new QWidget;
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(space);
    m_alerts = new QToolButton;
    m_alerts->setObjectName(QStringLiteral("alertCount"));
    connect(m_alerts, &QToolButton::clicked, this, &TopBar::alertsRequested);
    addWidget(m_alerts);
    m_clock = new QLabel;
    useFont(m_clock, theme, FontRole::Number);
    m_clock->setToolTip(tr("This computer's clock. Countdowns never use it. T changes the zone that is shown."));
    addWidget(m_clock);
    connect(&m_timer, &QTimer::timeout, this, [this] {
        showClock();
        showOperator();
    });
    m_timer.start(500ms);
    connect(&theme, &Theme::changed, this, [this] {
        showOperator();
        tint(m_alerts, m_theme.color(m_firing > 0 ? Token::Crit : Token::Muted));
    });
    setAlerts(0, 0);
    setSession(nullptr);
    showClock();
}

void TopBar::setSession(Session *session)
{
    if (m_session)
        disconnect(m_session, nullptr, this, nullptr);
    m_session = session;
    m_bandAction->setVisible(session != nullptr);
    m_operatorAction->setVisible(session && session->gate());
    const StoreTraits *traits = session ? session->traits() : nullptr;
    m_dangerAction->setVisible(traits && !traits->danger.empty());
    m_danger->setToolTip(traits ? tr("%1: whoever is in between can read the credentials and forge what is shown")
                                      .arg(QString::fromStdString(traits->danger))
                                : QString());
    if (session) {
        m_band->setEnvironment(session->isSimulated() ? Environment::Sim : session->profile().environment,
            session->profile().name);
        connect(session, &Session::operatorChanged, this, &TopBar::showOperator);
    }
    showOperator();
}

void TopBar::showOperator()
{
    const bool canChange = m_session && m_session->gate();
    const auto left = canChange ? m_session->gate()->operatorTimeLeft() : std::nullopt;
    const QString text = left ? tr("OPERATOR %1").arg(minutesText(*left)) : tr("READ-ONLY");
    tint(m_operator, m_theme.color(left ? Token::Warn : Token::Text));
    m_operator->setFont(m_theme.font(left ? FontRole::Strong : FontRole::Body));
    if (m_operator->text() == text)
        return;
    m_operator->setText(text);
    m_operator->setToolTip(left ? tr("Releases are possible on this connection until the time runs out")
                                : tr("Nothing can be changed on this connection"));
}

void TopBar::fillOperatorMenu()
{
    QMenu *menu = m_operator->menu();
    menu->clear();
    if (!m_session || !m_session->gate())
        return;
    const bool on = m_session->gate()->operatorTimeLeft().has_value();
    Session *session = m_session;
    menu->addAction(on ? tr("Operator mode for another 15 min") : tr("Switch %1 to operator for 15 min").arg(session->profile().name),
        session, [session] { session->allowWrites(kOperatorTime); });
    if (on)
        menu->addAction(tr("Read-only now"), session, &Session::readOnly);
}

void TopBar::setAlerts(int firing, int snoozed)
{
    m_firing = firing;
    QString text = firing == 0 ? tr("No alerts") : tr("▲ Alerts: %1 new").arg(firing);
    if (snoozed > 0)
        text += tr(", %1 shelved").arg(snoozed);
    m_alerts->setText(text);
    tint(m_alerts, m_theme.color(firing > 0 ? Token::Crit : Token::Muted));
    m_alerts->setFont(m_theme.font(firing > 0 ? FontRole::Strong : FontRole::Body));
}

void TopBar::showClock()
{
    const WallTime wall = SystemClock::instance().wall();
    m_clock->setText(stampText(wall, wall) + QLatin1Char(' '));
}

} // namespace tenure::ui
