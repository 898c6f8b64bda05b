// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QWidget>

#include <vector>

class QTableWidget;

namespace tenure::ui
{

/// What operators did through this console, newest first: when, who, what, on which term, what came
/// of it. An intent without an outcome says so.
class AuditView final : public QWidget
{
    Q_OBJECT
public:
    explicit AuditView(QWidget *parent = nullptr);
    /// Shows the entries of these sessions (borrowed for the call).
    void showAudit(const std::vector<Session *> &sessions);

private:
    QTableWidget *m_table;
};

} // namespace tenure::ui
