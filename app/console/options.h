// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <string>

namespace tenure::ui
{

/// The command line of `tenure`, understood.
struct Options {
    enum class Wish { Run, ShowHelp, ShowVersion, Refuse } wish = Wish::Run;
    QString message; ///< help, version, or what is wrong
    QStringList urls; ///< to connect to at start; "demo:" among them for --demo
    std::optional<ThemeChoice> theme;
    QString screenshot; ///< file; empty: none
    std::string journal; ///< file; empty: the usual one
    QStringList lookAt; ///< journals of others to show
    Duration after = std::chrono::seconds(2);
    bool profileStart = false;
};

/// Needs no QApplication, so that --version and --help work without a display.
[[nodiscard]] Options parseOptions(const QStringList &arguments);

} // namespace tenure::ui
