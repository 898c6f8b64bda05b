// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_aside.h"

#include <QWidget>

#include <array>
#include <vector>

class QGridLayout;
class QLabel;

namespace tenure::ui
{

class Card;
class Theme;

/// Says which rights are missing for a release, and copies what an administrator needs to give them.
/// Hides itself while none are missing.
class RightsLine final : public QWidget
{
    Q_OBJECT
public:
    RightsLine(const Theme &theme, QWidget *parent);
    void set(const MissingRights &missing);

Q_SIGNALS:
    void told(const QString &sentence);

private:
    QLabel *m_text;
    QString m_forAdmin;
};

/// What the backend itself wrote down about a lease, newest first. Hides itself when there is nothing.
class BackendEvents final : public QWidget
{
    Q_OBJECT
public:
    BackendEvents(const Theme &theme, QWidget *parent);
    void set(const LeaseAside &aside, WallTime now);

private:
    const Theme &m_theme;
    Card *m_card;
    QLabel *m_why; ///< there are none to be seen
    QGridLayout *m_grid;
    std::vector<std::array<QLabel *, 3>> m_lines;
    LeaseAside m_shown;
};

} // namespace tenure::ui
