// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/work_queue.h"
#include "core/sim/world.h"

#include <QWidget>

#include <algorithm>

namespace tenure::ui
{

class Theme;

/// The items of a simulated queue as tiles: open, being worked on, done once, done twice (red, with the
/// number of times). Hovering tells an item's story: "item 44: A with token 7 after B with token 8".
class WorkGrid final : public QWidget
{
    Q_OBJECT
public:
    WorkGrid(const Theme &theme, QWidget *parent = nullptr);
    void show(const sim::World &world);
    /// The story of the first item that was done twice; empty when none was.
    [[nodiscard]] QString story() const { return m_story; }
    [[nodiscard]] QSize sizeHint() const override { return {pitch(width()) * 30, heightForWidth(width())}; }
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override; ///< as high as its rows

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] QString storyOf(std::size_t item) const;
    [[nodiscard]] int pitch(int width) const; ///< of the tiles, so wide a grid
    [[nodiscard]] int columns(int width) const { return std::max(1, width / pitch(width)); }

    const Theme &m_theme;
    std::vector<sim::WorkItem> m_items;
    std::vector<QString> m_names;
    QString m_story;
};

} // namespace tenure::ui
