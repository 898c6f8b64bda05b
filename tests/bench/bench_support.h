// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include <sys/resource.h>
#include <time.h>

namespace tenure::bench
{

inline double seconds(Duration d)
{
    return std::chrono::duration<double>(d).count();
}

/// CLOCK_MONOTONIC in ns: what the peers' line protocol stamps with.
inline std::int64_t monotonicNs()
{
    timespec ts{};
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

/// Processor time of this process so far, in seconds.
inline double cpuSeconds()
{
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto of = [](const timeval &t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return of(use.ru_utime) + of(use.ru_stime);
}

inline double peakMegabytes()
{
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_maxrss) / 1024;
}

/// The value below which `share` of the (copied, sorted) samples lie.
inline double quantile(std::vector<double> samples, double share)
{
    if (samples.empty())
        return -1;
    std::sort(samples.begin(), samples.end());
    const auto at = static_cast<std::size_t>(share * static_cast<double>(samples.size()));
    return samples[std::min(at, samples.size() - 1)];
}

/// One JSON line a benchmark (DESIGN.md section 9).
inline void print(const nlohmann::json &line)
{
    std::cout << line.dump() << std::endl;
}

} // namespace tenure::bench
