// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/console/connections.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

namespace tenure::ui
{

class Theme;

/// The list of connections by environment: state with age, the error and the next try, and what one
/// can do with each. Borrows `connections` and `theme`.
class ConnectionsDock final : public QWidget
{
    Q_OBJECT
public:
    ConnectionsDock(const Theme &theme, Connections &connections, QWidget *parent = nullptr);
    /// Of the selected row, or empty.
    [[nodiscard]] QString currentId() const;
    void select(const QString &id);

Q_SIGNALS:
    void addRequested();
    void editRequested(const QString &id);
    void passwordRequested(const QString &id);
    void currentChanged(const QString &id);

private:
    void rebuild();
    void refresh();
    void showState(QTreeWidgetItem *item, const ConnectionProfile &profile);
    void showMenu(const QPoint &where);
    void toggle(const QString &id);

    const Theme &m_theme;
    Connections &m_connections;
    QTreeWidget *m_tree = nullptr;
    QLabel *m_details = nullptr;
    QTimer m_timer;
};

} // namespace tenure::ui
