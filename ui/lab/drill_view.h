// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/drill_runner.h"
#include "ui/bridge/session.h"

#include <QPointer>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace tenure::ui
{

class GapBars;
class Theme;

/// Failover drills on a lease of one connection: what is about to be done, what was looked at before,
/// each round as it is measured, the verdict, and the report. Needs operator mode; a lease outside
/// drill/ needs a tick and, on a real backend, its name typed. Borrows theme and session.
class DrillView final : public QWidget
{
    Q_OBJECT
public:
    DrillView(const Theme &theme, Session &session, QWidget *parent = nullptr);
    ~DrillView() override; ///< aborts what runs

    void setLease(const LeaseId &lease);
    void check();
    void begin();
    void abort();
    [[nodiscard]] bool isRunning() const { return m_runner && m_runner->isRunning(); }
    [[nodiscard]] const std::optional<DrillReport> &report() const { return m_report; }
    /// Markdown, or HTML when the name ends so. Empty: the report is written; else why not.
    void saveReport(const QString &path);

Q_SIGNALS:
    void problem(const QString &sentence);
    void told(const QString &sentence);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *buildForm();
    QWidget *buildButtons();
    QWidget *buildResult();
    void askWhere();
    [[nodiscard]] std::optional<DrillRunner::Request> request();
    [[nodiscard]] QString whyNot() const; ///< why a drill may not begin now; empty: it may
    [[nodiscard]] bool isOutside(const QString &name) const; ///< no lease that drills use without insisting
    void mark(const std::optional<LeaseId> &lease);
    void showAct();
    void showPermission();
    void showChecks(const std::vector<DrillCheck> &checks);
    void showRound(const DrillRound &round);
    void showEnd(const DrillReport &report);

    const Theme &m_theme;
    Session &m_session;
    const QPointer<Session> m_alive; ///< a closed connection may be gone before its page
    DrillRunner *m_runner = nullptr; ///< null without a backend
    std::optional<DrillReport> m_report;
    std::optional<LeaseId> m_drilled; ///< marked in the session
    QLineEdit *m_lease = nullptr, *m_reason = nullptr, *m_typed = nullptr;
    QComboBox *m_act = nullptr, *m_as = nullptr;
    QLabel *m_actNote = nullptr, *m_holdName = nullptr, *m_typedName = nullptr, *m_why = nullptr, *m_verdict = nullptr;
    QSpinBox *m_times = nullptr, *m_own = nullptr;
    QDoubleSpinBox *m_limit = nullptr, *m_hold = nullptr, *m_ttl = nullptr;
    QCheckBox *m_insist = nullptr;
    QPushButton *m_check = nullptr, *m_begin = nullptr, *m_abort = nullptr, *m_save = nullptr;
    QVBoxLayout *m_checks = nullptr;
    GapBars *m_bars = nullptr;
};

} // namespace tenure::ui
