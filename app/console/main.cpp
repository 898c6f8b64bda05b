// SPDX-License-Identifier: GPL-3.0-or-later
// tenure: the console. Options, display, theme, window; nothing else.
#include "app/console/connections.h"
#include "app/console/main_window.h"
#include "app/console/options.h"
#include "ui/bridge/retire.h"
#include "ui/settings/settings_store.h"

#include <QApplication>
#include <QIcon>
#include <QTimer>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <unistd.h>

namespace
{

using namespace std::chrono_literals;
using namespace tenure;

constexpr int kUsage = 2;
constexpr int kNoDisplay = 1;

bool hasDisplay()
{
    const QString platform = qEnvironmentVariable("QT_QPA_PLATFORM");
    if (!platform.isEmpty() && !platform.startsWith(QLatin1String("xcb"))
        && !platform.startsWith(QLatin1String("wayland")))
        return true;
    return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// When the kernel started this process, so that a measured start includes the loading of libraries.
Instant processStart()
{
    std::ifstream stat("/proc/self/stat");
    std::string field;
    std::getline(stat, field, ')'); // a name in parentheses may contain spaces
    for (int i = 3; i <= 22 && stat >> field; ++i) { }
    const long long ticks = std::atoll(field.c_str());
    const long perSecond = sysconf(_SC_CLK_TCK);
    return Instant(std::chrono::milliseconds(ticks * 1000 / (perSecond > 0 ? perSecond : 100)));
}

void profileStart(ui::MainWindow &window)
{
    QObject::connect(&window, &ui::MainWindow::firstPainted, &window, [] {
        const auto took = std::chrono::duration_cast<Milliseconds>(BootClock::now() - processStart());
        std::fprintf(stderr, "first painted window after %lld ms\n", static_cast<long long>(took.count()));
    });
}

void takePicture(ui::MainWindow &window, const ui::Options &options)
{
    QTimer::singleShot(std::chrono::duration_cast<Milliseconds>(options.after), &window,
        [&window, file = options.screenshot] {
            const bool saved = window.grab().save(file);
            if (!saved)
                std::fprintf(stderr, "tenure: the picture could not be saved to %s\n", qPrintable(file));
            QApplication::exit(saved ? 0 : 1);
        });
}

int run(QApplication &app, const ui::Options &options)
{
    ui::SettingsStore settings;
    ui::Theme theme;
    ui::applyLooks(settings.now(), theme);
    theme.install(app);
    ui::Connections connections{QString()};
    Journal::Options keep;
    if (!options.journal.empty())
        keep.path = options.journal;
    connections.setJournal(std::make_shared<Journal>(keep));
    ui::MainWindow window(theme, SystemClock::instance(), connections, settings);
    if (options.theme)
        theme.setChoice(*options.theme);
    if (options.profileStart)
        profileStart(window);
    if (!options.screenshot.isEmpty())
        takePicture(window, options);
    window.show();
    // Connecting begins once the window is on the screen.
    QTimer::singleShot(0, &window, [&] {
        QApplication::setWindowIcon(QIcon(QStringLiteral(":/tenure.svg")));
        for (const QString &url : options.urls)
            connections.openUrl(url);
        if (options.urls.isEmpty())
            connections.openAtStart();
        for (const QString &path : options.lookAt)
            window.openJournal(path);
    });
    return QApplication::exec();
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    QStringList arguments;
    for (int i = 0; i < argc; ++i)
        arguments += QString::fromLocal8Bit(argv[i]);
    const ui::Options options = ui::parseOptions(arguments);
    if (options.wish != ui::Options::Wish::Run) {
        const bool refused = options.wish == ui::Options::Wish::Refuse;
        std::fprintf(refused ? stderr : stdout, refused ? "tenure: %s\n" : "%s", qPrintable(options.message));
        return refused ? kUsage : 0;
    }
    if (!hasDisplay()) {
        std::fputs("tenure: there is no display (DISPLAY and WAYLAND_DISPLAY are not set). In a terminal, "
                   "use: tenurectl list demo: --watch\n", stderr);
        return kNoDisplay;
    }
    QCoreApplication::setApplicationName(QStringLiteral("tenure"));
    QCoreApplication::setApplicationVersion(QStringLiteral(TENURE_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Tenure"));
    QGuiApplication::setDesktopFileName(QStringLiteral(TENURE_APP_ID));
    int code = 0;
    {
        QApplication app(argc, argv);
        code = run(app, options);
    }
    // What hangs in a dead server's call must not keep a closed console alive.
    if (!ui::finishRetired(5s))
        std::_Exit(code);
    return code;
}
