// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

class QObject;

namespace tenure::ui
{

/// The one crossing from core's threads into the GUI thread: closures go through a mutex, Qt is only
/// asked to wake up (so that ThreadSanitizer sees every hand-over; STYLE finding 4). After close() or
/// destruction nothing posted runs any more. Made and destroyed in the GUI thread.
class Mailbox
{
public:
    explicit Mailbox(QObject *context);
    ~Mailbox();
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    /// Any thread. `job` runs in the GUI thread, in order of posting.
    void post(std::function<void()> job);
    void close();
    /// A way to post that outlives this mailbox safely (posts into the void afterwards).
    struct Slot;
    [[nodiscard]] std::shared_ptr<Slot> slot() const { return m_slot; }
    static void postTo(const std::shared_ptr<Slot> &slot, std::function<void()> job);

private:
    std::shared_ptr<Slot> m_slot;
};

} // namespace tenure::ui
