// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/scenario.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSlider;
class QSpinBox;
class QVBoxLayout;

namespace tenure::ui
{

class CardPanel;
class SimColumn;
class Theme;
class TrainingBar;

/// The simulation lab: a scenario with its variants side by side in one virtual time, played forwards
/// and back, with faults by hand that befall all variants alike. Nothing here is real: a frame in the
/// colour of SIM and the word stand around everything.
class SimLab final : public QWidget
{
    Q_OBJECT
public:
    explicit SimLab(const Theme &theme, QWidget *parent = nullptr);
    ~SimLab() override;

    void open(sim::Scenario scenario, std::uint64_t seed);
    void openNamed(const QString &name); ///< from the catalogue
    void play();
    void pause();
    void seek(Duration to);
    void stepForward();
    void stepBack();
    void fork(); ///< forgets what was done by hand after now
    void clearFaults();
    /// One line of a script, done now in every variant. Says what is wrong with it.
    void perform(const QString &line);
    [[nodiscard]] Duration now() const;
    [[nodiscard]] const sim::Scenario &scenario() const { return m_scenario; }
    [[nodiscard]] const std::vector<SimColumn *> &columns() const { return m_columns; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QWidget *buildHead();
    QWidget *buildTransport();
    QWidget *buildPalette();
    void askCards(Duration from, Duration to);
    void addFault(QVBoxLayout *box, const QString &text, const QString &line, const QString &tip);
    void advance();
    void refresh();
    void showFaults();
    void rebuild();
    [[nodiscard]] double speed() const;

    const Theme &m_theme;
    sim::Scenario m_scenario;
    std::uint64_t m_seed = 1;
    std::vector<SimColumn *> m_columns;
    QTimer m_timer;
    QElapsedTimer m_elapsed;
    QComboBox *m_choice = nullptr;
    QSpinBox *m_seedBox = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_teach = nullptr;
    CardPanel *m_card = nullptr;
    TrainingBar *m_training = nullptr;
    QPushButton *m_play = nullptr;
    QPushButton *m_fork = nullptr;
    QSlider *m_speed = nullptr;
    QLabel *m_speedWord = nullptr;
    QLabel *m_time = nullptr;
    QSlider *m_scrub = nullptr;
    QComboBox *m_target = nullptr;
    QSpinBox *m_seconds = nullptr;
    QVBoxLayout *m_active = nullptr;
    QString m_activeShown; ///< which faults have a row
    QPushButton *m_clear = nullptr;
    QLineEdit *m_script = nullptr;
    QLabel *m_problem = nullptr;
    QHBoxLayout *m_place = nullptr;
};

} // namespace tenure::ui
