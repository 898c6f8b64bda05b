// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ctl/command_line.h"
#include "app/ctl/exit_code.h"
#include "app/ctl/output.h"
#include "app/ctl/target.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>


namespace tenure::ctl
{

/// What was chosen on the command line, to be run once parsing is over.
using Chosen = std::function<Exit(Output &)>;

// Each adds its command with options, help and examples, and fills `chosen` when it was typed.
void addListCommand(CommandNode &app, Chosen &chosen);
void addShowCommand(CommandNode &app, Chosen &chosen);
void addCampaignCommand(CommandNode &app, Chosen &chosen);
void addReleaseCommand(CommandNode &app, Chosen &chosen);
void addDoctorCommand(CommandNode &app, Chosen &chosen);
void addInitCommand(CommandNode &app, Chosen &chosen);
void addWorkCommand(CommandNode &app, Chosen &chosen);
void addHistoryCommand(CommandNode &app, Chosen &chosen);
void addMetricsCommand(CommandNode &app, Chosen &chosen);
void addSimulateCommand(CommandNode &app, Chosen &chosen);
void addDrillCommand(CommandNode &app, Chosen &chosen);
/// `words`: what stood behind "--", COMMAND and its arguments.
void addRunCommand(CommandNode &app, Chosen &chosen, std::vector<std::string> words);

/// The positional arguments that most commands share.
void addUrl(CommandNode &command, Named &named);
void addUrlAndLease(CommandNode &command, Named &named);

} // namespace tenure::ctl
