// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_work.h"

namespace tenure::kube
{

/// The places to list and watch: one empty name for the whole cluster where that is allowed, else the
/// namespaces of the URL, else those whose leases one may list. Denied, with the server's sentence, when
/// there is none.
[[nodiscard]] Result<std::vector<std::string>> scopesOf(Api &api, Instant deadline);

/// What one may do, asked of the server (SelfSubjectAccessReview changes nothing). One answer a deed.
[[nodiscard]] Result<std::vector<bool>> mayDo(Api &api, std::span<const Deed> deeds, Instant deadline);

/// One page of Leases, noted in the view.
struct LeasePage {
    struct Row {
        std::string key;
        View::Change change = View::Change::None;
    };
    std::vector<Row> rows;
    std::string next; ///< the server's continue token; empty: the last page
    std::string resourceVersion; ///< of the whole list: where a watch goes on
    Heard heard;
};
[[nodiscard]] Result<LeasePage> leasePage(Api &api, View &view, const std::string &scope,
    const std::string &next, std::size_t limit, Instant deadline);

/// The query that both list and watch of a scope need, beginning with '?'.
[[nodiscard]] std::string scopeQuery(const Settings &settings, const std::string &scope);

} // namespace tenure::kube
