// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"
#include "core/election/election.h"

#include <optional>

namespace tenure
{

// The translation between an election, which knows verbs and events, and a store, which knows
// commands and replies. Pure.

/// Who an elector is, constant while it lives.
struct Candidacy {
    LeaseId lease;
    HolderId holder;
    ElectionRules rules;
};

/// What to send for `verb` as `state` stands now. `awaitEnd`: Action's.
[[nodiscard]] Command commandFor(
    Verb verb, const Candidacy &who, const ElectionState &state, Duration awaitEnd = {});

/// What a failed call means for an election (DESIGN.md section 3, the fault table).
[[nodiscard]] FaultClass faultOf(const Error &error, Verb verb);

/// What an answer means. The caller fills in `now`, `draw`, `fresh`, `request` and `sentAt`.
[[nodiscard]] Event eventFor(Verb verb, const Candidacy &who, const Result<Reply> &reply);

} // namespace tenure
