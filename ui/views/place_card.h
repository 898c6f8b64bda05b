// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/lease_cards.h"

#include <vector>

class QGridLayout;

namespace tenure::ui
{

/// Where a lease lies in its backend, as only that knows it: the session that holds a lock and who
/// waits for it, a table, a key. Hides itself when there is nothing to tell.
class PlaceCard final : public QWidget
{
    Q_OBJECT
public:
    PlaceCard(const Theme &theme, QWidget *parent);
    void setLease(const LeaseStatus &status, const ConnectionInfo &connection);

private:
    struct Line {
        QLabel *name;
        QLabel *value;
    };

    const Theme &m_theme;
    Card *m_card;
    QGridLayout *m_grid;
    std::vector<Line> m_lines;
    std::vector<RecordFact> m_shown;
};

/// The facts of a record, and for our own rows in PostgreSQL the table that they lie in.
[[nodiscard]] std::vector<RecordFact> placeOf(const LeaseStatus &status, const ConnectionInfo &connection);

} // namespace tenure::ui
