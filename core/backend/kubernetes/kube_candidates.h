// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_api.h"
#include "core/backend/kubernetes/kube_view.h"

namespace tenure::kube
{

/// Who stands for election, where the server keeps that (LeaseCandidate objects, of coordinated leader
/// election). A server that does not, or does not let us look, simply shows none. One owner.
class Candidates
{
public:
    /// Asks anew, a few seconds after the last time, and notes the answer in the view.
    void refresh(Api &api, View &view, std::span<const std::string> scopes, Instant deadline);

private:
    void discover(Api &api, Instant deadline);

    std::string m_version; ///< "v1beta1"; empty: not served
    Instant m_discoverAt, m_refreshAt;
};

/// Of a LeaseCandidateList, by the key of their lease, the one that the server prefers first: of the
/// oldest emulated version, then of the oldest binary, then the one longest there.
[[nodiscard]] CandidateMap candidatesOf(const std::string &body);

} // namespace tenure::kube
