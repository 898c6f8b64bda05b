// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QTableView>
#include <QTimer>

#include <optional>

namespace tenure::ui
{

class Theme;

/// The table of the fleet: keeps the selection by identity, tells the model when it must be calm, and
/// repaints what ages: visible countdowns under 10 s four times a second, all else once a second.
class FleetTable final : public QTableView
{
    Q_OBJECT
public:
    FleetTable(const Theme &theme, FleetModel &model, QWidget *parent);
    [[nodiscard]] std::optional<FleetKey> current() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void fitColumns();
    void updateCalm();
    void repaintAging();

    const Theme &m_theme;
    FleetModel &m_model;
    QTimer m_timer;
    int m_quarter = 0;
    std::optional<FleetKey> m_kept; ///< the selection over a reset
    bool m_pointerInside = false;
};

} // namespace tenure::ui
