// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/uri.h"

#include <QTest>

using namespace tenure;

class TstUri : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesApart();
    void passwordsMayHaveAnyCharacter_data();
    void passwordsMayHaveAnyCharacter();
    void goesThereAndBack_data();
    void goesThereAndBack();
    void refusesWithAReason_data();
    void refusesWithAReason();
};

void TstUri::takesApart()
{
    const auto redis = StoreUri::parse("REDISS://ann:p%40ss@[::1]:6380/3?prefix=app%3A&sni=x.example");
    QVERIFY(redis);
    QCOMPARE(redis->scheme, "rediss");
    QCOMPARE(redis->user, "ann");
    QCOMPARE(redis->password, "p@ss");
    QVERIFY(redis->hosts == (std::vector<std::pair<std::string, std::uint16_t>>{{"::1", 6380}}));
    QCOMPARE(redis->path, "3");
    QCOMPARE(redis->parameter("prefix"), "app:");
    QCOMPARE(redis->parameter("ca", "none"), "none");

    const auto sentinel = StoreUri::parse("redis+sentinel://h1:26379,h2/main?db=2");
    QVERIFY(sentinel);
    QCOMPARE(sentinel->hosts.size(), std::size_t{2});
    QCOMPARE(sentinel->hosts[1].second, std::uint16_t{0});
    QCOMPARE(sentinel->path, "main");

    QCOMPARE(StoreUri::parse("sqlite:///a/b c.db")->path, "/a/b c.db");
    QCOMPARE(StoreUri::parse("sqlite:b.db")->path, "b.db");
    QCOMPARE(StoreUri::parse("redis+unix:///run/x@y.sock?db=1")->path, "/run/x@y.sock");
    QCOMPARE(StoreUri::parse("memory:demo")->path, "demo");
    QCOMPARE(StoreUri::parse("kubernetes://me@cluster/ns")->hosts[0].first, "me@cluster");
    QVERIFY(StoreUri::parse("kubernetes:")->hosts.empty());
    QCOMPARE(StoreUri::parse("postgres:///db?host=/tmp")->scheme, "postgresql");
}

void TstUri::passwordsMayHaveAnyCharacter_data()
{
    QTest::addColumn<QString>("password");
    for (const char *password : {"hunter2", "hun@ter", "hun/ter", "h@u/n@t", "hun:ter", "hun#ter", "hun?ter"})
        QTest::newRow(password) << QString::fromLatin1(password);
}

void TstUri::passwordsMayHaveAnyCharacter()
{
    QFETCH(QString, password);
    const std::string secret = password.toStdString();
    const auto uri = StoreUri::parse("redis://:" + secret + "@host:6379/1");
    QVERIFY2(uri, uri ? "" : uri.error().text().c_str());
    QCOMPARE(uri->password, secret);
    QCOMPARE(uri->hosts[0].first, "host");
    QCOMPARE(uri->display(), "redis://:***@host:6379/1");
}

void TstUri::goesThereAndBack_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const char *text : {"memory:", "memory:a b", "demo:", "sqlite:///a%20b", "sqlite:x%3Fy#z",
             "redis://:p%25%2F%40@h:1/2?prefix=%26%3D", "rediss://u@[fe80::1]", "redis+unix:///a?db=1",
             "redis+unix://u:p@/a", "redis+sentinel://:x@a:1,b,c:3/m", "kubernetes:", "kubernetes:///n",
             "kubernetes://arn%3Aaws%2Fx/n", "postgresql://u:p@%2Ftmp,h:2/d?sslpassword=x", "etcd://a,b/p/q",
             "memory:\xF0\x9F\x94\x92", "memory:\xFF%0A"})
        QTest::newRow(text) << QByteArray(text);
}

void TstUri::goesThereAndBack()
{
    QFETCH(QByteArray, text);
    const auto uri = StoreUri::parse(text.toStdString());
    QVERIFY2(uri, uri ? "" : uri.error().text().c_str());
    const auto again = StoreUri::parse(uri->secretText());
    QVERIFY(again);
    QVERIFY(*again == *uri);
}

void TstUri::refusesWithAReason_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    const auto row = [](const char *text, const char *says) {
        QTest::newRow(text) << QByteArray(text) << QString::fromLatin1(says);
    };
    row("", "empty");
    row("reddis://h", "Did you mean redis?");
    row("k8s:", "Did you mean kubernetes?");
    row("http://h", "Unknown scheme \"http\"");
    row("redis", "no scheme");
    row("redis:h", "slashes");
    row("redis://", "host is missing");
    row("redis://h,", "host is missing");
    row("redis://:6379", "host is missing");
    row("redis://h:0", "port");
    row("redis://h:65536", "port");
    row("redis://h:secret-s3cr3t", "port");
    row("redis://:s3cr3t%zz@h", "% in the password");
    row("redis://s3cr3t:s3cr3t?a=s3cr3t@h", "port");
    row("redis://:s3cr3t@h?prefx=1", "Did you mean prefix?");
    row("redis://:s3cr3t@h/x", "not a number");
    row("redis://h/1?db=2", "twice");
    row("redis://h?db=x", "not a number");
    row("redis://a,b", "Only one host");
    row("redis://::1", "brackets");
    row("redis+sentinel://h", "master");
    row("redis+unix://", "socket");
    row("sqlite:", "file is missing");
    row("sqlite://x.db", "third");
    row("sqlite:x.db?mode=ro", "takes none");
    row("memory:%00", "NUL");
}

void TstUri::refusesWithAReason()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, says);
    const auto uri = StoreUri::parse(text.toStdString());
    QVERIFY2(!uri, "it was accepted");
    const QString error = QString::fromStdString(uri.error().text());
    QCOMPARE(uri.error().kind, ErrorKind::BadConfig);
    QVERIFY2(error.contains(says), qPrintable(error));
    QVERIFY2(!error.contains(QLatin1String("s3cr3t")), qPrintable(error));
}

QTEST_GUILESS_MAIN(TstUri)
#include "tst_uri.moc"
