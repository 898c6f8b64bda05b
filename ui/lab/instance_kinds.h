// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

class QComboBox;

namespace tenure::ui
{

/// What local instances are made of: threads of the console, or processes where `session` can have
/// them; else the box has one entry and its tool tip says why.
void fillInstanceKinds(QComboBox &box, Session &session);
[[nodiscard]] LocalInstances::As chosenKind(const QComboBox &box);
/// "drill/", or "drill-" where names take no slash: how leases begin that need no insisting.
[[nodiscard]] QString drillPrefix(const Session &session);

} // namespace tenure::ui
