// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/net/http_client.h"
#include "http_peer.h"

#include <QTest>

#include <thread>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

Instant within(Duration time)
{
    return BootClock::now() + time;
}

std::unique_ptr<HttpClient> clientOf(const std::string &url)
{
    HttpTarget target;
    target.url = url;
    target.display = "the test's server";
    auto made = HttpClient::make(target);
    return made ? std::move(*made) : nullptr;
}

HttpRequest request(const char *method, const char *path, std::string body = {})
{
    HttpRequest out;
    out.method = method;
    out.path = path;
    out.body = std::move(body);
    return out;
}

/// An environment variable for the length of a test.
class Variable
{
public:
    Variable(const char *name, const std::string &value) : m_name(name)
    {
        qputenv(name, QByteArray::fromStdString(value));
    }
    ~Variable() { qunsetenv(m_name); }
    Variable(const Variable &) = delete;
    Variable &operator=(const Variable &) = delete;

private:
    const char *m_name;
};

} // namespace

class TstHttpClient : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sendsAndReads();
    void keepsItsConnection();
    void sendsAllAtOnce();
    void followsNoRedirect();
    void readsDateAndRetryAfter();
    void boundsAnAnswer();
    void aDeadlineIsADeadline_data();
    void aDeadlineIsADeadline();
    void afterASilenceTheConnectionIsFresh();
    void tellsWhatBrokeAndWhetherItWasSent();
    void aHeaderCannotBeSmuggledIn();
    void streamsInPieces();
    void aBrokenStreamIsToldApartFromAnEndedOne();
    void anInterruptEndsAnyWait();
    void badTargetsAreRefused_data();
    void badTargetsAreRefused();
    void goesThroughAProxy();
    void theEnvironmentsProxyIsNotForLoopback();
};

void TstHttpClient::sendsAndReads()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) {
        wire.answer("201 Created", "made", "X-Thing:  two words \r\n");
    });
    const auto client = clientOf(peer.url() + "/prefix/");
    HttpRequest put = request("PUT", "/things/1?dry=1", "body\n\x01");
    put.headers = {{"Authorization", "Bearer secret"}, {"Content-Type", "application/json"}};
    const Instant before = BootClock::now();
    const auto response = client->send(put, within(5s));
    QVERIFY2(response, response ? "" : response.error().text().c_str());
    QCOMPARE(response->status, 201);
    QCOMPARE(response->body, "made");
    QCOMPARE(response->header("x-thing"), "two words");
    QVERIFY(response->sentAt >= before && response->receivedAt > response->sentAt);
    const auto seen = peer.requests().at(0);
    QCOMPARE(seen.method, "PUT");
    QCOMPARE(seen.path, "/prefix/things/1?dry=1");
    QCOMPARE(seen.body, "body\n\x01");
    QVERIFY(seen.head.find("Authorization: Bearer secret\r\n") != std::string::npos);
    QVERIFY(seen.head.find("Expect:") == std::string::npos);
}

void TstHttpClient::keepsItsConnection()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) { wire.answer("200 OK", "x"); });
    const auto client = clientOf(peer.url());
    const auto settingUp = [&] {
        const auto answer = client->send(request("GET", "/"), within(5s));
        return answer ? std::optional(answer->settingUp) : std::nullopt;
    };
    QVERIFY(settingUp() > Duration::zero());
    for (int i = 0; i < 4; ++i)
        QVERIFY(settingUp() == Duration::zero()); // exactly: it was there already
    for (const auto &seen : peer.requests())
        QCOMPARE(seen.connection, 1);
    client->disconnect();
    QVERIFY(settingUp() > Duration::zero());
    QCOMPARE(peer.requests().back().connection, 2);
}

void TstHttpClient::sendsAllAtOnce()
{
    HttpPeer peer([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (r.path == "/3")
            wire.hangUp();
        else
            wire.answer("200 OK", r.path);
    });
    const auto client = clientOf(peer.url());
    std::vector<HttpRequest> requests;
    for (int i = 0; i < 40; ++i)
        requests.push_back(request("GET", ("/" + std::to_string(i)).c_str()));
    const auto all = client->sendAll(requests, within(10s));
    QCOMPARE(all.size(), requests.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        QCOMPARE(all[i].has_value(), i != 3);
        if (all[i])
            QCOMPARE(all[i]->body, requests[i].path);
    }
    QVERIFY(client->sendAll({}, within(1s)).empty());
}

void TstHttpClient::followsNoRedirect()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) {
        wire.answer("302 Found", "", "Location: http://127.0.0.1:1/elsewhere\r\n");
    });
    const auto response = clientOf(peer.url())->send(request("GET", "/"), within(5s));
    QVERIFY(response);
    QCOMPARE(response->status, 302);
    QCOMPARE(peer.requests().size(), std::size_t{1});
}

void TstHttpClient::readsDateAndRetryAfter()
{
    HttpPeer peer([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        const std::string date = "Date: Sun, 29 Nov 2026 02:13:44 GMT\r\n";
        if (r.path == "/date")
            wire.answer("503 Busy", "", date + "Retry-After: Sun, 29 Nov 2026 02:13:51 GMT\r\n");
        else
            wire.answer("429 Too Many Requests", "", date + "Retry-After: 30\r\n");
    });
    const auto client = clientOf(peer.url());
    const auto seconds = client->send(request("GET", "/"), within(5s));
    QCOMPARE(seconds->status, 429);
    QCOMPARE(seconds->retryAfter, std::optional<Milliseconds>(30s));
    QCOMPARE(seconds->date->time_since_epoch(), std::chrono::microseconds(1'795'918'424'000'000));
    QCOMPARE(client->send(request("GET", "/date"), within(5s))->retryAfter,
        std::optional<Milliseconds>(7s));
}

void TstHttpClient::boundsAnAnswer()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) {
        wire.answer("200 OK", std::string(10'000, 'x'));
    });
    const auto client = clientOf(peer.url());
    HttpRequest small = request("GET", "/");
    small.maxBody = 9'999;
    const auto refused = client->send(small, within(5s));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Corrupt);
    small.maxBody = 10'000;
    QVERIFY(client->send(small, within(5s)));
}

void TstHttpClient::aDeadlineIsADeadline_data()
{
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<int>("kind");
    QTest::newRow("a look") << QByteArray("GET") << static_cast<int>(ErrorKind::Unavailable);
    QTest::newRow("a write") << QByteArray("PUT") << static_cast<int>(ErrorKind::OutcomeUnknown);
}

void TstHttpClient::aDeadlineIsADeadline()
{
    QFETCH(QByteArray, method);
    QFETCH(int, kind);
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) { wire.hang(); });
    const auto client = clientOf(peer.url());
    const Instant began = BootClock::now();
    const auto response = client->send(request(method.constData(), "/"), within(200ms));
    QVERIFY(!response);
    QCOMPARE(static_cast<int>(response.error().kind), kind);
    QVERIFY(BootClock::now() - began >= 200ms);
    QVERIFY(BootClock::now() - began < 10s); // far from any default of curl's
}

void TstHttpClient::afterASilenceTheConnectionIsFresh()
{
    HttpPeer peer([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (r.connection == 1)
            wire.hang();
        else
            wire.answer("200 OK", "");
    });
    const auto client = clientOf(peer.url());
    QVERIFY(!client->send(request("GET", "/"), within(100ms)));
    QVERIFY(client->send(request("GET", "/"), within(5s)));
}

void TstHttpClient::tellsWhatBrokeAndWhetherItWasSent()
{
    std::uint16_t closed = 0;
    {
        HttpPeer gone([](const auto &, const auto &) {});
        closed = gone.port();
    }
    const auto refused = clientOf("http://127.0.0.1:" + std::to_string(closed))
                             ->send(request("PUT", "/", "x"), within(5s));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::Unavailable); // nothing was sent
    QCOMPARE(refused.error().where, "the test's server");

    HttpPeer peer([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (r.path == "/nonsense")
            wire.write("what?\r\n\r\n");
        else if (r.path == "/half")
            wire.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        wire.hangUp();
    });
    const auto client = clientOf(peer.url());
    QCOMPARE(client->send(request("GET", "/cut"), within(5s)).error().kind, ErrorKind::Unavailable);
    const auto write = client->send(request("POST", "/cut", "x"), within(5s));
    QCOMPARE(write.error().kind, ErrorKind::OutcomeUnknown);
    QCOMPARE(client->send(request("PUT", "/half"), within(5s)).error().kind, ErrorKind::OutcomeUnknown);
    QCOMPARE(client->send(request("GET", "/half"), within(5s)).error().kind, ErrorKind::Unavailable);
    QCOMPARE(client->send(request("GET", "/nonsense"), within(5s)).error().kind, ErrorKind::Corrupt);
}

void TstHttpClient::aHeaderCannotBeSmuggledIn()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) { wire.answer("200 OK", ""); });
    HttpRequest get = request("GET", "/");
    get.headers = {{"X-Good", "yes"}, {"X-Bad", "a\r\nX-Evil: b"}};
    QVERIFY(clientOf(peer.url())->send(get, within(5s)));
    const std::string head = peer.requests().at(0).head;
    QVERIFY(head.find("X-Good: yes") != std::string::npos);
    QVERIFY(head.find("X-Evil") == std::string::npos);
}

void TstHttpClient::streamsInPieces()
{
    std::atomic<bool> go = false;
    HttpPeer peer([&](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (r.path == "/other")
            return wire.answer("200 OK", "beside");
        wire.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        while (!go)
            std::this_thread::yield();
        wire.write("6\r\nsecond\r\n0\r\n\r\n");
    });
    const auto client = clientOf(peer.url());
    const auto stream = client->open(request("GET", "/watch"), within(5s));
    QVERIFY2(stream, stream ? "" : stream.error().text().c_str());
    QCOMPARE((*stream)->response().status, 200);
    QVERIFY(!(*stream)->sharesConnection());
    std::string text;
    QCOMPARE(*(*stream)->read(text, within(5s)), HttpStream::Got::Bytes);
    QCOMPARE(text, "first");
    QCOMPARE(*(*stream)->read(text, within(50ms)), HttpStream::Got::Nothing);
    QCOMPARE(client->send(request("GET", "/other"), within(5s))->body, "beside");
    go = true;
    QCOMPARE(*(*stream)->read(text, within(5s)), HttpStream::Got::Bytes);
    QCOMPARE(text, "firstsecond");
    QCOMPARE(*(*stream)->read(text, within(5s)), HttpStream::Got::End);
}

void TstHttpClient::aBrokenStreamIsToldApartFromAnEndedOne()
{
    HttpPeer peer([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        if (r.path == "/denied")
            return wire.answer("403 Forbidden", "no");
        wire.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        wire.hangUp();
    });
    const auto client = clientOf(peer.url());
    std::string text;
    {
        const auto stream = client->open(request("GET", "/watch"), within(5s));
        QVERIFY(stream);
        QCOMPARE(*(*stream)->read(text, within(5s)), HttpStream::Got::Bytes);
        const auto broken = (*stream)->read(text, within(5s));
        QVERIFY(!broken);
        QCOMPARE(broken.error().kind, ErrorKind::Unavailable);
        QCOMPARE(broken.error().recovery, Recovery::Reconnect);
    }
    const auto denied = client->open(request("GET", "/denied"), within(5s));
    QVERIFY(denied);
    QCOMPARE((*denied)->response().status, 403);
    QCOMPARE((*denied)->response().body, "no");
}

void TstHttpClient::anInterruptEndsAnyWait()
{
    HttpPeer peer([](const auto &, const HttpPeer::Wire &wire) { wire.hang(); });
    const auto client = clientOf(peer.url());
    std::thread other([&] {
        while (peer.requests().empty())
            std::this_thread::yield();
        client->interrupt();
    });
    const Instant began = BootClock::now();
    const auto response = client->send(request("GET", "/"), within(60s));
    other.join();
    QVERIFY(!response);
    QCOMPARE(response.error().kind, ErrorKind::Unavailable);
    QVERIFY(BootClock::now() - began < 30s);
    QVERIFY(!client->send(request("GET", "/"), within(60s)));
}

void TstHttpClient::badTargetsAreRefused_data()
{
    QTest::addColumn<QString>("url");
    for (const char *url : {"", "host:6443", "ftp://host", "https://", "https://host:0", "https://host:99999",
             "https://user:secret@host", "https://host/?q=1", "https://host:6443#x", "https://a b"})
        QTest::newRow(url) << QString::fromLatin1(url);
}

void TstHttpClient::badTargetsAreRefused()
{
    QFETCH(QString, url);
    HttpTarget target;
    target.url = url.toStdString();
    const auto made = HttpClient::make(target);
    QVERIFY(!made);
    QCOMPARE(made.error().kind, ErrorKind::BadConfig);
    QVERIFY(made.error().text().find("secret") == std::string::npos);
}

void TstHttpClient::goesThroughAProxy()
{
    HttpPeer server([](const auto &, const HttpPeer::Wire &wire) { wire.answer("200 OK", "there"); });
    HttpPeer proxy([](const HttpPeer::Request &r, const HttpPeer::Wire &wire) {
        wire.answer("200 OK", "proxied " + r.path);
    });
    HttpTarget target;
    target.url = server.url();
    target.proxy = proxy.url();
    const auto client = HttpClient::make(target);
    QCOMPARE((*client)->send(request("GET", "/x"), within(5s))->body,
        "proxied " + server.url() + "/x");
    QVERIFY(server.requests().empty());
}

void TstHttpClient::theEnvironmentsProxyIsNotForLoopback()
{
    HttpPeer server([](const auto &, const HttpPeer::Wire &wire) { wire.answer("200 OK", "there"); });
    HttpPeer proxy([](const auto &, const HttpPeer::Wire &wire) { wire.answer("200 OK", "proxied"); });
    const Variable lower("http_proxy", proxy.url());
    QCOMPARE(clientOf(server.url())->send(request("GET", "/"), within(5s))->body, "there");
    QCOMPARE(clientOf("http://cluster.test:6443")->send(request("GET", "/"), within(5s))->body, "proxied");
    {
        const Variable exempt("no_proxy", "cluster.test");
        QVERIFY(!clientOf("http://cluster.test:6443")->send(request("GET", "/"), within(5s)));
    }
    HttpTarget direct;
    direct.url = "http://cluster.test:6443";
    direct.proxy = "";
    QVERIFY(!(*HttpClient::make(direct))->send(request("GET", "/"), within(5s)));
}

QTEST_GUILESS_MAIN(TstHttpClient)
#include "tst_http_client.moc"
