// SPDX-License-Identifier: GPL-3.0-or-later
// The examples of resources that refuse older tokens (resources/examples), on real servers, as the docs
// tell to use them.
#ifdef TENURE_HAVE_POSTGRES
#include "tests/support/postgres_server.h"
#endif
#ifdef TENURE_HAVE_REDIS
#include "tests/support/redis_server.h"
#endif

#include <QFile>
#include <QTest>

using namespace tenure;

class TstFencedResource : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void postgresTable();
    void redisKey();

private:
    static std::string example(const char *name)
    {
        QFile file(QStringLiteral(EXAMPLES_DIR "/") + QString::fromLatin1(name));
        if (!file.open(QIODevice::ReadOnly))
            qFatal("no example %s", name);
        return file.readAll().toStdString();
    }
};

/// Server there: false. Else the reason to skip, or a failure where servers are required.
static bool missing(bool installed)
{
    return !installed && !qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS");
}

void TstFencedResource::postgresTable()
{
#ifndef TENURE_HAVE_POSTGRES
    QSKIP("built without PostgreSQL");
#else
    if (missing(PostgresServer::installed()))
        QSKIP("PostgreSQL is not installed");
    PostgresServer server;
    server.script("CREATE SCHEMA app; CREATE TABLE app.fenced(name text PRIMARY KEY, token bigint NOT NULL, value text NOT NULL)");
    std::string sql = example("fenced_write.sql");
    sql.replace(sql.rfind("INTO fenced("), 12, "INTO app.fenced(");
    const auto write = [&](const char *token, const char *value) {
        return server.run(sql, {"account", token, value}).size() == 1;
    };
    QVERIFY(write("41", "old leader"));
    QVERIFY(write("42", "new leader"));
    QVERIFY(!write("41", "old leader, after its pause"));
    QVERIFY(write("42", "new leader again"));
    QCOMPARE(server.run("SELECT value FROM app.fenced").text(0, 0), std::string_view("new leader again"));
    QVERIFY(!write("9", "shorter, and older"));
#endif
}

void TstFencedResource::redisKey()
{
#ifndef TENURE_HAVE_REDIS
    QSKIP("built without Redis");
#else
    if (missing(RedisServer::installed()))
        QSKIP("redis-server is not installed");
    RedisServer server;
    const std::string script = example("fenced_write.lua");
    const auto write = [&](const char *token, const char *value) {
        return server.run({"EVAL", script, "1", "account", token, value}).number == 1;
    };
    QVERIFY(write("9", "first"));
    QVERIFY(write("10", "longer is larger"));
    QVERIFY(!write("9", "after its pause"));
    // Beyond 2^53, where Lua's numbers cannot tell two tokens apart.
    QVERIFY(write("9007199254740993", "big"));
    QVERIFY(!write("9007199254740992", "one less"));
    QVERIFY(write("9007199254740993", "the same leader"));
    QCOMPARE(server.run({"HGET", "account", "value"}).text, std::string("the same leader"));
#endif
}

QTEST_GUILESS_MAIN(TstFencedResource)
#include "tst_fenced_resource.moc"
