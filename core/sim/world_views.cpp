// SPDX-License-Identifier: GPL-3.0-or-later
// What people see of a world.
#include "core/sim/world_node.h"

#include <algorithm>

namespace tenure::sim
{

using namespace std::chrono_literals;

std::vector<NodeView> World::nodes() const
{
    std::vector<NodeView> out;
    for (const auto &node : m_nodes) {
        NodeView view;
        view.name = m_names[static_cast<std::size_t>(node->index)];
        view.client = node->kind;
        using Life = NodeView::Life;
        view.life = node->crashed ? Life::Crashed : !node->up ? Life::Stopped
            : node->stands() ? Life::Paused : node->hung > 0 ? Life::Hung : Life::Running;
        view.claims = node->claims();
        view.works = (m_setup.work.items == 0 ? view.claims : node->works) && !node->stands();
        view.toStoreCut = node->cutToStore > 0;
        view.fromStoreCut = node->cutFromStore > 0;
        view.queueCut = node->cutToQueue > 0 || node->cutFromQueue > 0;
        if (view.claims)
            view.validFor = node->claimUntil == Duration::max() ? Duration::max() : node->claimUntil - m_now;
        view.wallSkew = node->wallSkew;
        view.ratePpm = node->clock.rate();
        view.item = node->item;
        view.terms = node->terms;
        if (node->up) {
            view.token = view.works && m_setup.work.items > 0 ? node->workToken : node->client->token();
            view.phase = node->client->phase();
        }
        out.push_back(std::move(view));
    }
    return out;
}

StoreView World::store() const
{
    const StoreTruth truth = m_store->truth(m_now);
    StoreView view{truth.holder, truth.token, std::max<Duration>(0ns, truth.heldUntil - m_now)};
    view.down = m_storeRestarting;
    for (const Fault &fault : m_faults) {
        view.down = view.down || fault.step.verb == Step::Verb::HangStore;
        view.slow = view.slow || fault.step.verb == Step::Verb::Latency;
    }
    return view;
}

ConsoleView World::console() const
{
    ConsoleView view;
    view.on = m_setup.console != Watcher::None;
    view.age = m_now - m_console.lastProof;
    view.stale = m_setup.console == Watcher::Honest && view.age > 3s;
    const bool over = m_setup.console == Watcher::Gullible && m_console.heldUntil <= m_now;
    view.holder = over ? -1 : m_console.holder;
    view.token = m_console.token;
    return view;
}

} // namespace tenure::sim
