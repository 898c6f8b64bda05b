// SPDX-License-Identifier: GPL-3.0-or-later
// What the journal costs: appending in batches, a window of one lease with much history behind it, and
// days of many leases. bench_journal [ROWS in millions, default 1] [HOURS of 1,000 leases, default 6]
#include "core/journal/journal.h"
#include "core/journal/journal_query.h"
#include "tests/bench/bench_support.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

double nowSeconds()
{
    return bench::seconds(BootClock::now().time_since_epoch());
}

double residentMegabytes()
{
    long pages = 0;
    long total = 0;
    if (FILE *file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &total, &pages) != 2)
            pages = 0;
        std::fclose(file);
    }
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

Journal::Options options(const std::string &path)
{
    Journal::Options out;
    out.path = path;
    out.sizeLimit = 64ULL << 30U;
    out.ageLimit = std::chrono::hours(24 * 36500);
    return out;
}

Transition change(const LeaseId &lease, std::uint64_t number, Instant at)
{
    const bool ends = number % 2 == 0;
    Transition t;
    t.lease = lease;
    t.kind = ends ? TransitionKind::Expired : TransitionKind::Acquired;
    t.oldHolder = ends ? "sched-7f9c" : "";
    t.newHolder = ends ? "" : "sched-7f9c";
    t.token = FencingToken{number / 2 + 1};
    t.at = at;
    if (!ends)
        t.gap = 200ms;
    t.explanation = "stopped renewing, expired 15.0 s later";
    return t;
}

/// One lease with `rows` changes, a second apart, and what windows of it cost.
void oneLease(const std::string &path, std::uint64_t rows)
{
    ManualClock clock;
    const WallTime from = clock.wall();
    const LeaseId lease = LeaseId::observed("billing/scheduler");
    {
        Journal journal(options(path), clock);
        const double begun = nowSeconds();
        const double cpu = bench::cpuSeconds();
        for (std::uint64_t n = 1; n <= rows; ++n) {
            clock.advance(n % 2 == 0 ? 1800ms : 200ms);
            journal.append("c", change(lease, n, clock.now()));
            if (n % 100 == 0)
                journal.observed("c", clock.now(), 10min);
            if (n % 50'000 == 0)
                journal.flush(1min);
        }
        journal.flush(1min);
        const double took = nowSeconds() - begun;
        bench::print({{"bench", "journal_append"}, {"rows", rows}, {"per_second", static_cast<double>(rows) / took},
            {"per_cpu_second", static_cast<double>(rows) / (bench::cpuSeconds() - cpu)}, {"goal", 50000}, {"bytes_a_row", static_cast<double>(journal.status().bytes) / static_cast<double>(rows)},
            {"dropped", journal.status().dropped}});
    }
    auto query = JournalQuery::open(path);
    const TimeWindow all{from, clock.wall()};
    const LeaseKey key{"c", lease};
    for (const double share : {1.0, 0.1, 0.001, 0.00001}) {
        const auto length = std::chrono::duration_cast<std::chrono::microseconds>(all.length() * share);
        const WallTime middle = all.from + (all.to - all.from) / 2;
        const TimeWindow window = share == 1.0 ? all : TimeWindow{middle - length / 2, middle + length / 2};
        std::vector<double> terms;
        std::vector<double> sums;
        std::size_t segments = 0;
        for (int i = 0; i < 9; ++i) {
            double begun = nowSeconds();
            segments = query->terms(key, window, 1600)->segments.size();
            terms.push_back((nowSeconds() - begun) * 1000);
            begun = nowSeconds();
            static_cast<void>(query->summary(key, window));
            static_cast<void>(query->density("c", window, 1600));
            sums.push_back((nowSeconds() - begun) * 1000);
        }
        bench::print({{"bench", "journal_window"}, {"rows_behind", rows}, {"share", share}, {"segments", segments},
            {"terms_ms_first", terms.front()}, {"terms_ms_p50", bench::quantile(terms, 0.5)},
            {"summary_and_density_ms_p50", bench::quantile(sums, 0.5)}, {"goal_ms", 100}});
    }
}

/// A thousand leases that renew every five seconds and change leaders now and then.
void manyLeases(const std::string &path, int hours)
{
    ManualClock clock;
    Journal::Options keep = options(path);
    keep.sizeLimit = 256ULL << 20U;
    Journal journal(keep, clock);
    std::vector<LeaseId> leases;
    for (int i = 0; i < 1000; ++i)
        leases.push_back(LeaseId::observed("group/" + std::to_string(i)));
    std::vector<double> resident;
    const double begun = nowSeconds();
    std::uint64_t number = 0;
    std::uint64_t renewals = 0;
    for (int hour = 0; hour < hours; ++hour) {
        for (int step = 0; step < 720; ++step) {
            clock.advance(5s);
            for (const LeaseId &lease : leases) {
                RenewalSeen seen;
                seen.at = clock.now();
                seen.interval = 5s;
                seen.headroom = 0.66;
                journal.append(LeaseKey{"c", lease}, seen, 1ms);
                ++renewals;
            }
            journal.append("c", change(leases[static_cast<std::size_t>(step % 1000)], ++number, clock.now()));
            journal.observed("c", clock.now(), 30s);
            if (step % 20 == 0)
                journal.flush(1min);
        }
        journal.flush(1min);
        resident.push_back(residentMegabytes());
    }
    const double took = nowSeconds() - begun;
    bench::print({{"bench", "journal_days"}, {"simulated_hours", hours}, {"leases", 1000}, {"renewals", renewals},
        {"took_s", took}, {"rss_mb_after_first_hour", resident.front()}, {"rss_mb_in_the_middle", resident[resident.size() / 2]},
        {"rss_mb_at_the_end", resident.back()}, {"file_mb", static_cast<double>(journal.status().bytes) / 1e6},
        {"dropped", journal.status().dropped}});
}

} // namespace

int main(int argc, char **argv)
{
    const double millions = argc > 1 ? std::atof(argv[1]) : 1;
    const int hours = argc > 2 ? std::atoi(argv[2]) : 6;
    const std::filesystem::path folder
        = std::filesystem::temp_directory_path() / ("tenure-bench-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    if (millions > 0)
        oneLease(folder / "one.db", static_cast<std::uint64_t>(millions * 1e6));
    if (hours > 0)
        manyLeases(folder / "many.db", hours);
    std::filesystem::remove_all(folder);
    return 0;
}
