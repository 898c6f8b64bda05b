// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/exit_code.h"
#include "app/ctl/output.h"
#include "app/ctl/target.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenure::ctl
{

/// What was chosen on the command line, to be run once parsing is over.
using Chosen = std::function<Exit(Output &)>;

// Each adds its command with options, help and examples, and fills `chosen` when it was typed.
void addListCommand(CLI::App &app, Chosen &chosen);
void addShowCommand(CLI::App &app, Chosen &chosen);
void addCampaignCommand(CLI::App &app, Chosen &chosen);
void addReleaseCommand(CLI::App &app, Chosen &chosen);
void addDoctorCommand(CLI::App &app, Chosen &chosen);
void addInitCommand(CLI::App &app, Chosen &chosen);
void addWorkCommand(CLI::App &app, Chosen &chosen);
void addHistoryCommand(CLI::App &app, Chosen &chosen);
void addMetricsCommand(CLI::App &app, Chosen &chosen);
void addSimulateCommand(CLI::App &app, Chosen &chosen);
void addDrillCommand(CLI::App &app, Chosen &chosen);
/// `words`: what stood behind "--", COMMAND and its arguments.
void addRunCommand(CLI::App &app, Chosen &chosen, std::vector<std::string> words);

/// The positional arguments that most commands share.
void addUrl(CLI::App &command, Named &named);
void addUrlAndLease(CLI::App &command, Named &named);

} // namespace tenure::ctl
