// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lease/identity.h"
#include "ui/models/fleet_model.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace tenure::ui
{

class ChipBar;
class FleetTable;
class PinnedBand;
class Theme;

/// All leases of all connections: summary chips, filter line, pinned band of what is abnormal, table
/// (UX.md section 4). Sources are borrowed and must be removed (or destroyed) before they go.
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

Q_SIGNALS:
    void leaseActivated(const QString &connectionId, const tenure::LeaseId &lease);
    void addConnectionRequested();
    void openSimulationRequested();

private:
    QWidget *makeEmptyPage();
    QWidget *makeHiddenPage();
    QWidget *makeStatusBar();
    void makeActions();
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
    QLabel *m_shown = nullptr;
    QLabel *m_moves = nullptr;
    QPushButton *m_resort = nullptr;
};

} // namespace tenure::ui
