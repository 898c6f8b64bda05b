// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_credentials.h"

#include "core/backend/kubernetes/base64.h"
#include "core/base/text.h"

#include <fstream>
#include <sstream>

namespace tenure::kube
{
namespace
{

constexpr std::chrono::seconds kTokenFileFresh{60};
constexpr std::chrono::seconds kBeforeExpiry{2}; ///< a token is not used up to its last moment
constexpr std::size_t kMaxTokenBytes = std::size_t{1} * 1024 * 1024;

std::string trimmed(const std::string &text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

} // namespace

Credentials::Credentials(User user, Cluster cluster)
    : m_user(std::move(user)), m_cluster(std::move(cluster))
{
}

void Credentials::take(
    const std::string &token, const std::string &certData, const std::string &keyData)
{
    Credential fresh;
    if (!token.empty())
        fresh.headers.emplace_back("Authorization", "Bearer " + token);
    else if (!m_user.name.empty())
        fresh.headers.emplace_back(
            "Authorization", "Basic " + base64Encoded(m_user.name + ":" + m_user.password));
    if (!m_user.as.empty())
        fresh.headers.emplace_back("Impersonate-User", m_user.as);
    if (!m_user.asUid.empty())
        fresh.headers.emplace_back("Impersonate-Uid", m_user.asUid);
    for (const std::string &group : m_user.asGroups)
        fresh.headers.emplace_back("Impersonate-Group", group);
    for (const auto &[key, value] : m_user.asExtra)
        fresh.headers.emplace_back("Impersonate-Extra-" + percentEncoded(key), value);
    fresh.certData = certData;
    fresh.keyData = keyData;
    fresh.number = m_credential.number;
    const bool same = m_known && fresh.headers == m_credential.headers
        && fresh.certData == certData && m_credential.certData == certData
        && m_credential.keyData == keyData;
    if (!same)
        ++fresh.number;
    m_credential = std::move(fresh);
    m_known = true;
}

Result<Credential> Credentials::get(Instant deadline)
{
    std::shared_ptr<ExecRun> run;
    {
        const std::lock_guard lock(m_mutex);
        if (m_known && (!m_freshUntil || BootClock::now() < *m_freshUntil))
            return m_credential;
        const bool stands = !m_user.token.empty() || !m_user.name.empty();
        if (!m_user.tokenFile.empty()) {
            if (auto read = readTokenFile(); !read)
                return fail(std::move(read.error()));
            return m_credential;
        }
        if (!m_user.exec || stands) {
            take(m_user.token, {}, {});
            m_freshUntil.reset();
            return m_credential;
        }
        if (!m_run)
            m_run = std::make_shared<ExecRun>(*m_user.exec, m_cluster);
        run = m_run;
    }
    // Without the lock: whoever has a shorter deadline must not wait for us.
    const auto result = run->wait(deadline);
    if (!result) {
        return fail(ErrorKind::Unavailable,
            "The credential plugin " + printable(m_user.exec->command, 200) + " has not answered yet",
            m_user.exec->place.text());
    }
    const std::lock_guard lock(m_mutex);
    if (m_run == run)
        m_run.reset();
    if (!*result)
        return fail(result->error());
    take((*result)->token, (*result)->certData, (*result)->keyData);
    m_freshUntil.reset();
    if ((*result)->expires) {
        const auto left = *(*result)->expires - SystemClock::instance().wall() - kBeforeExpiry;
        m_freshUntil = BootClock::now() + std::max<Duration>(left, std::chrono::seconds(1));
    }
    return m_credential;
}

Result<void> Credentials::readTokenFile()
{
    std::ifstream stream(m_user.tokenFile, std::ios::binary);
    std::string token;
    if (stream) {
        std::stringstream bytes;
        bytes << stream.rdbuf();
        token = trimmed(bytes.str());
    }
    const bool usable = !token.empty() && token.size() <= kMaxTokenBytes
        && token.find_first_of("\r\n") == std::string::npos;
    if (!usable && m_known) { // the last one that was read goes on, as a rotation may be under way
        m_freshUntil = BootClock::now() + std::chrono::seconds(1);
        return {};
    }
    if (!usable && m_user.token.empty()) {
        return fail(ErrorKind::Rejected,
            "The token file " + printable(m_user.tokenFile) + (stream ? " holds no token" : " cannot be read"),
            m_user.place.text());
    }
    take(usable ? token : m_user.token, {}, {});
    m_freshUntil = BootClock::now() + kTokenFileFresh;
    return {};
}

bool Credentials::refuse(std::uint64_t number)
{
    const std::lock_guard lock(m_mutex);
    const bool plugin = m_user.exec && m_user.token.empty() && m_user.name.empty();
    if (m_user.tokenFile.empty() && !plugin)
        return false;
    if (m_credential.number == number)
        m_freshUntil = BootClock::now();
    return true;
}

} // namespace tenure::kube
