// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/charts/ticking.h"

#include <QString>

#include <map>
#include <vector>

namespace tenure::ui
{

/// Changes of leadership of all leases over the last hour, a row a connection, newest at the right.
class DensityStrip final : public Ticking
{
    Q_OBJECT
public:
    DensityStrip(const Theme &theme, const Clock &clock, QWidget *parent);
    /// Replaces what is shown of one connection. `since`: when it was first looked at; before that the
    /// row is dotted, not empty.
    void setConnection(const QString &id, const QString &name, std::vector<Instant> times, Instant since);
    void removeConnection(const QString &id);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    [[nodiscard]] Milliseconds tickEvery() const override { return std::chrono::seconds(5); }

private:
    struct Row {
        QString name;
        std::vector<Instant> times;
        Instant since;
    };
    void paintRow(QPainter &painter, const Row &row, const QRectF &box) const;
    std::map<QString, Row> m_rows;
};

} // namespace tenure::ui
