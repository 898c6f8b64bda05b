// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/connections.h"

#include "core/backend/uri.h"
#include "ui/bridge/secrets.h"

#include <QFileInfo>

#include <algorithm>

namespace tenure::ui
{
namespace
{

bool isDemo(const QString &url)
{
    const auto uri = StoreUri::parse(url.toStdString());
    return uri && uri->scheme == "demo";
}

} // namespace

QString nameFromUrl(const QString &url)
{
    const auto uri = StoreUri::parse(url.toStdString());
    if (!uri)
        return url.section(QLatin1Char('@'), -1).left(40); // what stands before @ may be a password
    if (uri->scheme == "demo")
        return QStringLiteral("demo");
    if (!uri->hosts.empty()) {
        const auto &[host, port] = uri->hosts.front();
        const QString name = QString::fromStdString(host);
        return port == 0 ? name : QStringLiteral("%1:%2").arg(name).arg(port);
    }
    const QString file = QFileInfo(QString::fromStdString(uri->path)).fileName();
    return file.isEmpty() ? QString::fromStdString(uri->scheme) : file;
}

Connections::Connections(QString profileFile, QObject *parent)
    : QObject(parent), m_store(std::move(profileFile))
{
}

Connections::~Connections() = default;

std::vector<ConnectionProfile> Connections::profiles() const
{
    std::vector<ConnectionProfile> all = m_store.profiles();
    all.insert(all.end(), m_ofThisRun.begin(), m_ofThisRun.end());
    return all;
}

const ConnectionProfile *Connections::profile(const QString &id) const
{
    for (const auto *list : {&m_store.profiles(), &m_ofThisRun}) {
        for (const ConnectionProfile &one : *list) {
            if (one.id == id)
                return &one;
        }
    }
    return nullptr;
}

Session *Connections::session(const QString &id) const
{
    const auto found = m_sessions.find(id);
    return found == m_sessions.end() ? nullptr : found->second.get();
}

std::vector<Session *> Connections::sessions() const
{
    std::vector<Session *> out;
    for (const ConnectionProfile &one : profiles()) {
        if (Session *open = session(one.id))
            out.push_back(open);
    }
    return out;
}

void Connections::save(const ConnectionProfile &profile, const QString &password)
{
    if (!password.isEmpty()) {
        m_passwords[profile.id] = password;
        if (profile.secretFrom == SecretFrom::Keyring) {
            writeSecret(profile.id, password, this, [this](const QString &why) {
                if (!why.isEmpty())
                    Q_EMIT problem(why);
            });
        }
    }
    std::erase_if(m_ofThisRun, [&](const auto &one) { return one.id == profile.id; });
    if (const auto saved = m_store.put(profile); !saved)
        Q_EMIT problem(QString::fromStdString(saved.error().text()));
    const bool wasOpen = session(profile.id) != nullptr;
    close(profile.id);
    Q_EMIT profilesChanged();
    if (wasOpen)
        open(profile.id);
}

void Connections::remove(const QString &id)
{
    close(id);
    m_passwords.erase(id);
    const ConnectionProfile *known = profile(id);
    if (known && known->secretFrom == SecretFrom::Keyring)
        deleteSecret(id);
    const auto same = [&](const auto &one) { return one.id == id; };
    if (std::erase_if(m_ofThisRun, same) == 0) {
        if (const auto saved = m_store.remove(id); !saved)
            Q_EMIT problem(QString::fromStdString(saved.error().text()));
    }
    Q_EMIT profilesChanged();
}

void Connections::open(const QString &id, const QString &password)
{
    const ConnectionProfile *known = profile(id);
    if (!known)
        return;
    if (!password.isEmpty())
        m_passwords[id] = password;
    close(id);
    const auto given = m_passwords.find(id);
    if (given != m_passwords.end() || known->secretFrom != SecretFrom::Keyring) {
        openWith(*known, given != m_passwords.end() ? given->second : environmentPassword());
        return;
    }
    readSecret(id, this, [this, id](const SecretAnswer &answer) {
        if (!answer.problem.isEmpty())
            Q_EMIT problem(answer.problem);
        if (const ConnectionProfile *still = profile(id); still && !session(id))
            openWith(*still, answer.found ? answer.password : environmentPassword());
    });
}

void Connections::openWith(const ConnectionProfile &profile, const QString &password)
{
    if (isDemo(profile.url)) {
        install(std::make_unique<Session>(profile, std::make_unique<DemoWorld>(), nullptr));
        return;
    }
    auto uri = StoreUri::parse(profile.url.toStdString());
    if (uri && uri->password.empty())
        uri->password = password.toStdString();
    auto session = std::make_unique<Session>(profile,
        uri ? makeBackend(*uri) : Result<std::shared_ptr<const Backend>>(fail(uri.error())), nullptr);
    if (uri)
        session->setStoreUri(*uri);
    install(std::move(session));
}

void Connections::keepJournal(Session &session)
{
    if (!m_journal)
        return;
    const ConnectionProfile &profile = session.profile();
    if (!session.isSimulated()) {
        // A connection of this run has an id of this run; its URL stays the same.
        const bool saved = std::any_of(m_store.profiles().begin(), m_store.profiles().end(),
            [&](const ConnectionProfile &one) { return one.id == profile.id; });
        const StoreTraits *traits = session.traits();
        session.setJournal(m_journal,
            saved || traits == nullptr ? profile.id.toStdString() : traits->display);
        return;
    }
    if (!m_simFolder)
        m_simFolder = std::make_unique<QTemporaryDir>();
    Journal::Options options;
    options.path = m_simFolder->filePath(profile.id + QStringLiteral(".db")).toStdString();
    session.setJournal(std::make_shared<Journal>(options), profile.id.toStdString());
}

void Connections::install(std::unique_ptr<Session> session)
{
    Session *opened = session.get();
    keepJournal(*opened);
    m_sessions[opened->profile().id] = std::move(session);
    Q_EMIT sessionOpened(opened);
    if (!opened->profile().startReadOnly && opened->profile().environment != Environment::Production)
        opened->allowWrites(std::chrono::minutes(15));
    opened->open();
}

void Connections::close(const QString &id)
{
    const auto found = m_sessions.find(id);
    if (found == m_sessions.end())
        return;
    const std::unique_ptr<Session> closing = std::move(found->second);
    m_sessions.erase(found);
    Q_EMIT sessionClosing(closing.get());
}

QString Connections::openUrl(const QString &url)
{
    ConnectionProfile profile;
    profile.id = newProfileId();
    profile.url = url;
    profile.name = nameFromUrl(url);
    profile.environment = isDemo(url) ? Environment::Sim
        : looksLikeProduction(url, {}) ? Environment::Production : Environment::Development;
    if (auto uri = StoreUri::parse(url.toStdString()); uri && !uri->password.empty()) {
        m_passwords[profile.id] = QString::fromStdString(uri->password);
        uri->password.clear();
        profile.url = QString::fromStdString(uri->secretText());
    }
    m_ofThisRun.push_back(profile);
    Q_EMIT profilesChanged();
    open(profile.id);
    return profile.id;
}

void Connections::openAtStart()
{
    for (const ConnectionProfile &one : std::vector(m_store.profiles())) {
        if (one.connectAtStart)
            open(one.id);
    }
}

} // namespace tenure::ui
