// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/options.h"

#include "core/base/time_text.h"

#include <QCommandLineParser>

namespace tenure::ui
{
namespace
{

Options refuse(const QString &why)
{
    Options options;
    options.wish = Options::Wish::Refuse;
    options.message = why;
    return options;
}

std::optional<ThemeChoice> themeOf(const QString &name)
{
    if (name == QLatin1String("light"))
        return ThemeChoice::Light;
    if (name == QLatin1String("dark"))
        return ThemeChoice::Dark;
    if (name == QLatin1String("contrast"))
        return ThemeChoice::HighContrast;
    if (name == QLatin1String("system"))
        return ThemeChoice::System;
    return std::nullopt;
}

QString u(const char *text)
{
    return QString::fromLatin1(text);
}

} // namespace

Options parseOptions(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(u("Shows who leads: a console for leases and leader elections.\n"
                                       "Passwords come from the keyring or TENURE_PASSWORD."));
    const QCommandLineOption help({u("h"), u("help")}, u("Shows this."));
    const QCommandLineOption version({u("v"), u("version")}, u("Shows the version."));
    const QCommandLineOption demo(u("demo"), u("Opens the embedded simulation; needs no network."));
    const QCommandLineOption theme(u("theme"), u("light, dark, contrast or system."), u("NAME"));
    const QCommandLineOption shot(u("screenshot"), u("Saves a picture of the window and quits."), u("FILE"));
    const QCommandLineOption after(
        u("after"), u("How long --screenshot waits, for example 2s."), u("DURATION"), u("2s"));
    const QCommandLineOption journal(u("journal"),
        u("Keeps the history in this file instead of tenure/journal.db in the data folder."), u("FILE"));
    const QCommandLineOption look(u("look-at"),
        u("Shows somebody else's journal, or an export of one, beside what is live; nothing is written to it."), u("FILE"));
    QCommandLineOption profile(u("profile-start"), u("Tells how long the start took."));
    parser.addOptions({help, version, demo, theme, shot, after, journal, look, profile});
    parser.addPositionalArgument(u("URL"),
        u("redis://host:6379, sqlite:///path, demo: ... to connect to"), u("[URL...]"));
    if (!parser.parse(arguments))
        return refuse(parser.errorText() + u(". See tenure --help."));

    Options options;
    if (parser.isSet(help) || parser.isSet(version)) {
        options.wish = parser.isSet(help) ? Options::Wish::ShowHelp : Options::Wish::ShowVersion;
        options.message = parser.isSet(help) ? parser.helpText() : u("tenure " TENURE_VERSION "\n");
        return options;
    }
    options.urls = parser.positionalArguments();
    if (parser.isSet(demo))
        options.urls.prepend(u("demo:"));
    if (parser.isSet(theme)) {
        options.theme = themeOf(parser.value(theme));
        if (!options.theme)
            return refuse(u("--theme must be light, dark, contrast or system."));
    }
    const auto wait = parseDuration(parser.value(after).toStdString());
    if (!wait)
        return refuse(u("--after: ") + QString::fromStdString(wait.error().what));
    options.after = *wait;
    options.journal = parser.value(journal).toStdString();
    options.lookAt = parser.values(look);
    options.screenshot = parser.value(shot);
    options.profileStart = parser.isSet(profile);
    return options;
}

} // namespace tenure::ui
