// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runtime/instance_engine.h"

namespace tenure
{

ThreadEngine::ThreadEngine(const std::shared_ptr<const Backend> &backend, const Clock &clock,
    const LeaseId &lease, HolderId holder, const Timing &timing)
    : m_holder(holder.name()), m_host(makeFaultyBackend(backend, m_faults, clock), clock),
      m_elector(m_host, lease, std::move(holder), timing)
{
    m_elector.start();
}

} // namespace tenure
