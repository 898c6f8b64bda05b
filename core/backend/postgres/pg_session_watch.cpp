// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/postgres/pg_session_watch.h"

#include <algorithm>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure::postgres
{

SessionWatch::~SessionWatch()
{
    for (const auto &[id, watched] : m_watched)
        (void)close(watched.socket);
}

std::uint64_t SessionWatch::add(const LeaseId &lease, int socket)
{
    const std::lock_guard lock(m_mutex);
    const std::uint64_t id = ++m_last;
    m_watched[id] = {id, lease, socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0)};
    wakeAll();
    return m_last;
}

void SessionWatch::forget(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_watched.find(id);
    if (found == m_watched.end())
        return;
    close(found->second.socket);
    m_watched.erase(found);
    wakeAll();
}

std::vector<SessionWatch::Watched> SessionWatch::all() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<Watched> out;
    for (const auto &[id, watched] : m_watched)
        out.push_back(watched);
    return out;
}

void SessionWatch::attach(int waker)
{
    const std::lock_guard lock(m_mutex);
    m_wakers.push_back(waker);
}

void SessionWatch::detach(int waker)
{
    const std::lock_guard lock(m_mutex);
    std::erase(m_wakers, waker);
}

void SessionWatch::wakeAll()
{
    for (const int waker : m_wakers)
        (void)eventfd_write(waker, 1);
}

AdvisoryFeed::AdvisoryFeed(std::shared_ptr<Shared> shared, std::shared_ptr<SessionWatch> watch)
    : m_pushed(std::move(shared)), m_watch(std::move(watch))
{
}

void AdvisoryFeed::start(Sink sink)
{
    stop();
    m_sink = [this, sink = std::move(sink)](const FeedEvent &event) {
        const std::lock_guard lock(m_oneAtATime);
        sink(event);
    };
    m_stopping = false;
    m_waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m_watch->attach(m_waker);
    m_thread = std::thread([this] { run(); });
    m_pushed.start(m_sink);
}

void AdvisoryFeed::stop()
{
    if (!m_thread.joinable())
        return;
    m_pushed.stop();
    m_stopping = true;
    (void)eventfd_write(m_waker, 1);
    m_thread.join();
    m_watch->detach(m_waker);
    close(m_waker);
}

void AdvisoryFeed::run()
{
    std::set<std::uint64_t> told;
    while (!m_stopping) {
        std::vector<SessionWatch::Watched> all = m_watch->all();
        std::erase_if(all, [&](const auto &one) { return told.count(one.id) != 0; });
        std::vector<pollfd> fds{{m_waker, POLLIN, 0}};
        bool free = false;
        for (const auto &one : all) {
            fds.push_back({one.socket, POLLRDHUP, 0});
            free = free || one.socket < 0;
        }
        (void)poll(fds.data(), fds.size(), free ? 0 : -1);
        eventfd_t ignored = 0;
        (void)eventfd_read(m_waker, &ignored);
        for (std::size_t i = 0; i < all.size() && !m_stopping; ++i) {
            if (fds[i + 1].revents == 0 && all[i].socket >= 0)
                continue;
            told.insert(all[i].id);
            FeedEvent event;
            event.kind = FeedEvent::Kind::Released;
            event.lease = all[i].lease;
            event.at = BootClock::now();
            m_sink(event);
        }
    }
}

} // namespace tenure::postgres
