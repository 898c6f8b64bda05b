// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_candidates.h"
#include "core/backend/kubernetes/kube_scope.h"

namespace tenure::kube
{

/// LeaseStore over one API client: a batch travels as parallel requests, those of one lease in order.
class KubeStore final : public LeaseStore
{
public:
    KubeStore(std::shared_ptr<const Settings> settings, std::shared_ptr<View> view, StoreTraits traits)
        : m_settings(std::move(settings)), m_view(std::move(view)), m_traits(std::move(traits)),
          m_api(m_settings)
    {
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::vector<Result<Reply>> execute(
        std::span<const Command> commands, Instant deadline) override;
    [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override;
    [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override;
    bool idle(Instant deadline, const std::atomic<bool> &cancelled) override;
    [[nodiscard]] Result<LeaseAside> aside(const LeaseId &lease, Instant deadline) override;

private:
    struct Cursor;
    [[nodiscard]] Result<Reply> list(const List &list, Instant deadline);
    [[nodiscard]] Result<void> knowScopes(Instant deadline);
    [[nodiscard]] Result<std::vector<std::string>> leaseKeys(Cursor &cursor, std::size_t limit, Instant deadline);
    [[nodiscard]] std::vector<std::string> legacyKeys(Cursor &cursor, Instant deadline);
    void rereadLegacy(Instant deadline);
    void carryOut(std::vector<std::unique_ptr<Work>> &works, Instant deadline);
    void readRights(Instant deadline);

    const std::shared_ptr<const Settings> m_settings;
    const std::shared_ptr<View> m_view;
    const StoreTraits m_traits;
    Api m_api;
    bool m_cutOff = false; ///< a candidate's request got no answer: idle() connects
    std::optional<std::vector<std::string>> m_scopes;
    Instant m_scopesUntil;
    Candidates m_candidates;
    Instant m_legacyAt; ///< when all objects are searched for leaders' annotations again
    std::vector<std::string> m_rights; ///< what one may not do, a sentence each
    Instant m_rightsUntil;
    std::string m_epoch;
    Instant m_epochUntil;
};

} // namespace tenure::kube
