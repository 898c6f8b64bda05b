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
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(false);
    setSizePolicy(policy);
    setAccessibleName(tr("Items of work"));
}

void WorkGrid::show(const sim::World &world)
{
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
    fit();
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
int WorkGrid::pitch() const
{
    constexpr int kRows = 6;
    const int least = m_theme.unit() * 7 / 2;
    const int most = m_theme.unit() * 6;
    const int items = static_cast<int>(m_items.size());
    for (int pitch = most; pitch > least; --pitch) {
        if (items <= std::max(1, width() / pitch) * kRows)
            return pitch;
    }
    return least;
}

int WorkGrid::columns() const { return std::max(1, width() / pitch()); }

QSize WorkGrid::sizeHint() const
{
    const int rows = (static_cast<int>(m_items.size()) + columns() - 1) / columns();
    return {pitch() * 30, std::max(1, std::min(rows, 12)) * pitch()};
}

QSize WorkGrid::minimumSizeHint() const
{
    return {m_theme.unit() * 60, sizeHint().height()};
}

void WorkGrid::resizeEvent(QResizeEvent *event)
{
    if (event->oldSize().width() != width())
        fit();
}

void WorkGrid::fit()
{
    const int height = sizeHint().height();
    if (minimumHeight() != height)
        setFixedHeight(height);
}

void WorkGrid::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QFont number = font();
    number.setPixelSize(std::max(6, pitch() - 5));
    painter.setFont(number);
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        const int at = static_cast<int>(i);
        const QRect tile(at % columns() * pitch(), at / columns() * pitch(), pitch() - 2, pitch() - 2);
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
    const auto item = static_cast<std::size_t>(help->pos().y() / pitch() * columns() + help->pos().x() / pitch());
    if (item < m_items.size())
        QToolTip::showText(help->globalPos(), storyOf(item), this);
    else
        QToolTip::hideText();
    return true;
}

} // namespace tenure::ui
