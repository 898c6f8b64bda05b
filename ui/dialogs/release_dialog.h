// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QDialog>
#include <QPointer>
#include <QTimer>

#include <array>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;
class QSpinBox;
class QStackedWidget;
class QVBoxLayout;

namespace tenure::ui
{

/// The only page that ends somebody's leadership: Why, Check, Outcome (UX.md section 9). It follows
/// the lease while it is open; any change of holder, token or version takes back what was typed and
/// says so. Writes only through Session::release, for the very term that is shown. Not modal to other
/// windows; closes itself when the session goes.
class ReleaseDialog final : public QDialog
{
    Q_OBJECT
public:
    enum Step { Why, Check, Outcome };
    ReleaseDialog(Session &session, LeaseId lease, QWidget *parent = nullptr);

    [[nodiscard]] Step step() const;
    void goTo(Step step);
    void reject() override; ///< ignored while an outcome is still open; "Stop watching" ends it

private:
    QWidget *buildHead();
    QWidget *buildWhy();
    QWidget *buildWays(QVBoxLayout *into);
    QWidget *buildCheck();
    QWidget *buildOutcome();
    QWidget *buildButtons();
    void connectSession();
    void follow(); ///< takes in what the session knows now
    void showForecast(const LeaseStatus &status, Instant now);
    void showButtons();
    void startRelease();
    void onProgress(const ReleaseReport &report);
    void onDryRun(const ReleaseReport &report);
    [[nodiscard]] OperatorVerb verb() const;
    [[nodiscard]] ReleasePlan plan() const;
    [[nodiscard]] bool needsTyping() const;
    [[nodiscard]] QString blockedBecause() const;

    QPointer<Session> m_session;
    LeaseId m_lease;
    Seen m_seen; ///< what is on the screen and what the release is conditional on
    std::string m_kind = "tenure";
    std::optional<ReleasePlan> m_sent;
    bool m_final = false;
    QString m_forecastSays; ///< why the chosen way is not possible
    QTimer m_tick;

    QLabel *m_title = nullptr;
    QLabel *m_evidence = nullptr;
    QLabel *m_changed = nullptr;
    QStackedWidget *m_pages = nullptr;
    QComboBox *m_category = nullptr;
    QLineEdit *m_reason = nullptr;
    std::array<QRadioButton *, 3> m_ways{};
    QSpinBox *m_holdSeconds = nullptr;
    QLabel *m_forecast = nullptr;
    QLabel *m_condition = nullptr;
    QLabel *m_dryRun = nullptr;
    QPushButton *m_dryRunButton = nullptr;
    QLineEdit *m_command = nullptr;
    QLabel *m_typePrompt = nullptr;
    QLineEdit *m_typed = nullptr;
    QLabel *m_outcome = nullptr;
    QLabel *m_outcomeDetail = nullptr;
    QLabel *m_blocked = nullptr;
    QPushButton *m_operator = nullptr;
    QPushButton *m_forAdmin = nullptr;
    QPushButton *m_cancel = nullptr;
    QPushButton *m_back = nullptr;
    QPushButton *m_next = nullptr;
    QPushButton *m_release = nullptr;
};

} // namespace tenure::ui
