// SPDX-License-Identifier: GPL-3.0-or-later
// bench_takeover (see there) on a PostgreSQL of its own, over TCP on loopback with fsync on.
// Usage: bench_pg_takeover [ROUNDS]
#include "core/backend/postgres/postgres_backend.h"
#include "postgres_server.h"

#include <QCoreApplication>
#include <QProcess>

using namespace tenure;

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    const PostgresServer server({"fsync = on"});
    const StoreUri uri = server.tcpUri();
    const auto made = makePostgresBackend(uri).value()->makeStore()->init(
        false, BootClock::now() + std::chrono::seconds(10));
    if (!made)
        return 1;
    QProcess bench;
    bench.setProcessChannelMode(QProcess::ForwardedChannels);
    bench.start(QCoreApplication::applicationDirPath() + QStringLiteral("/bench_takeover"),
        {QString::fromStdString(uri.secretText()), QString::fromLatin1(argc > 1 ? argv[1] : "50")});
    return bench.waitForFinished(-1) ? bench.exitCode() : 1;
}
