// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/work_queue.h"
#include "core/sim/world.h"

#include <QWidget>

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
    [[nodiscard]] QSize sizeHint() const override;
    /// Narrower than that it only has more rows: three variants must fit side by side.
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    [[nodiscard]] QString storyOf(std::size_t item) const;
    [[nodiscard]] int columns() const;
    [[nodiscard]] int pitch() const;
    void fit(); ///< as high as its rows

    const Theme &m_theme;
    std::vector<sim::WorkItem> m_items;
    std::vector<QString> m_names;
    QString m_story;
};

} // namespace tenure::ui
