// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sim/chaos.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure::sim
{
namespace
{

using namespace std::chrono_literals;
using Verb = Step::Verb;

Duration drawn(Random &random, Duration most)
{
    return Duration(static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(std::max<Duration>(1ns, most).count()))));
}

Step drawStep(const Setup &setup, Random &random, Duration at, Duration healBy)
{
    Step step;
    step.at = at;
    step.target = setup.instances[random.below(setup.instances.size())].name;
    step.span = std::max<Duration>(1ms, std::min(drawn(random, setup.lease.ttl * 5 / 2), healBy - at));
    const std::string howLong = " " + durationText(step.span);
    switch (random.below(10)) {
    case 0:
        step.verb = Verb::Crash;
        step.span = 200ms + drawn(random, 2s);
        step.text = "crash " + step.target + " for " + durationText(step.span);
        break;
    case 1:
    case 2:
        step.verb = Verb::Pause;
        step.text = "pause " + step.target + howLong;
        break;
    case 3:
    case 4:
        step.verb = Verb::Cut;
        step.way = random.below(10) < 4 ? Step::Way::From : Step::Way::Both;
        step.text = "cut " + step.target + (step.way == Step::Way::From ? "<-store" : "--store") + " for" + howLong;
        break;
    case 5:
        step.verb = Verb::Latency;
        step.target = "store";
        step.spread = Spread::uniform(0ns, 1500ms);
        step.text = "latency store 0s..1.5s for" + howLong;
        break;
    case 6:
        step.verb = Verb::RestartStore;
        step.target = "store";
        step.empty = true;
        step.span = std::max<Duration>(1ms, step.span / 4);
        step.text = "restart store empty for " + durationText(step.span);
        break;
    case 7:
        step.verb = Verb::HandOver;
        step.text = "handover " + step.target;
        break;
    case 8:
        step.verb = Verb::Stop;
        step.text = "stop " + step.target;
        break;
    default:
        step.verb = Verb::HangStore; // no release by hand: two may lead for a moment after that
        step.target = "store";
        step.text = "hang store" + howLong;
        break;
    }
    return step;
}

} // namespace

Setup chaosSetup(int instances, Duration length)
{
    Setup setup;
    setup.lease = {.ttl = 3s};
    for (int i = 0; i < instances; ++i)
        setup.instances.push_back({std::string(1, static_cast<char>('A' + i)), ClientKind::Sound});
    setup.network.drop = {20'000};
    setup.network.duplicate = {30'000};
    setup.clockSpread = {9'000};
    setup.chaosEvery = 2200ms;
    setup.length = length;
    return setup;
}

std::vector<Step> chaosSteps(const Setup &setup, std::uint64_t seed)
{
    std::vector<Step> steps;
    Random random = streamOf(seed, 4);
    const Duration healBy = setup.length - 10 * setup.lease.ttl;
    for (Duration at = setup.chaosEvery;;) {
        at += drawn(random, 2 * setup.chaosEvery);
        if (at >= healBy)
            return steps;
        steps.push_back(drawStep(setup, random, at, healBy));
    }
}

Setup withChaos(const Setup &setup, std::uint64_t seed)
{
    Setup out = setup;
    if (setup.chaosEvery == 0ns)
        return out;
    std::vector<Step> more = chaosSteps(setup, seed);
    out.steps.insert(out.steps.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    std::stable_sort(out.steps.begin(), out.steps.end(), [](const Step &a, const Step &b) { return a.at < b.at; });
    return out;
}

} // namespace tenure::sim
