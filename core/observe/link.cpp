// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/observe/link.h"

#include "core/base/time_text.h"

#include <algorithm>

namespace tenure
{
namespace
{

/// As durationText, but an age below a second stays in seconds: "0.3 s" does not jump to "300 ms".
std::string ageText(Duration age)
{
    age = std::max(age, Duration::zero());
    if (age >= std::chrono::seconds(1))
        return durationText(age);
    const auto tenths = std::chrono::duration_cast<Milliseconds>(age).count() / 100;
    return "0." + std::to_string(tenths) + " s";
}

std::string nextTryText(const LinkStatus& link, Instant now)
{
    return link.nextTry ? "next try in " + ageText(*link.nextTry - now) : std::string();
}

bool needsAPerson(const LinkStatus& link)
{
    return link.error
        && (link.error->kind == ErrorKind::Denied || link.error->kind == ErrorKind::Rejected);
}

} // namespace

LinkState linkStateAt(const LinkStatus& link, Instant now)
{
    if (link.paused)
        return LinkState::Paused;
    if (!link.connected) {
        if (needsAPerson(link))
            return LinkState::Denied;
        return link.everConnected ? LinkState::Disconnected : LinkState::Connecting;
    }
    if (now - link.lastProof > link.staleAfter)
        return LinkState::Stale;
    return link.pushOpen ? LinkState::Live : LinkState::Polling;
}

const char* linkWord(LinkState state)
{
    switch (state) {
    case LinkState::Connecting:
        return "CONNECTING";
    case LinkState::Live:
        return "LIVE";
    case LinkState::Polling:
        return "POLLING";
    case LinkState::Stale:
        return "STALE";
    case LinkState::Disconnected:
        return "DISCONNECTED";
    case LinkState::Denied:
        return "DENIED";
    case LinkState::Paused:
        return "PAUSED";
    }
    return "";
}

std::string linkText(const LinkStatus& link, Instant now)
{
    const LinkState state = linkStateAt(link, now);
    std::string out = linkWord(state);
    switch (state) {
    case LinkState::Live:
    case LinkState::Polling:
    case LinkState::Stale:
        return out + " " + ageText(now - link.lastProof);
    case LinkState::Connecting: {
        const std::string next = nextTryText(link, now);
        if (link.attempt == 0)
            return out;
        return out + " (" + std::to_string(link.attempt) + " failed"
            + (next.empty() ? "" : ", " + next) + ")";
    }
    case LinkState::Disconnected: {
        const std::string next = nextTryText(link, now);
        return out + " " + ageText(now - link.since) + (next.empty() ? "" : ", " + next);
    }
    case LinkState::Denied:
    case LinkState::Paused:
        return out;
    }
    return out;
}

bool isFresh(LinkState state)
{
    return state == LinkState::Live || state == LinkState::Polling;
}

} // namespace tenure
