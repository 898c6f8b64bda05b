// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "core/net/http_client.h"

#include <QProcess>
#include <QTemporaryDir>

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tenure
{

/// A real kube-apiserver with its etcd, on free ports of 127.0.0.1 and in a directory of its own, ended
/// with the test also when that is killed. RBAC is on. Its program is looked for where
/// KUBEBUILDER_ASSETS points, as everywhere in that world.
///
/// Contexts of its kubeconfig: "admin" (token, may everything), "certificate" (the same by client
/// certificate), "ann" and "bob" (known users without any right until allow()).
class KubeServer
{
public:
    KubeServer(); ///< starts and waits until it is ready; fatal when it does not come up
    ~KubeServer();
    KubeServer(const KubeServer &) = delete;
    KubeServer &operator=(const KubeServer &) = delete;

    /// Empty when it can be started here; else how to get what is missing.
    [[nodiscard]] static std::string missing();

    /// Whether what is missing is a failure and no skip: servers are demanded and somebody said where this one is.
    [[nodiscard]] static bool required();

    /// "kubernetes://CONTEXT/NAMESPACE?kubeconfig=..."; without a namespace: all that one may see.
    [[nodiscard]] StoreUri uri(const std::string &nameSpace, const std::string &context = "admin") const;
    /// A copy of the kubeconfig whose server is reached through a port of 127.0.0.1 (a proxy).
    [[nodiscard]] std::string kubeconfigThrough(std::uint16_t port) const;
    /// A namespace that no other test uses.
    std::string makeNamespace();
    /// What another client does, as the administrator.
    HttpResponse call(const std::string &method, const std::string &path, const std::string &body = {},
        const std::string &contentType = "application/json");
    /// The text of a Lease; empty when there is none.
    std::string lease(const std::string &nameSpace, const std::string &name);
    /// Gives a user verbs on leases: in one namespace, or everywhere when it is empty.
    void allow(const std::string &user, const std::string &nameSpace, const std::vector<std::string> &verbs);

    void kill(); ///< SIGKILL of the API server; etcd goes on
    void start(); ///< the API server again
    void pause() const; ///< SIGSTOP
    void resume() const;
    void keepStore(); ///< a copy of etcd's data, as a backup would be
    void restoreStore(); ///< both servers again, with that copy
    void wipeStore(); ///< both servers again, with nothing

    [[nodiscard]] std::string kubeconfig() const { return path("kubeconfig"); }
    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] std::string path(const std::string &file) const;

private:
    void makeCertificates() const;
    void writeKubeconfig() const;
    void startEtcd();
    void endEtcd();
    void startApi();
    void waitReady();

    QTemporaryDir m_directory;
    std::uint16_t m_port = 0, m_etcdPort = 0, m_peerPort = 0;
    pid_t m_api = -1, m_etcd = -1;
    std::unique_ptr<HttpClient> m_client;
    int m_namespaces = 0, m_roles = 0;
};

/// The one server of a test program: starting takes seconds. Ended at exit.
[[nodiscard]] KubeServer &sharedKubeServer();

/// client-go's own example contender (lease 60 s, deadline 15 s, retry 5 s). Its log's times are UTC.
class ClientGoContender
{
public:
    /// `kubeconfig` empty: the server's.
    ClientGoContender(const KubeServer &server, const std::string &nameSpace, const std::string &lease,
        const std::string &id, const std::string &kubeconfig = {});
    ~ClientGoContender();
    ClientGoContender(const ClientGoContender &) = delete;
    ClientGoContender &operator=(const ClientGoContender &) = delete;
    [[nodiscard]] static bool installed();
    void terminate() { m_process.terminate(); } ///< gives the lease up
    void kill() { m_process.kill(); }
    [[nodiscard]] qint64 pid() const { return m_process.processId(); }
    [[nodiscard]] QProcess &process() { return m_process; }

private:
    QProcess m_process;
};

} // namespace tenure
