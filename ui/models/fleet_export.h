// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QByteArray>

namespace tenure::ui
{

/// The rows that are listed now, in their order, as text for other tools: times RFC 3339 UTC with Z,
/// durations in milliseconds, what is not known empty (CSV) or null (JSON). Simulated leases carry
/// the word SIM (UX.md R8).
[[nodiscard]] QByteArray fleetCsv(const FleetModel &model, const Clock &clock);
[[nodiscard]] QByteArray fleetJson(const FleetModel &model, const Clock &clock);

/// One field of a CSV file that a spreadsheet may open: quoted where it must be, and what would be
/// taken for a formula begins with an apostrophe.
[[nodiscard]] QString csvField(const QString &text);

} // namespace tenure::ui
