// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QTimer>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace tenure::ui
{

class BeliefStrip;
class Theme;

/// Simulated instances of one connection: what each believes beside what the backend says, faults
/// that end by themselves, and the last minute as lanes. On the demo world everything is framed as
/// SIM; on a real backend starting candidates needs operator mode. Borrows theme, clock and session.
class LabView final : public QWidget
{
    Q_OBJECT
public:
    LabView(const Theme &theme, const Clock &clock, Session &session, QWidget *parent = nullptr);

    void spawn();
    void clearFaults();

protected:
    void paintEvent(QPaintEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    using Act = void (LabView::*)(LocalInstances &, std::uint64_t);
    QWidget *buildHead();
    QWidget *buildSpawn();
    QWidget *buildTable();
    QWidget *buildActions();
    QPushButton *actionButton(const QString &text, const QString &tip, Act act);
    void pauseOne(LocalInstances &all, std::uint64_t id);
    void cutOne(LocalInstances &all, std::uint64_t id);
    void liftOne(LocalInstances &all, std::uint64_t id);
    void crashOne(LocalInstances &all, std::uint64_t id) { all.crash(id); }
    void restartOne(LocalInstances &all, std::uint64_t id) { all.restart(id); }
    void handOverOne(LocalInstances &all, std::uint64_t id) { all.handOver(id); }
    void stopOne(LocalInstances &all, std::uint64_t id) { all.stop(id); }
    void removeOne(LocalInstances &all, std::uint64_t id) { all.remove(id); }
    void refresh();
    void showRow(int row, const InstanceView &view, Instant now, bool fresh);
    void showFaults(const std::vector<InstanceView> &views, Instant now);
    void showPermission();
    [[nodiscard]] std::vector<std::uint64_t> selected() const;
    [[nodiscard]] bool mayWrite() const;
    void say(const QString &problem);

    const Theme &m_theme;
    const Clock &m_clock;
    Session &m_session;
    QTimer m_timer;
    QLineEdit *m_lease = nullptr;
    QSpinBox *m_count = nullptr;
    QDoubleSpinBox *m_ttl = nullptr;
    QCheckBox *m_insist = nullptr;
    QComboBox *m_as = nullptr;
    QPushButton *m_spawn = nullptr;
    QLabel *m_problem = nullptr;
    QLabel *m_faults = nullptr;
    QPushButton *m_clear = nullptr;
    QTableWidget *m_table = nullptr;
    QSpinBox *m_faultSeconds = nullptr;
    std::vector<QPushButton *> m_actions;
    BeliefStrip *m_strip = nullptr;
};

} // namespace tenure::ui
