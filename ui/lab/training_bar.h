// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/lab/trainee_window.h"

#include <QPointer>
#include <QWidget>

#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;

namespace tenure::ui
{

class SimLab;
class Theme;

/// What a trainer has beside the lab itself: the trainee's window, the next card at any moment, bookmarks
/// to come back to, and how the trainee fares. Hidden while there is none. Belongs to its lab.
class TrainingBar final : public QWidget
{
    Q_OBJECT
public:
    TrainingBar(const Theme &theme, SimLab &lab);
    void openTrainee();
    [[nodiscard]] TraineeWindow *trainee() const { return m_trainee; } ///< null: no lesson is on
    /// True: the trainee was asked. False: there is none.
    bool ask(const sim::Card &card);
    void refresh();
    void forget(); ///< another scenario or seed

private:
    void nextCard();
    void showState();

    const Theme &m_theme;
    SimLab &m_lab;
    QPointer<TraineeWindow> m_trainee;
    std::size_t m_asked = 0; ///< cards of the scenario
    std::vector<Duration> m_bookmarks;
    QPushButton *m_next = nullptr;
    QComboBox *m_marks = nullptr;
    QCheckBox *m_reveal = nullptr;
    QLabel *m_result = nullptr;
};

} // namespace tenure::ui
