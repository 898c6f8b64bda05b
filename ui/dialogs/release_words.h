// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/operator_gate.h"
#include "ui/bridge/session.h"

#include <QString>

namespace tenure::ui
{

/// The exact words of the release dialog, apart from its widgets. Pure.

/// "RELEASED, taken by sched-a1 after 0.9 s (token 119)", "REFUSED: ...", "UNKNOWN: ..." (UX.md 9).
[[nodiscard]] QString outcomeText(const ReleaseReport &report, const ReleasePlan &plan);
/// True for what went as it was meant to.
[[nodiscard]] bool wentWell(ReleaseOutcome outcome);
/// The same release through tenurectl, without secrets, ready for a POSIX shell.
[[nodiscard]] QString commandLine(const ReleasePlan &plan, const StoreTraits &traits);
/// "scheduler@prod-eu": the last part of the lease's name, at the connection.
[[nodiscard]] QString confirmationText(const LeaseId &lease, const QString &connection);
/// Why the lease cannot be released now, empty when it can: stale data, read-only, nobody holds it.
[[nodiscard]] QString whyNotReleasable(const Session &session, const LeaseStatus *status, Instant now);
/// What changed between two looks, for the banner; empty when nothing did.
[[nodiscard]] QString changeText(const Seen &before, const Seen &now);

} // namespace tenure::ui
