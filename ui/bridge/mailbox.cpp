// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/mailbox.h"

#include <QMetaObject>
#include <QObject>

#include <deque>

namespace tenure::ui
{

struct Mailbox::Slot {
    std::mutex mutex;
    std::deque<std::function<void()>> jobs; ///< guarded by mutex
    QObject *context = nullptr; ///< guarded by mutex; null once closed
    bool woken = false; ///< guarded by mutex

    void drain()
    {
        std::deque<std::function<void()>> taken;
        {
            const std::lock_guard lock(mutex);
            woken = false;
            taken.swap(jobs);
        }
        for (auto &job : taken) {
            {
                const std::lock_guard lock(mutex);
                if (!context)
                    return; // a job before this one closed the box
            }
            job();
        }
    }
};

Mailbox::Mailbox(QObject *context) : m_slot(std::make_shared<Slot>())
{
    m_slot->context = context;
}

Mailbox::~Mailbox()
{
    close();
}

void Mailbox::post(std::function<void()> job)
{
    postTo(m_slot, std::move(job));
}

void Mailbox::close()
{
    std::deque<std::function<void()>> dropped;
    const std::lock_guard lock(m_slot->mutex);
    m_slot->context = nullptr;
    dropped.swap(m_slot->jobs);
}

void Mailbox::postTo(const std::shared_ptr<Slot> &slot, std::function<void()> job)
{
    // The wake-up is posted under the lock: close() in the GUI thread then cannot free the context
    // between the look and the post.
    const std::lock_guard lock(slot->mutex);
    if (!slot->context)
        return;
    slot->jobs.push_back(std::move(job));
    if (slot->woken)
        return;
    slot->woken = true;
    QMetaObject::invokeMethod(slot->context, [slot] { slot->drain(); }, Qt::QueuedConnection);
}

} // namespace tenure::ui
