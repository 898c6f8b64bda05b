// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QTreeWidget>

namespace tenure::ui
{

class Theme;

/// The groups of the table with how many leases and how many abnormal ones are in each; a click leads
/// to the first row of the group.
class GroupPanel final : public QTreeWidget
{
    Q_OBJECT
public:
    GroupPanel(const Theme &theme, QWidget *parent);
    void setGroups(const std::vector<FleetModel::Group> &groups);

Q_SIGNALS:
    void groupPicked(int firstRow);

private:
    const Theme &m_theme;
    std::vector<FleetModel::Group> m_groups;
};

} // namespace tenure::ui
