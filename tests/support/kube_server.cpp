// SPDX-License-Identifier: GPL-3.0-or-later
#include "kube_server.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTest>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tenure
{

using namespace std::chrono_literals;

namespace
{

constexpr int kReadyMs = 120'000; ///< a sanitized build on two busy cores

std::string asset(const char *name)
{
    return qEnvironmentVariable("KUBEBUILDER_ASSETS").toStdString() + "/" + name;
}

std::string etcdProgram()
{
    for (const QString &place : {QString::fromStdString(asset("etcd")), QStringLiteral("/usr/bin/etcd")}) {
        if (QFileInfo(place).isExecutable())
            return place.toStdString();
    }
    return QStandardPaths::findExecutable(QStringLiteral("etcd")).toStdString();
}

std::uint16_t portFreeNow()
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *raw = reinterpret_cast<sockaddr *>(&address);
    const bool bound = bind(fd, raw, size) == 0 && getsockname(fd, raw, &size) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : std::uint16_t(0);
}

pid_t spawn(std::vector<std::string> words, const std::string &log)
{
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
        dup2(out, 1);
        dup2(out, 2);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    return pid;
}

void end(pid_t &pid)
{
    if (pid <= 0)
        return;
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = -1;
}

void openssl(const QStringList &words)
{
    QProcess process;
    process.start(QStringLiteral("openssl"), words);
    if (!process.waitForFinished(60'000) || process.exitCode() != 0)
        qFatal("openssl: %s", process.readAllStandardError().constData());
}

void write(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

std::string joined(const std::vector<std::string> &words)
{
    std::string out;
    for (const std::string &word : words)
        out += (out.empty() ? "\"" : ",\"") + word + "\"";
    return out;
}

} // namespace

KubeServer::KubeServer() : m_port(portFreeNow()), m_etcdPort(portFreeNow()), m_peerPort(portFreeNow())
{
    makeCertificates();
    writeKubeconfig();
    startEtcd();
    startApi();
    waitReady();
}

KubeServer::~KubeServer()
{
    end(m_api);
    end(m_etcd);
}

std::string KubeServer::missing()
{
    if (!QFileInfo(QString::fromStdString(asset("kube-apiserver"))).isExecutable())
        return "no kube-apiserver: set KUBEBUILDER_ASSETS to a directory that has one (setup-envtest gets it)";
    if (etcdProgram().empty())
        return "no etcd: apt-get install etcd-server";
    if (QStandardPaths::findExecutable(QStringLiteral("openssl")).isEmpty())
        return "no openssl: apt-get install openssl";
    return {};
}

bool KubeServer::required()
{
    return qEnvironmentVariableIsSet("TENURE_REQUIRE_SERVERS") && qEnvironmentVariableIsSet("KUBEBUILDER_ASSETS");
}

std::string KubeServer::path(const std::string &file) const
{
    return m_directory.filePath(QString::fromStdString(file)).toStdString();
}

void KubeServer::makeCertificates() const
{
    const auto at = [this](const char *name) { return QString::fromStdString(path(name)); };
    openssl({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test-ca", "-keyout",
        at("ca.key"), "-out", at("ca.crt")});
    write(path("server.ext"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    write(path("client.ext"), "extendedKeyUsage=clientAuth\n");
    const std::vector<std::pair<const char *, QString>> all{
        {"server", QStringLiteral("/CN=kube-apiserver")}, {"client", QStringLiteral("/O=system:masters/CN=carol")}};
    for (const auto &[name, subject] : all) {
        const QString base = QString::fromStdString(path(name));
        openssl({"req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", base + ".key", "-out", base + ".csr"});
        openssl({"x509", "-req", "-in", base + ".csr", "-CA", at("ca.crt"), "-CAkey", at("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", base + ".ext", "-out", base + ".crt"});
    }
    openssl({"genrsa", "-out", at("sa.key"), "2048"});
    openssl({"rsa", "-in", at("sa.key"), "-pubout", "-out", at("sa.pub")});
    write(path("tokens.csv"),
        "admin-token,admin,1,\"system:masters\"\nann-token,ann,2\nbob-token,bob,3\n");
}

void KubeServer::writeKubeconfig() const
{
    std::string text = "apiVersion: v1\nkind: Config\ncurrent-context: admin\nclusters:\n- name: test\n  cluster:\n"
                       "    server: https://127.0.0.1:"
        + std::to_string(m_port) + "\n    certificate-authority: ca.crt\nusers:\n";
    for (const char *name : {"admin", "ann", "bob"})
        text += std::string("- name: ") + name + "\n  user: {token: " + name + "-token}\n";
    text += "- name: carol\n  user: {client-certificate: client.crt, client-key: client.key}\ncontexts:\n";
    for (const char *name : {"admin", "ann", "bob"})
        text += std::string("- name: ") + name + "\n  context: {cluster: test, user: " + name + "}\n";
    text += "- name: certificate\n  context: {cluster: test, user: carol}\n";
    write(kubeconfig(), text);
}

void KubeServer::startEtcd()
{
    const std::string client = "http://127.0.0.1:" + std::to_string(m_etcdPort);
    const std::string peer = "http://127.0.0.1:" + std::to_string(m_peerPort);
    m_etcd = spawn({etcdProgram(), "--name", "t", "--data-dir", path("etcd"), "--listen-client-urls", client,
                       "--advertise-client-urls", client, "--listen-peer-urls", peer,
                       "--initial-advertise-peer-urls", peer, "--initial-cluster", "t=" + peer, "--unsafe-no-fsync"},
        path("etcd.log"));
}

void KubeServer::endEtcd()
{
    end(m_api);
    end(m_etcd);
}

void KubeServer::startApi()
{
    m_api = spawn({asset("kube-apiserver"), "--etcd-servers=http://127.0.0.1:" + std::to_string(m_etcdPort),
                      "--bind-address=127.0.0.1", "--secure-port=" + std::to_string(m_port),
                      "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                      "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC",
                      "--anonymous-auth=true", "--tls-cert-file=" + path("server.crt"),
                      "--tls-private-key-file=" + path("server.key"), "--client-ca-file=" + path("ca.crt"),
                      "--token-auth-file=" + path("tokens.csv"),
                      "--service-account-issuer=https://kubernetes.default.svc",
                      "--service-account-key-file=" + path("sa.pub"),
                      "--service-account-signing-key-file=" + path("sa.key"), "--cert-dir=" + path("certs")},
        path("api.log"));
}

void KubeServer::waitReady()
{
    HttpTarget target;
    target.url = "https://127.0.0.1:" + std::to_string(m_port);
    target.tls.caFile = path("ca.crt");
    target.display = "the test's API server";
    m_client = std::move(*HttpClient::make(target));
    const bool ready = QTest::qWaitFor(
        [this] {
            HttpRequest get;
            get.path = "/readyz";
            get.headers = {{"Authorization", "Bearer admin-token"}};
            const auto answer = m_client->send(get, BootClock::now() + 2s);
            return answer && answer->status == 200;
        },
        kReadyMs);
    if (!ready)
        qFatal("kube-apiserver did not become ready; its log: %s", path("api.log").c_str());
}

HttpResponse KubeServer::call(const std::string &method, const std::string &where, const std::string &body,
    const std::string &contentType)
{
    HttpRequest request;
    request.method = method;
    request.path = where;
    request.body = body;
    request.headers = {{"Authorization", "Bearer admin-token"}, {"Accept", "application/json"}};
    if (!body.empty())
        request.headers.emplace_back("Content-Type", contentType);
    auto response = m_client->send(request, BootClock::now() + 30s);
    if (!response)
        qFatal("%s %s: %s", method.c_str(), where.c_str(), response.error().text().c_str());
    return *std::move(response);
}

StoreUri KubeServer::uri(const std::string &nameSpace, const std::string &context) const
{
    StoreUri uri;
    uri.scheme = "kubernetes";
    uri.hosts.emplace_back(context, 0);
    uri.path = nameSpace;
    uri.parameters["kubeconfig"] = kubeconfig();
    return uri;
}

std::string KubeServer::kubeconfigThrough(std::uint16_t port) const
{
    std::ifstream in(kubeconfig());
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string direct = "127.0.0.1:" + std::to_string(m_port);
    text.replace(text.find(direct), direct.size(), "127.0.0.1:" + std::to_string(port));
    const std::string file = path("kubeconfig-" + std::to_string(port));
    write(file, text);
    return file;
}

std::string KubeServer::makeNamespace()
{
    const std::string name = "t" + std::to_string(++m_namespaces) + "-" + std::to_string(getpid());
    const auto made = call("POST", "/api/v1/namespaces",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + "\"}}");
    if (made.status != 201)
        qFatal("no namespace: %s", made.body.c_str());
    return name;
}

std::string KubeServer::lease(const std::string &nameSpace, const std::string &name)
{
    const auto got = call("GET", "/apis/coordination.k8s.io/v1/namespaces/" + nameSpace + "/leases/" + name);
    return got.status == 200 ? got.body : std::string();
}

void KubeServer::allow(
    const std::string &user, const std::string &nameSpace, const std::vector<std::string> &verbs)
{
    const std::string name = "role-" + std::to_string(++m_roles);
    const std::string kind = nameSpace.empty() ? "ClusterRole" : "Role";
    const std::string base = "/apis/rbac.authorization.k8s.io/v1"
        + (nameSpace.empty() ? std::string() : "/namespaces/" + nameSpace);
    const std::string head = R"({"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":")" + name + "\"},\"kind\":\"";
    const auto role = call("POST", base + (nameSpace.empty() ? "/clusterroles" : "/roles"),
        head + kind + R"(","rules":[{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":[)"
            + joined(verbs) + "]}]}");
    const auto binding = call("POST", base + (nameSpace.empty() ? "/clusterrolebindings" : "/rolebindings"),
        head + kind + R"(Binding","roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" + kind
            + R"(","name":")" + name + R"("},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":")"
            + user + "\"}]}");
    if (role.status != 201 || binding.status != 201)
        qFatal("no rights: %s %s", role.body.c_str(), binding.body.c_str());
}

void KubeServer::kill()
{
    end(m_api);
}

void KubeServer::start()
{
    startApi();
    waitReady();
}

void KubeServer::pause() const
{
    ::kill(m_api, SIGSTOP);
}

void KubeServer::resume() const
{
    ::kill(m_api, SIGCONT);
}

void KubeServer::keepStore()
{
    endEtcd();
    std::filesystem::remove_all(path("backup"));
    std::filesystem::copy(path("etcd"), path("backup"), std::filesystem::copy_options::recursive);
    startEtcd();
    start();
}

void KubeServer::restoreStore()
{
    endEtcd();
    std::filesystem::remove_all(path("etcd"));
    std::filesystem::copy(path("backup"), path("etcd"), std::filesystem::copy_options::recursive);
    startEtcd();
    start();
}

void KubeServer::wipeStore()
{
    endEtcd();
    std::filesystem::remove_all(path("etcd"));
    startEtcd();
    start();
}

KubeServer &sharedKubeServer()
{
    static KubeServer server;
    return server;
}

ClientGoContender::ClientGoContender(
    const KubeServer &server, const std::string &nameSpace, const std::string &lease, const std::string &id,
    const std::string &kubeconfig)
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("TZ"), QStringLiteral("UTC"));
    m_process.setProcessEnvironment(environment);
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    m_process.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
    m_process.start(QString::fromStdString(asset("client-go-leader-election")),
        {"-kubeconfig", QString::fromStdString(kubeconfig.empty() ? server.kubeconfig() : kubeconfig), "-id", QString::fromStdString(id),
            "-lease-lock-name", QString::fromStdString(lease), "-lease-lock-namespace",
            QString::fromStdString(nameSpace)});
}

ClientGoContender::~ClientGoContender()
{
    m_process.kill();
    m_process.waitForFinished();
}

bool ClientGoContender::installed()
{
    return QFileInfo(QString::fromStdString(asset("client-go-leader-election"))).isExecutable();
}

} // namespace tenure
