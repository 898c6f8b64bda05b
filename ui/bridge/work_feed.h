// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/observe/link.h"
#include "core/work/work_queue.h"
#include "ui/bridge/mailbox.h"

#include <QObject>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenure::ui
{

/// Which of a queue's items are looked at.
enum class WorkView {
    Pending, ///< also those that wait for a later moment
    Processing, ///< also those that are late
    Late, ///< in processing, but the claim ran out
    Completed,
    Dead,
};

/// What a person wants to see.
struct WorkWish {
    std::string queue; ///< empty: the first one
    WorkView view = WorkView::Pending;
    std::int64_t afterId = 0; ///< a page begins behind this one
    bool operator==(const WorkWish &) const = default;
};

/// What one look found. A value.
struct WorkLook {
    std::vector<std::string> queues;
    WorkWish wish; ///< that it answers; its queue is the one looked at, empty when there is none
    QueueCounts counts;
    std::vector<ItemView> items; ///< at most kWorkPage
    std::int64_t nextAfter = 0; ///< where the next page begins; 0: this was the last one
    /// The store answered, but there is nothing to show: no queue yet, one of a newer Tenure.
    std::optional<Error> problem;
    Instant at; ///< before the look was sent: no time left is shown longer than it is
};
inline constexpr std::size_t kWorkPage = 200;

/// Looks at a store's work queues about once a second on a thread of its own, and brings what it found
/// to the GUI thread. While not active it holds no connection. A look that takes long makes the next
/// one come later, so that watching stays a small part of the store's work. Everything it does is a
/// read; a store that says nothing is a state of link(), never a wait here. GUI thread.
class WorkFeed final : public QObject
{
    Q_OBJECT
public:
    explicit WorkFeed(StoreUri uri, QObject *parent = nullptr);
    ~WorkFeed() override;

    void setActive(bool active);
    void setWish(const WorkWish &wish);
    [[nodiscard]] const WorkWish &wish() const { return m_wish; }
    void lookNow();
    /// Nothing before the first answer. Stays when the store is lost; link() says how old it is.
    [[nodiscard]] const std::optional<WorkLook> &look() const { return m_look; }
    [[nodiscard]] const LinkStatus &link() const { return m_link; }

Q_SIGNALS:
    void looked(); ///< look() or link() is another

private:
    struct Reader;
    WorkWish m_wish;
    std::optional<WorkLook> m_look;
    LinkStatus m_link;
    Mailbox m_mailbox;
    std::shared_ptr<Reader> m_reader;
};

} // namespace tenure::ui
