// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/connection_test.h"

#include "core/backend/backend.h"
#include "core/base/time_text.h"

#include <array>
#include <memory>

namespace tenure::ui
{
namespace
{

using State = TestStep::State;
using Tell = std::function<void(TestStep)>;

std::string reason(const Error &error)
{
    return error.remedy.empty() ? error.what : error.what + ". " + error.remedy;
}

void skip(const Tell &tell, std::initializer_list<const char *> titles)
{
    for (const char *title : titles)
        tell({State::Skipped, title, {}});
}

/// Which step a failed probe belongs to follows from what the caller could do about it.
void tellFailure(const Tell &tell, const Error &error)
{
    const bool reached = error.kind == ErrorKind::Rejected || error.kind == ErrorKind::Denied;
    tell({reached ? State::Passed : State::Failed, "Connect", reached ? "answers" : reason(error)});
    if (reached)
        tell({State::Failed, "Sign-in", reason(error)});
    else
        skip(tell, {"Sign-in"});
    skip(tell, {"Server", "Clock offset", "Round trip", "Leases found"});
}

void tellFacts(const Tell &tell, const StoreFacts &facts, WallTime wall)
{
    tell({State::Passed, "Connect", "answers"});
    tell({State::Passed, "Sign-in", "accepted"});
    tell({State::Passed, "Server", facts.server});
    for (const std::string &note : facts.notes)
        tell({State::Noted, "Note", note});
    if (facts.serverTime) {
        const Duration offset = *facts.serverTime - wall;
        const bool large = offset > std::chrono::seconds(2) || offset < -std::chrono::seconds(2);
        tell({large ? State::Noted : State::Passed, "Clock offset",
            durationText(offset) + (large ? ". Countdowns are not affected." : "")});
    } else {
        tell({State::Skipped, "Clock offset", "the server tells no time"});
    }
    tell({State::Passed, "Round trip", facts.roundTrip ? durationText(*facts.roundTrip) : "not measured"});
}

void tellLeases(const Tell &tell, LeaseStore &store, const std::string &glob, Instant deadline)
{
    List list;
    list.glob = glob.empty() ? "*" : glob;
    const std::array<Command, 1> commands{list};
    const auto answers = store.execute(commands, deadline);
    if (answers.empty() || !answers.front()) {
        tell({State::Failed, "Leases found",
            answers.empty() ? "no answer" : reason(answers.front().error())});
        return;
    }
    const Reply &reply = *answers.front();
    std::string count = std::to_string(reply.records.size());
    if (!reply.cursor.empty())
        count = "at least " + count;
    tell({State::Passed, "Leases found", count});
}

} // namespace

void runConnectionTest(const std::string &url, const std::string &password, const std::string &glob,
    Duration limit, const std::atomic<bool> &cancel, const Tell &tell)
{
    const Tell guarded = [&](TestStep step) {
        if (!cancel)
            tell(std::move(step));
    };
    const Instant deadline = BootClock::now() + limit;
    auto uri = StoreUri::parse(url);
    if (uri && !password.empty())
        uri->password = password;
    if (uri && uri->scheme == "demo") {
        guarded({State::Passed, "URL understood", "the embedded demo, needs no network"});
        return;
    }
    const auto backend = uri ? makeBackend(*uri) : fail(uri.error());
    if (!backend) {
        guarded({State::Failed, "URL understood", reason(backend.error())});
        skip(guarded, {"Connect", "Sign-in", "Server", "Clock offset", "Round trip", "Leases found"});
        return;
    }
    guarded({State::Passed, "URL understood", (*backend)->traits().display});
    const std::unique_ptr<LeaseStore> store = (*backend)->makeStore();
    const auto facts = store->probe(deadline);
    if (!facts) {
        tellFailure(guarded, facts.error());
        return;
    }
    tellFacts(guarded, *facts, SystemClock::instance().wall());
    if (!cancel)
        tellLeases(guarded, *store, glob, deadline);
}

} // namespace tenure::ui
