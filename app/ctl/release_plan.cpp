// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/release_plan.h"

#include "core/base/text.h"

#include <array>

#include <pwd.h>
#include <unistd.h>

namespace tenure::ctl
{

Exit exitFor(const ReleaseReport &report)
{
    switch (report.outcome) {
    case ReleaseOutcome::Taken:
    case ReleaseOutcome::Vacant:
    case ReleaseOutcome::Held:
    case ReleaseOutcome::Asked:
        return Exit::Done;
    case ReleaseOutcome::Reacquired:
        return Exit::Failed;
    case ReleaseOutcome::Refused:
        return Exit::Conflict;
    case ReleaseOutcome::Denied:
        return Exit::Denied;
    case ReleaseOutcome::Unknown:
        return Exit::Unreachable;
    case ReleaseOutcome::Failed:
        return report.error ? exitFor(report.error->kind) : Exit::Failed;
    }
    return Exit::Failed;
}

std::optional<Error> mismatch(
    const LeaseRecord &record, const std::string &holder, std::optional<std::uint64_t> token)
{
    const std::string lease = printable(record.lease.name());
    if (!record.holder)
        return Error{ErrorKind::NotFound, "Nobody holds " + lease + "; nothing was sent", {}, {}, {}, {}};
    const std::string actual = printable(*record.holder, 255);
    if (*record.holder != holder && actual != holder) {
        return Error{ErrorKind::Conflict, lease + " is held by " + actual + ", not by "
                + printable(holder, 255) + "; nothing was sent", {}, {}, {}, {}};
    }
    if (token && *token != record.token.value) {
        return Error{ErrorKind::Conflict, lease + " is held by " + actual + " under token "
                + std::to_string(record.token.value) + ", not " + std::to_string(*token)
                + "; nothing was sent", {}, {}, {}, {}};
    }
    return std::nullopt;
}

Result<OperatorVerb> parseMode(const std::string &mode)
{
    if (mode == "ask")
        return OperatorVerb::Ask;
    if (mode == "hold")
        return OperatorVerb::Hold;
    if (mode == "clear")
        return OperatorVerb::Clear;
    return fail(ErrorKind::BadConfig, "There is no mode \"" + printable(mode, 80) + "\"", {},
        "Use ask, hold or clear");
}

std::string operatorName()
{
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0)
        host[0] = '\0';
    const passwd *user = getpwuid(getuid());
    return std::string(user != nullptr ? user->pw_name : "uid-" + std::to_string(getuid())) + "@"
        + host.data();
}

} // namespace tenure::ctl
