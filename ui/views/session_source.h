// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/lease_source.h"

namespace tenure::ui
{

class Session;

/// The LeaseSource of a Session: made at the first call, owned by the session, the same for all views.
[[nodiscard]] LeaseSource *sourceOf(Session *session);

} // namespace tenure::ui
