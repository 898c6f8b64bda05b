// SPDX-License-Identifier: GPL-3.0-or-later
// bench_takeover (see there) on a PostgreSQL of its own, over TCP on loopback with fsync on: its data
// once where temporary files are and once in memory. A takeover after expiry needs one commit, one
// after a release two, the second of them flushed: what one commit takes here is measured beside it.
// Usage: bench_pg_takeover [ROUNDS]
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"
#include "tests/bench/bench_support.h"

#include <QCoreApplication>
#include <QDir>
#include <QProcess>

#include <thread>

using namespace tenure;

namespace
{

/// As a candidate writes: one row updated by a prepared statement, each a transaction; one after the other,
/// and after the idling that comes before a takeover.
void printCommit(const PostgresServer &server, const std::string &where, Duration idling, int times)
{
    const auto session = server.session();
    const auto deadline = [] { return BootClock::now() + std::chrono::seconds(10); };
    if (!session->script("CREATE TABLE IF NOT EXISTS public.one (n int); TRUNCATE public.one; "
                         "INSERT INTO public.one VALUES (0)",
            deadline()))
        return;
    std::vector<double> ms;
    for (int i = 0; i < times; ++i) {
        std::this_thread::sleep_for(idling);
        const Instant began = BootClock::now();
        if (session->ask("UPDATE public.one SET n = n + 1", {}, deadline()))
            ms.push_back(std::chrono::duration<double, std::milli>(BootClock::now() - began).count());
    }
    bench::print({{"bench", "one_commit"}, {"data", where}, {"n", ms.size()},
        {"after_ms", std::chrono::duration<double, std::milli>(idling).count()},
        {"p50_ms", bench::quantile(ms, 0.5)}, {"p99_ms", bench::quantile(ms, 0.99)}});
}

int takeOver(const std::string &where, const QString &rounds)
{
    const PostgresServer server({"fsync = on"});
    const StoreUri uri = server.tcpUri();
    const auto made = makePostgresBackend(uri).value()->makeStore()->init(
        false, BootClock::now() + std::chrono::seconds(10));
    if (!made)
        return 1;
    printCommit(server, where, {}, 300);
    printCommit(server, where, std::chrono::milliseconds(300), 40);
    QProcess bench;
    bench.setProcessChannelMode(QProcess::ForwardedChannels);
    bench.start(QCoreApplication::applicationDirPath() + QStringLiteral("/bench_takeover"),
        {QString::fromStdString(uri.secretText()), rounds});
    return bench.waitForFinished(-1) ? bench.exitCode() : 1;
}

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    const QString rounds = QString::fromLatin1(argc > 1 ? argv[1] : "50");
    if (const int failed = takeOver("temporary files", rounds))
        return failed;
    const QString memory = QStringLiteral("/dev/shm");
    if (!QDir(memory).exists())
        return 0;
    qputenv("TMPDIR", memory.toLocal8Bit());
    return takeOver("memory", rounds);
}
