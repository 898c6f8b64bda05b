// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/work_grid.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace tenure::ui
{

WorkGrid::WorkGrid(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Items of work"));
}

void WorkGrid::show(const sim::World &world)
{
    const std::size_t before = m_items.size();
    m_items = world.queue().items();
    m_names.clear();
    for (const std::string &name : world.names())
        m_names.push_back(shown(name));
    m_story.clear();
    for (std::size_t i = 0; i < m_items.size() && m_story.isEmpty(); ++i) {
        if (m_items[i].effects.size() > 1)
            m_story = storyOf(i);
    }
    setVisible(!m_items.empty());
    if (m_items.size() != before)
        updateGeometry();
    update();
}

QString WorkGrid::storyOf(std::size_t item) const
{
    const sim::WorkItem &one = m_items[item];
    QStringList effects;
    for (const auto &[by, token] : one.effects)
        effects += token ? tr("%1 with token %2").arg(m_names[static_cast<std::size_t>(by)]).arg(token.value) : m_names[static_cast<std::size_t>(by)];
    if (effects.isEmpty())
        return one.state == sim::WorkItem::State::Processing ? tr("item %1: being worked on").arg(item + 1) : tr("item %1: open").arg(item + 1);
    return tr("item %1: done by %2").arg(item + 1).arg(effects.join(tr(", then by ")));
}

/// As large as lets all of them stand in a few rows.
int WorkGrid::pitch(int width) const
{
    constexpr int kRows = 6;
    const int least = m_theme.unit() * 7 / 2;
    const int most = m_theme.unit() * 6;
    const int items = static_cast<int>(m_items.size());
    for (int pitch = most; pitch > least; --pitch) {
        if (items <= std::max(1, width / pitch) * kRows)
            return pitch;
    }
    return least;
}

int WorkGrid::heightForWidth(int width) const
{
    const int rows = (static_cast<int>(m_items.size()) + columns(width) - 1) / columns(width);
    return std::clamp(rows, 1, 12) * pitch(width);
}

/// Narrow it only has more rows: three variants must fit side by side.
QSize WorkGrid::minimumSizeHint() const
{
    return {m_theme.unit() * 60, m_theme.unit() * 4};
}

void WorkGrid::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const int side = pitch(width());
    const int across = columns(width());
    QFont number = font();
    number.setPixelSize(std::max(6, side - 5));
    painter.setFont(number);
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        const int at = static_cast<int>(i);
        const QRect tile(at % across * side, at / across * side, side - 2, side - 2);
        const sim::WorkItem &item = m_items[i];
        if (item.effects.size() > 1) {
            painter.fillRect(tile, m_theme.color(Token::CritChip));
            painter.setPen(m_theme.color(Token::OnCritChip));
            painter.drawText(tile, Qt::AlignCenter, QString::number(item.effects.size()));
        } else if (!item.effects.empty()) {
            painter.fillRect(tile, m_theme.color(Token::Bar));
        } else {
            painter.setPen(m_theme.color(item.state == sim::WorkItem::State::Processing ? Token::Text : Token::Hairline));
            painter.drawRect(tile.adjusted(0, 0, -1, -1));
        }
    }
}

bool WorkGrid::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const auto item = static_cast<std::size_t>(help->pos().y() / pitch(width()) * columns(width()) + help->pos().x() / pitch(width()));
    if (item < m_items.size())
        QToolTip::showText(help->globalPos(), storyOf(item), this);
    else
        QToolTip::hideText();
    return true;
}

} // namespace tenure::ui
