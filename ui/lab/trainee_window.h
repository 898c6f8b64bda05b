// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/setup.h"

#include <QElapsedTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QTableWidget;
class QVBoxLayout;

namespace tenure::ui
{

class CardPanel;
class SimLab;
class SimLanes;
class Theme;

/// The second window of a lesson, for who learns: the store as a console shows it and what it told, but
/// neither what the instances believe nor which fault is at work. It asks the trainer's cards, has a
/// few hints, and offers what an operator may do; everything done befalls the trainer's run. As plainly
/// marked as simulated as the lab itself. A child of the lab: it closes with it.
class TraineeWindow final : public QWidget
{
    Q_OBJECT
public:
    TraineeWindow(const Theme &theme, SimLab &lab);
    void ask(const sim::Card &card);
    void setRevealed(bool revealed); ///< the truth lanes stand below
    /// Shows the run as it is now.
    void refresh();
    /// Another run: nothing was asked or done yet.
    void forget();
    [[nodiscard]] QString resultText() const; ///< "2 of 3 cards right, 4.1 s each · actions 1 · hints 0"

Q_SIGNALS:
    void answered(); ///< resultText() says how
    void goOn();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *buildHead();
    QWidget *buildView();
    QWidget *buildActions();
    void showLease();
    void showEvents();
    void act(const QString &line, const QString &told);
    void hint();
    void noteAnswer(const QString &choice, bool right);

    const Theme &m_theme;
    SimLab &m_lab;
    CardPanel *m_card = nullptr;
    QLabel *m_title = nullptr, *m_state = nullptr, *m_lease = nullptr, *m_age = nullptr, *m_hintText = nullptr;
    QTableWidget *m_events = nullptr;
    QVBoxLayout *m_answers = nullptr;
    SimLanes *m_lanes = nullptr;
    QComboBox *m_who = nullptr;
    QPushButton *m_hint = nullptr;
    QString m_question; ///< of the card that is asked
    QElapsedTimer m_asked;
    qint64 m_answerMs = 0; ///< of all answers together
    int m_actions = 0, m_hints = 0;
};

} // namespace tenure::ui
