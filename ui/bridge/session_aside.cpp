// SPDX-License-Identifier: GPL-3.0-or-later
// What belongs to a lease beside its record: asked when somebody opens it.
#include "ui/bridge/retire.h"
#include "ui/bridge/session.h"

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kAskWithin = 5s;
constexpr Duration kFresh = 30s; ///< rights change rarely, and one who waits for them sees it so soon

} // namespace

void Session::askAside(const LeaseId &id)
{
    const Instant now = BootClock::now();
    if (!m_backend || !m_monitor || now < m_asides[id].next)
        return;
    m_asides[id].next = now + kFresh;
    retire([this, backend = m_backend, id, slot = m_mailbox.slot()] {
        const auto answer = backend->makeStore()->aside(id, BootClock::now() + kAskWithin);
        if (!answer)
            return; // the link says why; what was known stands
        Mailbox::postTo(slot, [this, id, aside = *answer] {
            Asked &asked = m_asides[id];
            if (asked.answer == aside)
                return;
            asked.answer = aside;
            Q_EMIT asideChanged(id);
        });
    });
}

const LeaseAside *Session::aside(const LeaseId &id) const
{
    const auto found = m_asides.find(id);
    return found == m_asides.end() || !found->second.answer ? nullptr : &*found->second.answer;
}

} // namespace tenure::ui
