// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/profile_store.h"

#include "core/backend/uri.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStandardPaths>
#include <QUuid>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

constexpr std::array kEnvironments{"production", "staging", "development", "sim"};
constexpr std::array kSecrets{"nowhere", "keyring", "ask"};

template <typename Enum, std::size_t N>
Enum enumOf(const QJsonValue &value, const std::array<const char *, N> &words, Enum fallback)
{
    for (std::size_t i = 0; i < N; ++i) {
        if (value.toString() == QLatin1String(words[i]))
            return static_cast<Enum>(i);
    }
    return fallback;
}

QJsonObject toJson(const ConnectionProfile &profile)
{
    return {{QStringLiteral("id"), profile.id}, {QStringLiteral("name"), profile.name},
        {QStringLiteral("url"), profile.url},
        {QStringLiteral("environment"),
            QLatin1String(kEnvironments[static_cast<std::size_t>(profile.environment)])},
        {QStringLiteral("glob"), profile.glob},
        {QStringLiteral("connectAtStart"), profile.connectAtStart},
        {QStringLiteral("startReadOnly"), profile.startReadOnly},
        {QStringLiteral("secretFrom"),
            QLatin1String(kSecrets[static_cast<std::size_t>(profile.secretFrom)])}};
}

ConnectionProfile fromJson(const QJsonObject &object)
{
    ConnectionProfile profile;
    profile.id = object[QLatin1String("id")].toString();
    profile.name = object[QLatin1String("name")].toString();
    profile.url = object[QLatin1String("url")].toString();
    profile.environment
        = enumOf(object[QLatin1String("environment")], kEnvironments, Environment::Production);
    profile.glob = object[QLatin1String("glob")].toString(QStringLiteral("*"));
    profile.connectAtStart = object[QLatin1String("connectAtStart")].toBool();
    profile.startReadOnly = object[QLatin1String("startReadOnly")].toBool(true);
    profile.secretFrom
        = enumOf(object[QLatin1String("secretFrom")], kSecrets, SecretFrom::AskEachTime);
    return profile;
}

bool containsPassword(const QString &url)
{
    const auto parsed = StoreUri::parse(url.toStdString());
    return parsed && !parsed->password.empty();
}

} // namespace

ProfileStore::ProfileStore(QString path) : m_path(std::move(path))
{
    if (m_path.isEmpty()) {
        m_path = QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation)
            + QStringLiteral("/connections.json");
    }
    load();
}

void ProfileStore::load()
{
    QFile file(m_path);
    if (!file.exists())
        return;
    if (!file.open(QIODevice::ReadOnly)) {
        m_readOnlyReason = QStringLiteral("%1 cannot be read: %2").arg(m_path, file.errorString());
        return;
    }
    QJsonParseError problem;
    const QJsonObject root = QJsonDocument::fromJson(file.readAll(), &problem).object();
    const int version = root[QLatin1String("version")].toInt();
    if (problem.error != QJsonParseError::NoError || version < 1) {
        m_readOnlyReason = QStringLiteral("%1 is damaged and is left as it is. Move it away to save "
                                          "connections again.").arg(m_path);
        return;
    }
    if (version > kVersion) {
        m_readOnlyReason = QStringLiteral("%1 was written by a newer Tenure and is opened read-only.")
                               .arg(m_path);
    }
    for (const QJsonValue value : root[QLatin1String("connections")].toArray()) {
        ConnectionProfile profile = fromJson(value.toObject());
        if (!profile.id.isEmpty())
            m_profiles.push_back(std::move(profile));
    }
}

Result<void> ProfileStore::put(const ConnectionProfile &profile)
{
    if (containsPassword(profile.url)) {
        return fail(ErrorKind::BadConfig, "A saved URL must not contain a password", {},
            "Leave it out; it is kept in the keyring or asked for");
    }
    const auto same = std::find_if(m_profiles.begin(), m_profiles.end(),
        [&](const ConnectionProfile &other) { return other.id == profile.id; });
    if (same != m_profiles.end())
        *same = profile;
    else
        m_profiles.push_back(profile);
    return save();
}

Result<void> ProfileStore::remove(const QString &id)
{
    std::erase_if(m_profiles, [&](const ConnectionProfile &profile) { return profile.id == id; });
    return save();
}

Result<void> ProfileStore::save()
{
    if (!m_readOnlyReason.isEmpty())
        return fail(ErrorKind::Denied, m_readOnlyReason.toStdString(), m_path.toStdString());
    QJsonArray connections;
    for (const ConnectionProfile &profile : m_profiles)
        connections.append(toJson(profile));
    const QJsonObject root{{QStringLiteral("version"), kVersion},
        {QStringLiteral("connections"), connections}};
    QDir().mkpath(QFileInfo(m_path).absolutePath());
    QSaveFile file(m_path);
    const bool written = file.open(QIODevice::WriteOnly)
        && file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner)
        && file.write(QJsonDocument(root).toJson()) >= 0 && file.commit();
    if (!written)
        return fail(ErrorKind::Denied, "The connections could not be saved: "
                + file.errorString().toStdString(), m_path.toStdString());
    return {};
}

QString newProfileId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

QString environmentWord(Environment environment)
{
    switch (environment) {
    case Environment::Production:
        return QStringLiteral("PRODUCTION");
    case Environment::Staging:
        return QStringLiteral("STAGING");
    case Environment::Development:
        return QStringLiteral("DEV");
    case Environment::Sim:
        return QStringLiteral("SIM");
    }
    return {};
}

bool looksLikeProduction(const QString &url, const QString &name)
{
    const auto parsed = StoreUri::parse(url.toStdString());
    if (!parsed || parsed->hosts.empty())
        return false;
    const bool local = std::all_of(parsed->hosts.begin(), parsed->hosts.end(), [](const auto &host) {
        return host.first == "localhost" || host.first.starts_with("127.") || host.first == "::1";
    });
    static const QRegularExpression kHints(QStringLiteral("(^|[^a-z])(prod|prd|production|live)([^a-z]|$)"),
        QRegularExpression::CaseInsensitiveOption);
    return !local && (kHints.match(url).hasMatch() || kHints.match(name).hasMatch());
}

} // namespace tenure::ui
