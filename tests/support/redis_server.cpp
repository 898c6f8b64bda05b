// SPDX-License-Identifier: GPL-3.0-or-later
#include "redis_server.h"

#include <QStandardPaths>
#include <QTest>

#include <arpa/inet.h>
#include <csignal>
#include <fstream>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure
{

using namespace std::chrono_literals;

std::uint16_t freePort()
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *raw = reinterpret_cast<sockaddr *>(&address);
    const bool bound = bind(fd, raw, size) == 0 && getsockname(fd, raw, &size) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : std::uint16_t(0);
}

RedisServer::RedisServer(std::vector<std::string> options, std::string program)
    : m_program(std::move(program)), m_options(std::move(options)), m_port(freePort())
{
    start();
}

RedisServer::~RedisServer()
{
    kill();
}

bool RedisServer::installed()
{
    return !QStandardPaths::findExecutable(QStringLiteral("redis-server")).isEmpty();
}

std::string RedisServer::path(const std::string &file) const
{
    return m_directory.filePath(QString::fromStdString(file)).toStdString();
}

void RedisServer::start()
{
    std::vector<std::string> words{m_program};
    const bool sentinel = m_program == "redis-sentinel";
    if (sentinel) {
        std::ofstream file(path("sentinel.conf"));
        for (const std::string &line : m_options)
            file << line << "\n";
        words.push_back(path("sentinel.conf"));
    } else {
        words.insert(words.end(), {"--save", "", "--appendonly", "no"});
    }
    words.insert(words.end(),
        {"--bind", "127.0.0.1", "--dir", m_directory.path().toStdString(), "--unixsocket",
            path("redis.sock"), "--port", std::to_string(m_port)});
    for (std::string option : sentinel ? std::vector<std::string>() : m_options) {
        if (option == "PORT")
            option = std::to_string(m_port);
        if (option.starts_with("DIR/"))
            option = path(option.substr(4));
        words.push_back(option);
    }
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = path("log");
    m_pid = fork();
    if (m_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
        dup2(out, 1);
        dup2(out, 2);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    const bool up = QTest::qWaitFor(
        [this] {
            Endpoint endpoint;
            endpoint.unixPath = path("redis.sock");
            return ByteStream::connect(endpoint, BootClock::now() + 1s).has_value();
        },
        10'000);
    if (!up)
        qFatal("%s did not start", m_program.c_str());
}

void RedisServer::kill()
{
    m_client.reset();
    if (m_pid <= 0)
        return;
    ::kill(m_pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
    m_pid = -1;
    unlink(path("redis.sock").c_str());
}

void RedisServer::pause() const
{
    ::kill(m_pid, SIGSTOP);
}

void RedisServer::resume() const
{
    ::kill(m_pid, SIGCONT);
}

StoreUri RedisServer::socketUri(const std::string &prefix) const
{
    StoreUri uri;
    uri.scheme = "redis+unix";
    uri.path = path("redis.sock");
    if (!prefix.empty())
        uri.parameters["prefix"] = prefix;
    return uri;
}

StoreUri RedisServer::tcpUri() const
{
    StoreUri uri;
    uri.scheme = "redis";
    uri.hosts.emplace_back("127.0.0.1", m_port);
    return uri;
}

redis::RespValue RedisServer::run(const std::vector<std::string_view> &words)
{
    if (!m_client) {
        Endpoint endpoint;
        endpoint.unixPath = path("redis.sock");
        auto made = redis::RespConnection::openPlain(endpoint, BootClock::now() + 5s);
        if (!made)
            qFatal("%s", made.error().text().c_str());
        m_client = std::move(*made);
    }
    redis::Pipeline pipeline;
    pipeline.add(words);
    auto answers = m_client->ask(pipeline, BootClock::now() + 10s);
    if (!answers)
        qFatal("%s", answers.error().text().c_str());
    return std::move(answers->front());
}

} // namespace tenure
