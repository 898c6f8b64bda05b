// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/work_feed.h"

#include "core/work/open_work_queue.h"
#include "core/work/queue_names.h"
#include "ui/bridge/retire.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kEvery = 1s;
constexpr int kShare = 10; ///< a look may take this part of the time at most
constexpr Duration kLongestPause = 30s;
constexpr Duration kCallTimeout = 4s;
constexpr std::size_t kMostSearched = 5000; ///< items in processing, for late ones

ItemState stateOf(WorkView view)
{
    switch (view) {
    case WorkView::Pending:
        return ItemState::Pending;
    case WorkView::Processing:
    case WorkView::Late:
        return ItemState::Processing;
    case WorkView::Completed:
        return ItemState::Completed;
    case WorkView::Dead:
        break;
    }
    return ItemState::Dead;
}

/// The store is well, and says that there is nothing to see.
bool isAnswer(const Error &error)
{
    return error.kind == ErrorKind::NotFound || error.kind == ErrorKind::Unsupported
        || error.kind == ErrorKind::Corrupt || error.kind == ErrorKind::BadConfig;
}

/// The feed's connections, of its thread only.
class Looker
{
public:
    explicit Looker(const StoreUri &uri) : m_uri(uri) { }

    void disconnect()
    {
        m_names.reset();
        m_queue.reset();
    }

    [[nodiscard]] Result<WorkLook> look(const WorkWish &wish)
    {
        WorkLook look;
        look.at = BootClock::now();
        look.wish = wish;
        std::optional<Error> error = fill(look);
        if (error && !isAnswer(*error)) {
            disconnect();
            return fail(*std::move(error));
        }
        look.problem = std::move(error);
        return look;
    }

private:
    [[nodiscard]] std::optional<Error> fill(WorkLook &look)
    {
        if (!m_names) {
            auto names = openQueueNames(m_uri);
            if (!names)
                return names.error();
            m_names = std::move(*names);
        }
        auto queues = m_names->read(BootClock::now() + kCallTimeout);
        if (!queues)
            return queues.error();
        look.queues = std::move(*queues);
        // The first, or the one that a person wants, also when it is gone: then that is told.
        if (look.wish.queue.empty())
            look.wish.queue = look.queues.front();
        if (auto problem = open(look.wish.queue))
            return problem;
        look.at = BootClock::now();
        auto counts = m_queue->counts(look.at + kCallTimeout);
        if (!counts)
            return counts.error();
        look.counts = *counts;
        return look.wish.view == WorkView::Late ? readLate(look) : readPage(look);
    }

    [[nodiscard]] std::optional<Error> open(const std::string &name)
    {
        if (m_queue && m_name == name)
            return std::nullopt;
        auto queue = openWorkQueue(m_uri, name);
        if (!queue)
            return queue.error();
        m_queue = std::move(*queue);
        m_name = name;
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Error> readPage(WorkLook &look)
    {
        look.at = BootClock::now();
        auto items = m_queue->items(stateOf(look.wish.view), look.wish.afterId, kWorkPage + 1, look.at + kCallTimeout);
        if (!items)
            return items.error();
        look.items = std::move(*items);
        cut(look);
        return std::nullopt;
    }

    /// Late ones stand among the others in processing.
    [[nodiscard]] std::optional<Error> readLate(WorkLook &look)
    {
        std::int64_t after = look.wish.afterId;
        look.at = BootClock::now();
        for (std::size_t searched = 0; searched < kMostSearched && look.items.size() <= kWorkPage;) {
            auto items = m_queue->items(ItemState::Processing, after, kMaxBatch, look.at + kCallTimeout);
            if (!items)
                return items.error();
            std::copy_if(items->begin(), items->end(), std::back_inserter(look.items),
                [](const ItemView &item) { return item.due <= 0ns; });
            searched += items->size();
            if (items->size() < kMaxBatch)
                break;
            after = items->back().id;
        }
        cut(look);
        return std::nullopt;
    }

    static void cut(WorkLook &look)
    {
        if (look.items.size() <= kWorkPage)
            return;
        look.items.resize(kWorkPage);
        look.nextAfter = look.items.back().id;
    }

    const StoreUri m_uri;
    std::unique_ptr<QueueNames> m_names;
    std::unique_ptr<WorkQueue> m_queue;
    std::string m_name;
};

} // namespace

/// What the two threads share.
struct WorkFeed::Reader {
    std::mutex mutex;
    std::condition_variable changed;
    WorkWish wish; ///< guarded by mutex
    bool active = false; ///< guarded by mutex
    bool poked = false; ///< guarded by mutex
    bool ends = false; ///< guarded by mutex
    std::function<void(Result<WorkLook>, LinkStatus)> tell; ///< constant once the thread runs

    void run(const StoreUri &uri)
    {
        Looker looker(uri);
        LinkStatus link;
        link.pollEvery = kEvery;
        link.pushHow = "a queue tells nothing by itself: it is looked at about once a second while it is shown";
        Instant next;
        WorkWish wanted;
        while (waitUntil(next, looker, wanted)) {
            const Instant began = BootClock::now();
            Result<WorkLook> look = looker.look(wanted);
            next = judge(look, link, began);
            tell(std::move(look), link);
        }
    }

private:
    /// False: the feed ends.
    bool waitUntil(Instant next, Looker &looker, WorkWish &wanted)
    {
        std::unique_lock lock(mutex);
        if (!active && !ends) {
            lock.unlock();
            looker.disconnect();
            lock.lock();
            changed.wait(lock, [this] { return ends || active; });
        } else {
            changed.wait_for(lock, next - BootClock::now(), [this] { return ends || poked || !active; });
            if (!active && !ends) {
                lock.unlock();
                return waitUntil(next, looker, wanted);
            }
        }
        poked = false;
        wanted = wish;
        return !ends;
    }

    /// Takes note of what came of a look; when the next one is due.
    static Instant judge(const Result<WorkLook> &look, LinkStatus &link, Instant began)
    {
        const Instant now = BootClock::now();
        if (look) {
            if (!link.connected)
                link.since = now;
            link.connected = link.everConnected = true;
            link.lastProof = look->at;
            link.roundTrip = now - began;
            link.error.reset();
            link.nextTry.reset();
            link.attempt = 0;
            link.pollEvery = std::clamp<Duration>((now - began) * kShare, kEvery, kLongestPause);
            link.staleAfter = 2 * link.pollEvery + 1s;
            return now + link.pollEvery;
        }
        if (link.connected || link.since == Instant())
            link.since = now;
        link.connected = false;
        link.error = look.error();
        ++link.attempt;
        link.nextTry = now + std::min<Duration>(kEvery * (1 << std::min(link.attempt, 4)), 10s);
        return *link.nextTry;
    }
};

WorkFeed::WorkFeed(StoreUri uri, QObject *parent)
    : QObject(parent), m_mailbox(this), m_reader(std::make_shared<Reader>())
{
    m_link.pollEvery = kEvery;
    m_link.since = BootClock::now();
    m_reader->tell = [this, slot = m_mailbox.slot()](Result<WorkLook> look, LinkStatus link) {
        // `this` is only used in the GUI thread, where the closed mailbox guards it.
        Mailbox::postTo(slot, [this, look = std::move(look), link = std::move(link)] {
            m_link = link;
            // An answer to an earlier wish would show one thing under the name of another.
            const bool asked = look && look->wish.view == m_wish.view && look->wish.afterId == m_wish.afterId
                && (m_wish.queue.empty() || look->wish.queue == m_wish.queue);
            if (asked)
                m_look = *look;
            Q_EMIT looked();
        });
    };
    retire([reader = m_reader, uri = std::move(uri)] { reader->run(uri); });
}

WorkFeed::~WorkFeed()
{
    m_mailbox.close();
    const std::lock_guard lock(m_reader->mutex);
    m_reader->ends = true;
    m_reader->changed.notify_all();
}

void WorkFeed::setActive(bool active)
{
    const std::lock_guard lock(m_reader->mutex);
    if (active == m_reader->active)
        return;
    m_reader->poked = m_reader->poked || active;
    m_reader->active = active;
    m_reader->changed.notify_all();
}

void WorkFeed::setWish(const WorkWish &wish)
{
    if (wish == m_wish)
        return;
    m_wish = wish;
    const std::lock_guard lock(m_reader->mutex);
    m_reader->wish = wish;
    m_reader->poked = true;
    m_reader->changed.notify_all();
}

void WorkFeed::lookNow()
{
    const std::lock_guard lock(m_reader->mutex);
    m_reader->poked = true;
    m_reader->changed.notify_all();
}

} // namespace tenure::ui
