// SPDX-License-Identifier: GPL-3.0-or-later
// 10,000 leases and 1,000 changes a second in a visible fleet view: how much of a core the GUI thread
// takes, told as one JSON line. Real time: BENCH_SECONDS (default 5).
#include "tests/ui/fabricated.h"
#include "ui/theme/theme.h"
#include "ui/views/fleet_view.h"

#include <QApplication>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace tenure;
using namespace tenure::ui;
using namespace tenure::ui::test;

namespace
{

double cpuSeconds()
{
    timespec ts{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return static_cast<double>(ts.tv_sec) + static_cast<double>(ts.tv_nsec) / 1e9;
}

/// Measures how long the event loop was away from it.
class LoopWatch : public QObject
{
public:
    LoopWatch()
    {
        m_timer.setTimerType(Qt::PreciseTimer);
        connect(&m_timer, &QTimer::timeout, this, [this] {
            const Instant now = BootClock::now();
            m_worst = std::max(m_worst, now - m_last);
            m_last = now;
        });
        m_timer.start(5);
        m_last = BootClock::now();
    }
    [[nodiscard]] double worstMs() const { return std::chrono::duration<double, std::milli>(m_worst).count(); }

private:
    QTimer m_timer;
    Instant m_last;
    Duration m_worst{};
};

} // namespace

int main(int argc, char **argv)
{
    QApplication app(argc, argv);
    const Clock &clock = SystemClock::instance();
    Theme theme;
    theme.install(app);
    FabricatedSource source(clock, QStringLiteral("p"), QStringLiteral("prod-eu"), Surroundings::Production);
    std::vector<LeaseId> ids;
    for (int i = 0; i < 10000; ++i) {
        const std::string name = "team-" + std::to_string(i % 100) + "/worker-" + std::to_string(i);
        source.held(name, "pod-" + std::to_string(i), 1ms * (i % 5000));
        ids.push_back(LeaseId::observed(name));
    }
    FleetView view(theme, clock, nullptr);
    view.resize(1400, 900);
    view.addSource(&source);
    view.show();
    QCoreApplication::processEvents();

    // 50 leases each 50 ms, as a session would tell them: renewals, and some changes of state.
    std::size_t next = 0;
    QTimer feed;
    QObject::connect(&feed, &QTimer::timeout, &view, [&] {
        std::vector<LeaseId> batch;
        for (int i = 0; i < 50; ++i, next = (next + 7919) % ids.size()) {
            LeaseStatus &status = source.m_leases[ids[next]];
            status.lastRenewalAt = status.seenAt = clock.now();
            status.expiresAt = clock.now() + 15s;
            status.churning = next % 50 == 0;
            batch.push_back(ids[next]);
        }
        source.m_link.lastProof = clock.now();
        Q_EMIT source.leasesChanged(batch);
    });
    feed.setTimerType(Qt::PreciseTimer);
    feed.start(50);

    const int seconds = std::max(1, qEnvironmentVariableIntValue("BENCH_SECONDS") > 0 ? qEnvironmentVariableIntValue("BENCH_SECONDS") : 5);
    LoopWatch watch;
    const double before = cpuSeconds();
    const Duration flushBefore = view.model().timeInFlush();
    QTimer::singleShot(std::chrono::seconds(seconds), &app, &QCoreApplication::quit);
    QApplication::exec();
    const double busy = (cpuSeconds() - before) / seconds * 100;
    const double flush = std::chrono::duration<double>(view.model().timeInFlush() - flushBefore).count() / seconds * 100;
    std::printf("{\"bench\":\"fleet_model\",\"leases\":%zu,\"changes_per_s\":1000,\"gui_busy_percent\":%.2f,"
                "\"flush_percent\":%.2f,\"worst_block_ms\":%.1f}\n",
        ids.size(), busy, flush, watch.worstMs());
    return 0;
}
