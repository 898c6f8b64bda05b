// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/spoken.h"
#include "ui/models/fleet_model.h"

#include <QAbstractScrollArea>

#include <optional>

namespace tenure::ui
{

class Theme;

/// All leases as tiles, a block for each connection. A lease keeps its place for as long as the
/// console runs, so that one learns where it is; what the filter hides is only dimmed. State shows by
/// a notch or a texture besides its colour. Arrow keys walk, Enter opens; the table offers the same
/// to whom tiles are too small. Borrows theme and model.
class TileWall final : public QAbstractScrollArea, public Spoken
{
    Q_OBJECT
public:
    TileWall(const Theme &theme, FleetModel &model, QWidget *parent);
    /// Distance of two tiles, 10, 14 or 20 device independent pixels.
    void setPitch(int pixels);
    [[nodiscard]] int pitch() const { return m_pitch; }
    [[nodiscard]] std::optional<FleetKey> current() const { return m_current; }
    void setCurrent(const FleetKey &key);
    /// One sentence about the tile in focus; empty: none.
    [[nodiscard]] QString sentence() const;
    /// Where a lease's tile is now, in the viewport; empty when it has none.
    [[nodiscard]] QRect tileRect(const FleetKey &key) const;

    [[nodiscard]] QString spokenValue() const override { return sentence(); }
    [[nodiscard]] QAccessible::Role spokenRole() const override { return QAccessible::Table; }

Q_SIGNALS:
    void currentChanged();
    void activated(const tenure::ui::FleetKey &key);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    struct Block {
        QString title;
        LinkState link = LinkState::Connecting;
        Surroundings where = Surroundings::Development;
        QString connectionId;
        int top = 0, height = 0; ///< in the content
        std::size_t index = 0; ///< of the model's block
        std::vector<std::uint32_t> tiles; ///< the model's slot by place; kNowhere: nothing there
        std::size_t count = 0;
    };
    [[nodiscard]] const FleetRow *rowOf(const Block &block, std::size_t place) const;
    void reload();
    void arrange();
    [[nodiscard]] int labelWidth() const;
    [[nodiscard]] int columns() const;
    [[nodiscard]] QRect rectOf(const Block &block, std::size_t place) const;
    [[nodiscard]] const FleetRow *at(const QPoint &position, const Block **block) const;
    void paintBlock(QPainter &painter, const Block &block, const QRect &exposed) const;
    void paintTile(QPainter &painter, const QRect &box, const FleetRow &row, LinkState link) const;
    void walk(int places, int rows);
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> placeOf(const FleetKey &key) const;

    const Theme &m_theme;
    FleetModel &m_model;
    int m_pitch = 14;
    std::vector<Block> m_blocks;
    std::optional<FleetKey> m_current;
};

} // namespace tenure::ui
