// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/backend.h"

namespace tenure
{

/// Leases of a Kubernetes cluster (coordination.k8s.io/v1), wire-compatible with client-go. Reads the
/// kubeconfig; connects to nothing.
[[nodiscard]] Result<std::shared_ptr<const Backend>> makeKubernetesBackend(const StoreUri &uri);

} // namespace tenure
