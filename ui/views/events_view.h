// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/events_model.h"

#include <QWidget>

class QTableView;

namespace tenure::ui
{

class Theme;

/// The list of leadership changes, newest first. Sources are borrowed.
class EventsView final : public QWidget
{
    Q_OBJECT
public:
    /// `only`: just this lease, without the columns that would repeat it.
    EventsView(const Theme &theme, const Clock &clock, std::optional<LeaseId> only, QWidget *parent);
    void addSource(LeaseSource *source) { m_model->addSource(source); }
    void removeSource(LeaseSource *source) { m_model->removeSource(source); }
    [[nodiscard]] EventsModel &model() { return *m_model; }

Q_SIGNALS:
    void leaseActivated(const QString &connectionId, const tenure::LeaseId &lease);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void fit();
    const Theme &m_theme;
    EventsModel *m_model;
    QTableView *m_table;
};

} // namespace tenure::ui
