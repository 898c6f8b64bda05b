// SPDX-License-Identifier: GPL-3.0-or-later
// Renewals of 10,000 leases by one process, in batches, against redis-benchmark pipelining the same
// script in the same run (goal: 70 % of it). Usage: bench_renew PORT; needs redis-benchmark on PATH.
#include "core/backend/backend.h"
#include "redis_scripts.h"
#include "tests/bench/bench_support.h"

#include <array>
#include <cstdio>
#include <memory>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

std::string outputOf(const std::string &command)
{
    std::string out;
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), &pclose);
    std::array<char, 4096> buffer{};
    while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr)
        out += buffer.data();
    return out;
}

double renewalsPerSecond(LeaseStore &store, const std::vector<Command> &renewals, Duration length)
{
    std::size_t done = 0;
    const Instant from = BootClock::now();
    while (BootClock::now() < from + length) {
        for (const auto &reply : store.execute(renewals, BootClock::now() + 10s)) {
            if (!reply || reply->outcome != Outcome::Done)
                return -1;
        }
        done += renewals.size();
    }
    return static_cast<double>(done) / bench::seconds(BootClock::now() - from);
}

/// What redis-benchmark reaches with the very script and arguments of a renewal, pipelined.
double referencePerSecond(const std::string &port, const Renew &renew)
{
    const std::string key = renew.lease.name();
    const std::string command = "redis-benchmark -p " + port + " -c 1 -P 500 -n 400000 --csv EVALSHA "
        + redis::kRenewScript.sha1 + " 2 " + key + " '{" + key + "}:tenure' '{" + key + "}:tenure:events' "
        + renew.term.holder.name() + " " + renew.term.nonce.hex() + " "
        + std::to_string(renew.term.token.value) + " 60000 2>/dev/null";
    const std::string out = outputOf(command);
    // "test","rps",...: the figures are on the last line.
    const auto line = out.rfind("\n\"");
    const auto comma = line == std::string::npos ? line : out.find("\",\"", line);
    return comma == std::string::npos ? -1 : std::atof(out.c_str() + comma + 3);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: bench_renew PORT\n";
        return 2;
    }
    const std::string port = argv[1];
    const auto backend = makeBackend(StoreUri::parse("redis://127.0.0.1:" + port).value());
    if (!backend)
        return 1;
    const auto store = (*backend)->makeStore();
    const HolderId holder = HolderId::parse("bench").value();
    std::vector<Command> acquires;
    for (int i = 0; i < 10'000; ++i)
        acquires.emplace_back(Acquire{LeaseId::observed("bench/" + std::to_string(i)), holder, Nonce::random(), 60s});
    const auto replies = store->execute(acquires, BootClock::now() + 20s);
    std::vector<Command> renewals;
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (!replies[i] || replies[i]->outcome != Outcome::Done) {
            std::cerr << (replies[i] ? "refused" : replies[i].error().text()) << "\n";
            return 1;
        }
        const auto &acquire = std::get<Acquire>(acquires[i]);
        renewals.emplace_back(Renew{acquire.lease, {holder, acquire.nonce, replies[i]->record.token}, 60s});
    }
    const double ours = renewalsPerSecond(*store, renewals, 5s);
    const double reference = referencePerSecond(port, std::get<Renew>(renewals.front()));
    bench::print({{"bench", "renew_10000"}, {"per_s", ours}, {"redis_benchmark_per_s", reference},
        {"share", reference > 0 ? ours / reference : -1}, {"goal_share", 0.7}});
    return ours > 0 ? 0 : 1;
}
