// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/exit_code.h"

#include "core/base/text.h"

#include <cstdio>

namespace tenure::ctl
{
namespace
{

void sayOnStderr(const std::string &sentence)
{
    const std::string line = "tenurectl: " + printable(sentence, 2000) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace

Exit exitFor(ErrorKind kind)
{
    switch (kind) {
    case ErrorKind::Conflict:
        return Exit::Conflict;
    case ErrorKind::NotFound:
        return Exit::NobodyLeads;
    case ErrorKind::Unavailable:
    case ErrorKind::OutcomeUnknown:
        return Exit::Unreachable;
    case ErrorKind::Denied:
    case ErrorKind::Rejected:
        return Exit::Denied;
    case ErrorKind::BadConfig:
        return Exit::Usage;
    case ErrorKind::Corrupt:
    case ErrorKind::Unsupported:
        return Exit::Failed;
    }
    return Exit::Failed;
}

Exit complain(const Error &error)
{
    sayOnStderr(error.text());
    return exitFor(error.kind);
}

Exit complainUsage(const std::string &sentence)
{
    sayOnStderr(sentence);
    return Exit::Usage;
}

} // namespace tenure::ctl
