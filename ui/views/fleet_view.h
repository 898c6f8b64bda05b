// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/identity.h"
#include "ui/models/fleet_model.h"

#include <QWidget>

#include <optional>

class QLabel;
class QLineEdit;
class QStackedWidget;

namespace tenure::ui
{

class ChipBar;
class FleetBar;
class FleetTable;
class GroupPanel;
class PinnedBand;
class SettingsStore;
class Theme;
class TileWall;
struct SavedView;

/// All leases of all connections: summary chips, filter line, pinned band of what is abnormal, table
/// or tiles, in groups if one likes (UX.md section 4). Sources are borrowed and must be removed (or destroyed) before they go.
class FleetView final : public QWidget
{
    Q_OBJECT
public:
    FleetView(const Theme &theme, const Clock &clock, QWidget *parent);

    void addSource(LeaseSource *source);
    void removeSource(LeaseSource *source);
    [[nodiscard]] FleetModel &model() { return *m_model; }
    void setFilter(const QString &filter);
    void focusFilter();
    /// Where saved views and pins are kept (borrowed); without it there are none.
    void setStore(SettingsStore &store);
    void setTiles(bool tiles);
    void setGroup(FleetGroup group);
    [[nodiscard]] TileWall &tileWall() { return *m_tiles; }
    [[nodiscard]] std::optional<FleetKey> current() const;
    void askExport(); ///< opens the menu of formats
    void showView(const SavedView &view);
    /// What is looked at now, under that name.
    [[nodiscard]] SavedView view(const QString &name) const;

Q_SIGNALS:
    void leaseActivated(const QString &connectionId, const tenure::LeaseId &lease);
    void addConnectionRequested();
    void openSimulationRequested();
    void problem(const QString &sentence);
    void told(const QString &sentence); ///< something went well

private:
    QWidget *makeEmptyPage();
    QWidget *makeHiddenPage();
    QWidget *makeTablePage();
    QWidget *makeTilePage();
    void makeBar();
    void makeActions();
    void exportTo(int format, const QString &path);
    void askFile(int format);
    void askViewName();
    void showTile();
    void copyCommand();
    void togglePin();
    [[nodiscard]] QImage picture();
    void applyFilter();
    void updateSummary();
    void copyName();
    void activate(const FleetKey &key);

    const Theme &m_theme;
    FleetModel *m_model;
    ChipBar *m_chips;
    QLineEdit *m_filter;
    QLabel *m_filterError;
    PinnedBand *m_pinned;
    QStackedWidget *m_pages;
    FleetTable *m_table;
    QLabel *m_hiddenText = nullptr;
    QLabel *m_emptyText = nullptr;
    FleetBar *m_bar;
    GroupPanel *m_groups = nullptr;
    TileWall *m_tiles;
    QLabel *m_tileText = nullptr;
    SettingsStore *m_store = nullptr;
};

} // namespace tenure::ui
