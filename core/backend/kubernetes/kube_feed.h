// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/feed.h"
#include "core/backend/kubernetes/kube_scope.h"

#include <atomic>
#include <condition_variable>
#include <thread>

namespace tenure::kube
{

/// List, then watch with bookmarks, on one connection; resumed where it broke. A silent connection is
/// proven alive by a small request beside the watch every two seconds, or given up.
class KubeFeed final : public LeaseFeed
{
public:
    KubeFeed(std::shared_ptr<const Settings> settings, std::shared_ptr<View> view)
        : m_settings(std::move(settings)), m_view(std::move(view))
    {
    }
    ~KubeFeed() override { KubeFeed::stop(); }
    void start(Sink sink) override;
    void stop() override;

private:
    /// One place to watch.
    struct Channel {
        std::string scope;
        std::string version; ///< to resume from; empty: list first
        std::string buffer; ///< an unfinished line
        std::unique_ptr<HttpStream> stream;
    };

    void run();
    [[nodiscard]] Error session(); ///< until something breaks; its reason
    [[nodiscard]] Result<void> prepare(Channel &channel);
    [[nodiscard]] Result<void> relist(Channel &channel);
    [[nodiscard]] Result<void> watch(Channel &channel);
    [[nodiscard]] Result<void> listen();
    [[nodiscard]] Result<void> readFrom(Channel &channel);
    [[nodiscard]] Result<void> takeLines(Channel &channel);
    [[nodiscard]] Result<void> take(Channel &channel, std::string_view line);
    [[nodiscard]] Result<void> takeError(Channel &channel, const nlohmann::json &status);
    [[nodiscard]] Result<void> ping();
    void tell(const std::string &key);
    void emit(FeedEvent event);
    void opened();

    const std::shared_ptr<const Settings> m_settings;
    const std::shared_ptr<View> m_view;
    Sink m_sink;
    std::thread m_thread;
    std::atomic<bool> m_stopping = false;
    std::mutex m_mutex;
    std::condition_variable m_wake; ///< with m_mutex, when m_stopping
    Api *m_api = nullptr; ///< guarded by m_mutex for interrupt(); the feed's thread owns it
    // The feed's thread only:
    std::vector<Channel> m_channels; ///< their versions outlive a session
    bool m_wasOpen = false;
    Instant m_proven; ///< the connection's last sign of life
};

} // namespace tenure::kube
