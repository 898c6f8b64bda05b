// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/log_model.h"

#include <QWidget>

class QTableView;

namespace tenure::ui
{

class Theme;

/// The console's own log: a level to filter by, copy of what is selected, diagnostics as a file.
class LogView final : public QWidget
{
    Q_OBJECT
public:
    LogView(const Theme &theme, const Clock &clock, QWidget *parent);
    [[nodiscard]] LogModel &model() { return *m_model; }

Q_SIGNALS:
    void diagnosticsAsked();

private:
    void copy();
    void fit();

    const Theme &m_theme;
    LogModel *m_model;
    QTableView *m_table;
};

} // namespace tenure::ui
