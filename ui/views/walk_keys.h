// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAbstractItemView;

namespace tenure::ui
{

/// J and K walk the rows of `view`, as the arrows do.
void walkWithJK(QAbstractItemView *view);

} // namespace tenure::ui
