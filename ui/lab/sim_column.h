// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/player.h"
#include "core/sim/scenario.h"

#include <QWidget>

class QLabel;
class QTableWidget;

namespace tenure::ui
{

class SimLanes;
class Theme;
class WorkGrid;

/// One variant of a scenario: its instances with belief beside truth, its lanes, its work and its
/// scorecard, raw numbers first. Shows what it is given; owns the player.
class SimColumn final : public QWidget
{
    Q_OBJECT
public:
    SimColumn(const Theme &theme, const sim::Setup &setup, std::uint64_t seed, QWidget *parent = nullptr);
    [[nodiscard]] sim::Player &player() { return m_player; }
    /// Shows the player's world as it is now.
    void refresh();

Q_SIGNALS:
    void momentChosen(tenure::Duration at);

private:
    void showStore();
    void showInstances();
    void showScore();

    const Theme &m_theme;
    sim::Player m_player;
    QLabel *m_store = nullptr;
    QTableWidget *m_table = nullptr;
    SimLanes *m_lanes = nullptr;
    WorkGrid *m_work = nullptr;
    QLabel *m_story = nullptr;
    QLabel *m_score = nullptr;
    QLabel *m_verdict = nullptr;
};

} // namespace tenure::ui
