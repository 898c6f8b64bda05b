// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/announcer.h"

#include <QAccessible>
#include <QWidget>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kEvery = 5s;

} // namespace

Announcer::Announcer(const Clock &clock, QWidget *window) : QObject(window), m_clock(clock), m_window(window)
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &Announcer::flush);
}

void Announcer::say(const QString &sentence)
{
    m_latest = sentence;
    ++m_waiting;
    if (m_timer.isActive())
        return;
    const Duration since = m_clock.now() - m_last;
    if (m_last == Instant() || since >= kEvery)
        flush();
    else
        m_timer.start(std::chrono::duration_cast<Milliseconds>(kEvery - since));
}

void Announcer::flush()
{
    if (m_waiting == 0)
        return;
    const QString sentence = m_waiting == 1 ? m_latest : tr("%1, and %2 other changes").arg(m_latest).arg(m_waiting - 1);
    m_waiting = 0;
    m_last = m_clock.now();
    Q_EMIT said(sentence);
    if (!QAccessible::isActive())
        return;
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    QAccessibleAnnouncementEvent event(m_window, sentence);
#else
    // Older Qt has no announcements: the window's description changes, which readers speak.
    m_window->setAccessibleDescription(sentence);
    QAccessibleEvent event(m_window, QAccessible::DescriptionChanged);
#endif
    QAccessible::updateAccessibility(&event);
}

} // namespace tenure::ui
