// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"

#include <QDialog>

class QButtonGroup;
class QLineEdit;

namespace tenure::ui
{

/// Asks for how long and why something is put aside: at most eight hours, never without a reason.
class ShelveDialog final : public QDialog
{
    Q_OBJECT
public:
    ShelveDialog(const QString &what, QWidget *parent);
    [[nodiscard]] Duration duration() const;
    [[nodiscard]] QString reason() const;

private:
    QButtonGroup *m_durations;
    QLineEdit *m_reason;
};

} // namespace tenure::ui
