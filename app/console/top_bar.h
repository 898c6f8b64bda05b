// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QPointer>
#include <QTimer>
#include <QToolBar>

class QAction;
class QLabel;
class QPushButton;
class QToolButton;

namespace tenure::ui
{

class EnvironmentBadge;
class Theme;

/// The five answers at a glance: which environment, may I change anything, is the view live, are there
/// alerts, what time is it (UX.md section 3). Shows one session, the one in front.
class TopBar final : public QToolBar
{
    Q_OBJECT
public:
    /// `freeze` and `reread` are the window's actions; the bar only offers them.
    TopBar(const Theme &theme, QAction *freeze, QAction *reread, QWidget *parent);
    void setSession(Session *session); ///< null: none is open
    /// Of all sessions together.
    void setAlerts(int firing, int snoozed);

Q_SIGNALS:
    void findRequested();
    void alertsRequested();

private:
    void showOperator();
    void showClock();
    void fillOperatorMenu();

    const Theme &m_theme;
    QPointer<Session> m_session;
    QTimer m_timer;
    EnvironmentBadge *m_band = nullptr;
    QAction *m_bandAction = nullptr;
    QLabel *m_danger = nullptr;
    QAction *m_dangerAction = nullptr;
    QToolButton *m_operator = nullptr;
    QAction *m_operatorAction = nullptr;
    QPushButton *m_find = nullptr;
    QToolButton *m_alerts = nullptr;
    QLabel *m_clock = nullptr;
    int m_firing = 0;
};

} // namespace tenure::ui
