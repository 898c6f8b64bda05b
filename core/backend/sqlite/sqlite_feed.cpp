// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/sqlite/sqlite_feed.h"

#include "core/backend/sqlite/sqlite_db.h"

#include <array>
#include <filesystem>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace tenure
{
namespace
{

using namespace std::chrono_literals;
constexpr Milliseconds kQuiet = 1s;

class Descriptor
{
public:
    explicit Descriptor(int fd) : m_fd(fd) { }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor()
    {
        if (m_fd >= 0)
            close(m_fd);
    }
    [[nodiscard]] int get() const { return m_fd; }

private:
    const int m_fd;
};

class SqliteFeed final : public LeaseFeed
{
public:
    explicit SqliteFeed(std::string path) : m_path(std::move(path)) { }
    ~SqliteFeed() override { SqliteFeed::stop(); }

    void start(Sink sink) override
    {
        stop();
        m_stop = std::make_unique<Descriptor>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        m_thread = std::thread([this, sink = std::move(sink)] { watch(sink); });
    }

    void stop() override
    {
        if (!m_thread.joinable())
            return;
        const std::uint64_t one = 1;
        (void)!write(m_stop->get(), &one, sizeof one);
        m_thread.join();
    }

private:
    enum class Wake { Stop, Quiet, Touched };

    void watch(const Sink &sink)
    {
        const std::string directory = std::filesystem::path(m_path).parent_path();
        bool told = false;
        while (true) {
            const Descriptor inotify(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
            const int watched = inotify_add_watch(inotify.get(), directory.c_str(),
                IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR);
            if (watched >= 0) {
                told = false;
                if (!follow(inotify, sink))
                    return;
            }
            if (!std::exchange(told, true))
                tellClosed(sink, directory);
            if (wait(Descriptor(-1), kQuiet) == Wake::Stop)
                return;
        }
    }

    /// Tells changes until the directory is gone; false when asked to stop.
    bool follow(const Descriptor &inotify, const Sink &sink)
    {
        m_since = BootClock::now();
        FeedEvent opened;
        opened.kind = FeedEvent::Kind::Opened;
        opened.detail = "file watch";
        opened.renewals = true;
        tell(sink, opened);
        // A write is seen when it reaches the log, but it can be read only when the writer has
        // published it (after its fsync, without a trace for inotify): look again, ever later.
        Milliseconds patience = kQuiet;
        while (true) {
            switch (wait(inotify, patience)) {
            case Wake::Stop:
                return false;
            case Wake::Touched:
                if (m_gone)
                    return true;
                (void)tellChanges(sink); // perhaps of the write before this one
                patience = 1ms;
                break;
            case Wake::Quiet:
                if (!tellChanges(sink) && patience == kQuiet)
                    tell(sink, FeedEvent());
                patience = std::min(2 * patience, kQuiet);
                break;
            }
        }
    }

    Wake wait(const Descriptor &inotify, Milliseconds longest)
    {
        std::array<pollfd, 2> fds{{{m_stop->get(), POLLIN, 0}, {inotify.get(), POLLIN, 0}}};
        (void)poll(fds.data(), fds.size(), static_cast<int>(longest.count()));
        if (fds[0].revents != 0)
            return Wake::Stop;
        if (fds[1].revents == 0)
            return Wake::Quiet;
        return drain(inotify) ? Wake::Touched : Wake::Quiet;
    }

    /// Whether one of the events was about our file or its log.
    bool drain(const Descriptor &inotify)
    {
        const std::string base = std::filesystem::path(m_path).filename();
        bool ours = false;
        alignas(inotify_event) std::array<char, 8192> buffer{};
        ssize_t size = 0;
        while ((size = read(inotify.get(), buffer.data(), buffer.size())) > 0) {
            for (ssize_t at = 0; at < size;) {
                inotify_event event{};
                std::copy_n(buffer.data() + at, sizeof event, reinterpret_cast<char *>(&event));
                const char *name = buffer.data() + at + sizeof event;
                m_gone = m_gone || (event.mask & (IN_DELETE_SELF | IN_IGNORED)) != 0;
                ours = ours || event.len == 0 || std::string_view(name).starts_with(base);
                at += static_cast<ssize_t>(sizeof event + event.len);
            }
        }
        return ours;
    }

    /// True when something was told.
    bool tellChanges(const Sink &sink)
    {
        if (m_db && !m_db->stillThere())
            m_db.reset();
        if (!m_db) {
            auto db = SqliteDb::open(m_path, SqliteOpen::Look, BootClock::now() + 1s);
            if (!db)
                return false;
            m_db = std::move(*db);
        }
        m_db->setDeadline(BootClock::now() + 100ms);
        const auto rows = m_db->changedSince(m_since);
        if (!rows) { // no table yet, or not readable now: a fresh look next time
            m_db.reset();
            return false;
        }
        for (const NamedRow &named : *rows) {
            FeedEvent event;
            const Instant now = BootClock::now();
            const bool taken = named.row.held(now) || named.row.onHold(now);
            event.kind = taken ? FeedEvent::Kind::Changed : FeedEvent::Kind::Released;
            event.lease = LeaseId::observed(named.name);
            tell(sink, event);
        }
        return !rows->empty();
    }

    void tellClosed(const Sink &sink, const std::string &directory)
    {
        m_gone = false;
        m_db.reset();
        FeedEvent event;
        event.kind = FeedEvent::Kind::Closed;
        event.error = fail(ErrorKind::NotFound, "The directory of the file cannot be watched", directory,
            "Make it, or grant access to it")
                          .value();
        tell(sink, event);
    }

    static void tell(const Sink &sink, FeedEvent event)
    {
        event.at = BootClock::now();
        sink(event);
    }

    const std::string m_path;
    std::unique_ptr<Descriptor> m_stop;
    std::thread m_thread;
    // The thread's own:
    std::unique_ptr<SqliteDb> m_db;
    Instant m_since; ///< everything written before was told
    bool m_gone = false;
};

} // namespace

std::unique_ptr<LeaseFeed> makeSqliteFeed(std::string path)
{
    return std::make_unique<SqliteFeed>(std::move(path));
}

} // namespace tenure
