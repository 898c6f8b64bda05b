// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/ticking.h"
#include "ui/models/fleet_model.h"
#include "ui/settings/settings.h"

#include <vector>

class QAbstractButton;
class QLabel;

namespace tenure::ui
{

class PinnedRow;

/// The worst rows again, above the table, so that the table itself need not jump. Hidden while
/// everything is normal.
class PinnedBand final : public QWidget
{
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 4;
    PinnedBand(const Theme &theme, const Clock &clock, QWidget *parent);
    void show(const FleetModel &model);
    /// Leases that stay here while nothing is wrong with them, under the abnormal ones.
    void setPins(const std::vector<PinnedLease> &pins);

Q_SIGNALS:
    void activated(const tenure::ui::FleetKey &key);
    void restAsked(); ///< "and 7 more"

private:
    const Theme &m_theme;
    static constexpr std::size_t kMostPins = 4;
    std::vector<PinnedRow *> m_rows; ///< abnormal ones, then pins
    std::vector<std::pair<QString, std::string>> m_pins;
    QAbstractButton *m_more;
};

} // namespace tenure::ui
