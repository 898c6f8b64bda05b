// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <QString>
#include <QTimer>

class QWidget;

namespace tenure::ui
{

/// Says changes to assistive tools, politely: at most one sentence in five seconds, what came between
/// as a count. GUI thread.
class Announcer final : public QObject
{
    Q_OBJECT
public:
    Announcer(const Clock &clock, QWidget *window);
    void say(const QString &sentence);

Q_SIGNALS:
    void said(const QString &sentence);

private:
    void flush();

    const Clock &m_clock;
    QWidget *m_window;
    QTimer m_timer;
    QString m_latest;
    int m_waiting = 0;
    Instant m_last;
};

} // namespace tenure::ui
