// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_exec.h"

#include "core/backend/kubernetes/base64.h"
#include "core/backend/kubernetes/child_process.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

tl::unexpected<Error> rejected(const ExecPlugin &plugin, const std::string &what, std::string remedy = {})
{
    return fail(ErrorKind::Rejected,
        "The credential plugin " + printable(plugin.command, 200) + " " + what, plugin.place.text(),
        remedy.empty() ? "Run it by hand to see what it wants" : std::move(remedy));
}

std::string textOf(const Json &map, const char *key)
{
    const auto found = map.find(key);
    return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string fileText(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
}

/// The last line that says anything.
std::string lastWords(const std::string &text)
{
    std::string last;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find_first_not_of(" \t\r") != std::string::npos)
            last = line;
    }
    return printable(last, 300);
}

} // namespace

Result<ExecCredential> parseExecCredential(const ExecPlugin &plugin, const std::string &output)
{
    const Json root = Json::parse(output, nullptr, false);
    if (!root.is_object() || textOf(root, "kind") != "ExecCredential")
        return rejected(plugin, "printed no ExecCredential");
    const std::string version = textOf(root, "apiVersion");
    if (version != plugin.apiVersion) {
        return rejected(plugin,
            "answered with apiVersion \"" + printable(version, 80) + "\", the kubeconfig says "
                + plugin.apiVersion,
            "Correct the apiVersion in the kubeconfig");
    }
    const auto status = root.find("status");
    if (status == root.end() || !status->is_object())
        return rejected(plugin, "gave no credential (no status)");
    ExecCredential out;
    out.token = textOf(*status, "token");
    out.certData = textOf(*status, "clientCertificateData");
    out.keyData = textOf(*status, "clientKeyData");
    if (out.certData.empty() != out.keyData.empty())
        return rejected(plugin, "gave a client certificate without its key, or the other way round");
    if (out.token.empty() && out.certData.empty())
        return rejected(plugin, "gave neither a token nor a client certificate");
    if (const std::string expires = textOf(*status, "expirationTimestamp"); !expires.empty()) {
        out.expires = parseTime(expires);
        if (!out.expires)
            return rejected(plugin, "gave an expirationTimestamp that is no time");
    }
    return out;
}

ExecRun::ExecRun(ExecPlugin plugin, Cluster cluster)
    : m_plugin(std::move(plugin)), m_cluster(std::move(cluster)),
      m_wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    m_thread = std::thread([this] { run(); });
}

ExecRun::~ExecRun()
{
    {
        const std::lock_guard lock(m_mutex);
        m_cancelled = true;
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(m_wake, &one, sizeof one);
    }
    m_done.notify_all();
    m_thread.join();
    close(m_wake);
}

void ExecRun::run()
{
    auto result = runOnce();
    const std::lock_guard lock(m_mutex);
    m_result = std::move(result);
    m_done.notify_all();
}

std::optional<Result<ExecCredential>> ExecRun::wait(Instant deadline)
{
    std::unique_lock lock(m_mutex);
    const auto left = std::max<Duration>(deadline - BootClock::now(), Duration::zero());
    m_done.wait_for(lock, left, [this] { return m_result.has_value() || m_cancelled; });
    return m_result;
}

std::string ExecRun::info(bool interactive) const
{
    Json spec{{"interactive", interactive}};
    if (m_plugin.provideClusterInfo) {
        Json cluster{{"server", m_cluster.server}};
        const std::string ca
            = m_cluster.caData.empty() && !m_cluster.caFile.empty() ? fileText(m_cluster.caFile) : m_cluster.caData;
        if (!ca.empty())
            cluster["certificate-authority-data"] = base64Encoded(ca);
        if (!m_cluster.tlsServerName.empty())
            cluster["tls-server-name"] = m_cluster.tlsServerName;
        if (m_cluster.insecure)
            cluster["insecure-skip-tls-verify"] = true;
        if (!m_cluster.proxyUrl.empty())
            cluster["proxy-url"] = m_cluster.proxyUrl;
        spec["cluster"] = std::move(cluster);
    }
    return Json{{"kind", "ExecCredential"}, {"apiVersion", m_plugin.apiVersion}, {"spec", std::move(spec)}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ExecCredential> ExecRun::runOnce()
{
    // IfAvailable goes without: nobody would see the question beside a full-screen table.
    const bool ask = m_plugin.interactive == Interactive::Always;
    if (ask && isatty(STDIN_FILENO) == 0) {
        return rejected(m_plugin, "insists on asking questions, and there is no terminal to ask on",
            "Log in with it once by hand, or set interactiveMode to IfAvailable");
    }
    std::vector<std::string> words{m_plugin.command};
    words.insert(words.end(), m_plugin.arguments.begin(), m_plugin.arguments.end());
    auto environment = m_plugin.environment;
    environment.emplace_back("KUBERNETES_EXEC_INFO", info(ask));
    const auto output = runChild(words, environment, ask ? ChildInput::Terminal : ChildInput::Nothing,
        BootClock::now() + kLongest, m_wake);
    if (!output) {
        return rejected(m_plugin,
            output.error().kind == ErrorKind::NotFound ? "was not found" : "could not be started",
            printable(m_plugin.installHint, 400));
    }
    if (output->cancelled)
        return rejected(m_plugin, "was given up");
    if (output->timedOut)
        return rejected(m_plugin, "did not end within a minute and was killed");
    if (output->tooLong)
        return rejected(m_plugin, "printed more than a megabyte and was killed");
    if (output->exitCode != 0) {
        const std::string said = lastWords(output->err);
        return rejected(m_plugin,
            "failed with exit code " + std::to_string(output->exitCode)
                + (said.empty() ? std::string() : ": " + said));
    }
    return parseExecCredential(m_plugin, output->out);
}

} // namespace tenure::kube
