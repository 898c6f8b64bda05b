// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/fleet_model.h"

#include <QWidget>

class QButtonGroup;
class QComboBox;
class QLabel;
class QPushButton;

namespace tenure::ui
{

class SettingsStore;
class Theme;

/// The line under the fleet: grouping, table or tiles, saved views, how many are shown, export, and
/// how many rows a new sort would move.
class FleetBar final : public QWidget
{
    Q_OBJECT
public:
    enum class Format { Csv, Json, Png };
    FleetBar(const Theme &theme, QWidget *parent);
    /// Offers the saved views of `store` (borrowed).
    void setStore(SettingsStore *store);
    void setCounts(const QString &shown, std::size_t wouldMove);
    void setGroup(FleetGroup group);
    void setTiles(bool tiles);
    void setPitch(int pixels);
    [[nodiscard]] FleetGroup group() const;
    [[nodiscard]] bool tiles() const;
    void popupExport();

Q_SIGNALS:
    void groupPicked(tenure::ui::FleetGroup group);
    void tilesPicked(bool tiles);
    void pitchPicked(int pixels);
    void viewPicked(const QString &name);
    void saveViewAsked();
    void removeViewAsked(const QString &name);
    void exportAsked(tenure::ui::FleetBar::Format format);
    void resortAsked();

private:
    QPushButton *segment(QButtonGroup *group, const QString &text, int id, const QString &name);
    void fillViews();

    const Theme &m_theme;
    SettingsStore *m_store = nullptr;
    QComboBox *m_group;
    QButtonGroup *m_view, *m_sizes;
    QWidget *m_sizeBox;
    QPushButton *m_views, *m_export, *m_resort;
    QLabel *m_shown, *m_moves;
};

} // namespace tenure::ui
