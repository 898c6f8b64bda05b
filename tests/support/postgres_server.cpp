// SPDX-License-Identifier: GPL-3.0-or-later
#include "postgres_server.h"

#include "core/backend/postgres/pg_settings.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QTest>

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tenure
{

using namespace std::chrono_literals;

namespace
{

std::uint16_t unusedPort()
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

/// Debian keeps the server's programs of each version in a directory of its own: the newest.
std::string directoryOfPrograms()
{
    const QDir versions(QStringLiteral("/usr/lib/postgresql"));
    int newest = 0;
    for (const QString &name : versions.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        if (QFile::exists(versions.filePath(name + QStringLiteral("/bin/initdb"))))
            newest = std::max(newest, name.toInt());
    }
    if (newest > 0)
        return "/usr/lib/postgresql/" + std::to_string(newest) + "/bin/";
    const QString found = QStandardPaths::findExecutable(QStringLiteral("initdb"));
    return found.isEmpty() ? std::string() : found.chopped(6).toStdString();
}

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Somebody else when we are root; PostgreSQL refuses to run as root.
const User &serverUser()
{
    static const User user = [] {
        if (geteuid() != 0)
            return User{geteuid(), getegid()};
        for (const char *name : {"postgres", "nobody"}) {
            if (const passwd *entry = getpwnam(name))
                return User{entry->pw_uid, entry->pw_gid};
        }
        return User{65534, 65534};
    }();
    return user;
}

/// Between fork and exec.
void becomeServerUser()
{
    if (geteuid() == 0) {
        const User &user = serverUser();
        if (setgroups(0, nullptr) != 0 || setgid(user.gid) != 0 || setuid(user.uid) != 0)
            _exit(126);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // after setuid, which forgets it
}

/// Neither gone nor a zombie that nobody has collected yet.
bool runs(pid_t pid)
{
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name = line.rfind(')');
    return name != std::string::npos && line.size() > name + 2 && line[name + 2] != 'Z';
}

pid_t launch(std::vector<std::string> words, const std::string &output,
    const std::string &directory, std::vector<std::string> environment = {})
{
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    (void)serverUser(); // looked up before the fork
    const int out = open(output.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(out, 1);
        dup2(out, 2);
        becomeServerUser();
        if (chdir(directory.c_str()) != 0)
            _exit(125);
        for (std::string &pair : environment)
            putenv(pair.data());
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    close(out);
    return pid;
}

} // namespace

PostgresServer::PostgresServer(std::vector<std::string> lines, std::vector<std::string> environment)
    : m_environment(std::move(environment)), m_port(unusedPort())
{
    own("");
    tool({"initdb", "--no-sync", "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "-D",
        path("data")});
    configure(lines);
    start();
}

PostgresServer::PostgresServer(PostgresServer &primary, std::vector<std::string> lines)
    : m_port(unusedPort())
{
    own("");
    tool({"pg_basebackup", "-h", primary.socketDirectory(), "-p", std::to_string(primary.port()),
        "-U", "postgres", "-D", path("data"), "-R", "--checkpoint=fast", "--no-sync"});
    configure(lines);
    start();
}

PostgresServer::~PostgresServer()
{
    kill();
}

bool PostgresServer::installed()
{
    return !directoryOfPrograms().empty();
}

std::string PostgresServer::path(const std::string &file) const
{
    return file.empty() ? m_directory.path().toStdString()
                        : m_directory.filePath(QString::fromStdString(file)).toStdString();
}

void PostgresServer::own(const std::string &file) const
{
    const User &user = serverUser();
    if (geteuid() == 0 && chown(path(file).c_str(), user.uid, user.gid) != 0)
        qFatal("the server's files cannot be given to another user");
    chmod(path(file).c_str(), file.empty() ? 0755 : 0600);
}

std::string PostgresServer::tool(const std::vector<std::string> &words, bool mustSucceed) const
{
    std::vector<std::string> all = words;
    if (all.front().find('/') == std::string::npos)
        all.front() = directoryOfPrograms() + all.front();
    const std::string output = path("tool.log");
    unlink(output.c_str());
    int status = -1;
    waitpid(launch(all, output, path("")), &status, 0);
    std::ifstream file(output);
    std::ostringstream text;
    text << file.rdbuf();
    if (mustSucceed && status != 0)
        qFatal("%s failed: %s", words.front().c_str(), text.str().c_str());
    return text.str();
}

void PostgresServer::configure(const std::vector<std::string> &lines) const
{
    std::ofstream file(path("data/postgresql.conf"), std::ios::app);
    file << "listen_addresses = '127.0.0.1'\nport = " << m_port << "\nunix_socket_directories = '"
         << path("") << "'\nfsync = off\nshared_buffers = 16MB\nmax_connections = 60\n"
         << "lc_messages = 'C'\n";
    for (const std::string &line : lines)
        file << line << "\n";
}

void PostgresServer::start()
{
    m_pid = launch({directoryOfPrograms() + "postgres", "-D", path("data")}, path("log"), path(""),
        m_environment);
    const bool up = QTest::qWaitFor(
        [this] {
            const auto settings = postgres::settingsOf(socketUri());
            return postgres::PgConnection::open(*settings, "test", BootClock::now() + 5s)
                .has_value();
        },
        60'000);
    if (!up) {
        std::ifstream file(path("log"));
        std::ostringstream text;
        text << file.rdbuf();
        qFatal("postgres did not start: %s", text.str().c_str());
    }
}

/// The postmaster and all that it has forked: every session is a process group of its own.
std::vector<pid_t> PostgresServer::processes() const
{
    std::vector<pid_t> all{m_pid};
    const std::string pid = std::to_string(m_pid);
    std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
    for (pid_t child = 0; children >> child;)
        all.push_back(child);
    return all;
}

void PostgresServer::kill()
{
    m_client.reset();
    if (m_pid <= 0)
        return;
    const std::vector<pid_t> all = processes();
    ::kill(m_pid, SIGSTOP); // so that it starts nobody new
    for (const pid_t pid : all)
        ::kill(pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
    m_pid = -1;
    for (const pid_t pid : all) { // their shared memory must be free before a new start
        for (int i = 0; i < 500 && runs(pid); ++i)
            std::this_thread::sleep_for(10ms);
    }
}

void PostgresServer::stop()
{
    m_client.reset();
    if (m_pid <= 0)
        return;
    ::kill(m_pid, SIGINT);
    waitpid(m_pid, nullptr, 0);
    m_pid = -1;
}

void PostgresServer::pause() const
{
    for (const pid_t pid : processes())
        ::kill(pid, SIGSTOP);
}

void PostgresServer::resume() const
{
    for (const pid_t pid : processes())
        ::kill(pid, SIGCONT);
}

void PostgresServer::promote()
{
    run("SELECT pg_catalog.pg_promote(true, 60)");
}

void PostgresServer::setLine(const std::string &line)
{
    {
        std::ofstream file(path("data/postgresql.conf"), std::ios::app);
        file << line << "\n";
    }
    ::kill(m_pid, SIGHUP);
}

void PostgresServer::allow(const std::vector<std::string> &hbaLines)
{
    const std::string name = path("data/pg_hba.conf");
    std::ostringstream old;
    old << std::ifstream(name).rdbuf();
    {
        std::ofstream file(name);
        for (const std::string &line : hbaLines)
            file << line << "\n";
        file << old.str();
    }
    ::kill(m_pid, SIGHUP);
}

void PostgresServer::enableTls(const std::string &name)
{
    const std::string openssl = "/usr/bin/openssl";
    tool({openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "30", "-subj", "/CN=test authority", "-keyout", path("ca.key"), "-out",
        path("ca.crt")});
    tool({openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
        "/CN=" + name, "-keyout", path("server.key"), "-out", path("server.csr")});
    {
        std::ofstream file(path("san.ext"));
        file << "subjectAltName=DNS:" << name << "\n";
    }
    tool({openssl, "x509", "-req", "-in", path("server.csr"), "-CA", path("ca.crt"), "-CAkey",
        path("ca.key"), "-CAcreateserial", "-days", "30", "-extfile", path("san.ext"), "-out",
        path("server.crt")});
    own("server.key");
    setLine("ssl_cert_file = '" + path("server.crt") + "'\nssl_key_file = '" + path("server.key")
        + "'\nssl_ca_file = '" + path("ca.crt") + "'\nssl = on");
}

StoreUri PostgresServer::socketUri(const std::string &schema) const
{
    StoreUri uri = tcpUri(schema);
    uri.hosts.front().first = path("");
    return uri;
}

StoreUri PostgresServer::tcpUri(const std::string &schema) const
{
    StoreUri uri;
    uri.scheme = "postgresql";
    uri.user = "postgres";
    uri.path = "postgres";
    uri.hosts.emplace_back("127.0.0.1", m_port);
    if (!schema.empty())
        uri.parameters["schema"] = schema;
    return uri;
}

std::unique_ptr<postgres::PgConnection> PostgresServer::session(const std::string &role) const
{
    const auto settings = postgres::settingsOf(socketUri());
    auto made = postgres::PgConnection::open(*settings, role, BootClock::now() + 10s);
    if (!made)
        qFatal("%s", made.error().text().c_str());
    return std::move(*made);
}

postgres::PgRows PostgresServer::run(
    const std::string &sql, const std::vector<postgres::PgValue> &values)
{
    if (!m_client || !m_client->usable())
        m_client = session();
    auto rows = m_client->ask(sql, values, BootClock::now() + 30s);
    if (!rows)
        qFatal("%s: %s", sql.c_str(), rows.error().text().c_str());
    return std::move(*rows);
}

void PostgresServer::script(const std::string &sql)
{
    if (!m_client || !m_client->usable())
        m_client = session();
    if (const auto done = m_client->script(sql, BootClock::now() + 30s); !done)
        qFatal("%s: %s", sql.c_str(), done.error().text().c_str());
}

bool PgBouncer::installed()
{
    return QFile::exists(QStringLiteral("/usr/sbin/pgbouncer"));
}

PgBouncer::PgBouncer(const PostgresServer &server, Pools pools)
    : m_server(server), m_port(unusedPort())
{
    const std::string directory = m_directory.path().toStdString();
    const std::string file = directory + "/pgbouncer.ini";
    std::ofstream(file) << "[databases]\n* = host=" << server.socketDirectory()
                        << " port=" << server.port() << " user=postgres\n[pgbouncer]\n"
                        << "listen_addr = 127.0.0.1\nlisten_port = " << m_port
                        << "\nunix_socket_dir =\nauth_type = any\npool_mode = "
                        << (pools == Pools::Transactions ? "transaction" : "session") << "\n";
    const User &user = serverUser();
    if (geteuid() == 0 && chown(directory.c_str(), user.uid, user.gid) != 0)
        qFatal("pgbouncer's files cannot be given to another user");
    chmod(file.c_str(), 0644);
    m_pid = launch({"/usr/sbin/pgbouncer", file}, server.path("pgbouncer.log"), directory);
    const bool up = QTest::qWaitFor(
        [this] {
            const auto settings = postgres::settingsOf(uri());
            return postgres::PgConnection::open(*settings, "test", BootClock::now() + 5s)
                .has_value();
        },
        20'000);
    if (!up)
        qFatal("pgbouncer did not start");
}

PgBouncer::~PgBouncer()
{
    ::kill(m_pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
}

StoreUri PgBouncer::uri(const std::string &schema) const
{
    StoreUri uri = m_server.tcpUri(schema);
    uri.hosts.front().second = m_port;
    return uri;
}

} // namespace tenure
