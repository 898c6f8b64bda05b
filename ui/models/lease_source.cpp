// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/lease_source.h"

namespace tenure::ui
{

QString word(Surroundings where)
{
    switch (where) {
    case Surroundings::Production:
        return QStringLiteral("PRODUCTION");
    case Surroundings::Staging:
        return QStringLiteral("STAGING");
    case Surroundings::Sim:
        return QStringLiteral("SIM");
    case Surroundings::Development:
        break;
    }
    return QStringLiteral("DEVELOPMENT");
}

QString shortWord(Surroundings where)
{
    switch (where) {
    case Surroundings::Production:
        return QStringLiteral("prod");
    case Surroundings::Staging:
        return QStringLiteral("stage");
    case Surroundings::Sim:
        return QStringLiteral("sim");
    case Surroundings::Development:
        break;
    }
    return QStringLiteral("dev");
}

const LeaseStatus *LeaseSource::find(const LeaseId &lease) const
{
    const auto found = leases().find(lease);
    return found == leases().end() ? nullptr : &found->second;
}

} // namespace tenure::ui
