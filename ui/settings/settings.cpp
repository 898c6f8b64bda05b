// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings.h"

#include "ui/settings/settings_store.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

template <typename Value>
using Names = std::vector<std::pair<Value, const char *>>;

const Names<ThemeChoice> kThemes{{ThemeChoice::System, "system"}, {ThemeChoice::Light, "light"},
    {ThemeChoice::Dark, "dark"}, {ThemeChoice::HighContrast, "contrast"}};
const Names<Density> kDensities{{Density::Comfortable, "comfortable"}, {Density::Compact, "compact"}};
const Names<Motion> kMotions{{Motion::Full, "full"}, {Motion::Reduced, "reduced"}};
const Names<TimeShown> kTimes{{TimeShown::Utc, "utc"}, {TimeShown::Local, "local"}, {TimeShown::Both, "both"}};

template <typename Value>
QString nameOf(const Names<Value> &names, Value value)
{
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto &one) { return one.first == value; });
    return QLatin1String(found == names.end() ? names.front().second : found->second);
}

template <typename Value>
Value valueOf(const Names<Value> &names, const QJsonValue &name, Value otherwise)
{
    const auto found = std::find_if(names.begin(), names.end(),
        [&](const auto &one) { return name.toString() == QLatin1String(one.second); });
    return found == names.end() ? otherwise : found->first;
}

QJsonArray viewsOf(const Settings &settings)
{
    QJsonArray out;
    for (const SavedView &view : settings.views) {
        out.append(QJsonObject{{QStringLiteral("name"), view.name}, {QStringLiteral("filter"), view.filter},
            {QStringLiteral("group"), view.group}, {QStringLiteral("tiles"), view.tiles}});
    }
    return out;
}

QJsonArray pinsOf(const Settings &settings)
{
    QJsonArray out;
    for (const PinnedLease &pin : settings.pins) {
        // Any bytes may be a lease's name.
        out.append(QJsonObject{{QStringLiteral("connection"), pin.connection},
            {QStringLiteral("lease"), QString::fromLatin1(pin.lease.toBase64())}});
    }
    return out;
}

} // namespace

QByteArray toJson(const Settings &settings)
{
    QJsonObject keys;
    for (const auto &[name, sequence] : settings.keys)
        keys.insert(name, sequence);
    const QJsonObject object{{QStringLiteral("version"), SettingsStore::kVersion},
        {QStringLiteral("theme"), nameOf(kThemes, settings.theme)},
        {QStringLiteral("density"), nameOf(kDensities, settings.density)},
        {QStringLiteral("textSize"), settings.textSize},
        {QStringLiteral("motion"), nameOf(kMotions, settings.motion)},
        {QStringLiteral("times"), nameOf(kTimes, settings.times)},
        {QStringLiteral("notify"), settings.notify}, {QStringLiteral("notifyUpTo"), settings.notifyUpTo},
        {QStringLiteral("tray"), settings.tray}, {QStringLiteral("closeToTray"), settings.closeToTray},
        {QStringLiteral("docksLocked"), settings.docksLocked},
        {QStringLiteral("webhookUrl"), settings.webhookUrl},
        {QStringLiteral("webhookKind"), settings.webhookKind},
        {QStringLiteral("webhookSigned"), settings.webhookSigned},
        {QStringLiteral("views"), viewsOf(settings)}, {QStringLiteral("pins"), pinsOf(settings)},
        {QStringLiteral("keys"), keys}};
    return QJsonDocument(object).toJson();
}

Settings settingsFromJson(const QJsonObject &object)
{
    const Settings otherwise;
    Settings out;
    const auto at = [&](const char *key) { return object.value(QLatin1String(key)); };
    out.theme = valueOf(kThemes, at("theme"), otherwise.theme);
    out.density = valueOf(kDensities, at("density"), otherwise.density);
    out.textSize = std::clamp(at("textSize").toInt(otherwise.textSize), 80, 200);
    out.motion = valueOf(kMotions, at("motion"), otherwise.motion);
    out.times = valueOf(kTimes, at("times"), otherwise.times);
    out.notify = at("notify").toBool(otherwise.notify);
    out.notifyUpTo = std::clamp(at("notifyUpTo").toInt(otherwise.notifyUpTo), 1, 3);
    out.tray = at("tray").toBool(otherwise.tray);
    out.closeToTray = at("closeToTray").toBool(otherwise.closeToTray);
    out.docksLocked = at("docksLocked").toBool(otherwise.docksLocked);
    out.webhookUrl = at("webhookUrl").toString();
    if (at("webhookKind").toString() == QLatin1String("alertmanager"))
        out.webhookKind = QStringLiteral("alertmanager");
    out.webhookSigned = at("webhookSigned").toBool(otherwise.webhookSigned);
    for (const QJsonValue value : at("views").toArray()) {
        const QJsonObject view = value.toObject();
        const QString name = view[QLatin1String("name")].toString();
        if (!name.isEmpty())
            out.views.push_back({name, view[QLatin1String("filter")].toString(),
                view[QLatin1String("group")].toString(), view[QLatin1String("tiles")].toBool()});
    }
    for (const QJsonValue value : at("pins").toArray()) {
        const QJsonObject pin = value.toObject();
        const QByteArray lease = QByteArray::fromBase64(pin[QLatin1String("lease")].toString().toLatin1());
        if (!lease.isEmpty())
            out.pins.push_back({pin[QLatin1String("connection")].toString(), lease});
    }
    const QJsonObject keys = at("keys").toObject();
    for (auto key = keys.begin(); key != keys.end(); ++key)
        out.keys[key.key()] = key.value().toString();
    return out;
}

} // namespace tenure::ui
