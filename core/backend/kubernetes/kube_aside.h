// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_work.h"

namespace tenure::kube
{

/// What whoever is signed in lacks for a release by hand (SelfSubjectAccessReview: nothing is
/// changed), and the events of leader election that the cluster keeps of this lease. A right that may
/// not be asked about does not count as missing: the write itself will tell.
[[nodiscard]] Result<LeaseAside> asideOf(Api &api, const LeasePlace &place, Instant deadline);

/// "missing `patch leases` in billing"; empty for none.
[[nodiscard]] std::string missingText(std::span<const Deed> missing);
/// For who grants rights: who lacks them, and the commands that give them. `user`: as the server knows
/// them, empty where it does not tell.
[[nodiscard]] std::string grantText(
    std::span<const Deed> missing, const std::string &user, const Settings &settings);
/// Of an EventList, newest first. Events of another kind of object are left out.
[[nodiscard]] std::vector<BackendEvent> eventsOf(const std::string &body, std::string_view kind);

} // namespace tenure::kube
