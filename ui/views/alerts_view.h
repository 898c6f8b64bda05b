// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/alerts_model.h"

#include <QWidget>

#include <set>

class QHBoxLayout;
class QLabel;
class QListView;
class QPushButton;
class QTreeWidget;

namespace tenure::ui
{

class Theme;

/// The alerts with what to do about each: acknowledge, shelve for a reason, open the lease; and what is
/// shelved now, until when and why.
class AlertsView final : public QWidget
{
    Q_OBJECT
public:
    AlertsView(const Theme &theme, const Clock &clock, QWidget *parent);
    void addSource(LeaseSource *source) { m_model->addSource(source); }
    void removeSource(LeaseSource *source) { m_model->removeSource(source); }
    [[nodiscard]] AlertsModel &model() { return *m_model; }

Q_SIGNALS:
    void leaseActivated(const QString &connectionId, const tenure::LeaseId &lease);
    void rulesAsked();
    void historyAsked();
    void shelfEnds(const QString &sentence); ///< once for each shelving, some minutes before

private:
    [[nodiscard]] QHBoxLayout *makeButtons();
    void makeShelves();
    void connectParts();
    void updateButtons();
    [[nodiscard]] const AlertsModel::Entry *current() const;
    void open();
    void shelve();
    void showShelves();
    void remind();

    const Theme &m_theme;
    AlertsModel *m_model;
    QLabel *m_counts;
    QListView *m_list;
    QLabel *m_action;
    QTreeWidget *m_shelves;
    std::set<std::pair<QString, std::uint64_t>> m_reminded; ///< connection and shelf
    QPushButton *m_ack, *m_shelve, *m_open;
};

} // namespace tenure::ui
