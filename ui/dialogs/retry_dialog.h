// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/operator_gate.h"

#include <QDialog>
#include <QPointer>

class QLabel;
class QLineEdit;
class QPushButton;

namespace tenure::ui
{

class Session;
struct RetryReport;

/// Asks why dead letters shall be tried again, has the session's gate do it, and tells what came of it.
/// Sends nothing while the connection is read-only. Closes itself when the session goes.
class RetryDialog final : public QDialog
{
    Q_OBJECT
public:
    /// `plan` without a reason; `session` is borrowed.
    RetryDialog(Session &session, RetryPlan plan, std::uint64_t howMany, QWidget *parent);

private:
    void build(std::uint64_t howMany);
    void follow();
    void send();
    void onDone(const RetryReport &report);
    [[nodiscard]] QString blockedBecause() const;

    QPointer<Session> m_session;
    RetryPlan m_plan;
    enum class Step { Asking, Sent, Over } m_step = Step::Asking;
    QLineEdit *m_reason = nullptr;
    QLabel *m_blocked = nullptr;
    QLabel *m_outcome = nullptr;
    QPushButton *m_operator = nullptr;
    QPushButton *m_retry = nullptr;
    QPushButton *m_cancel = nullptr;
};

} // namespace tenure::ui
