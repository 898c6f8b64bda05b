// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tile_wall.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>

namespace tenure::ui
{

TileWall::TileWall(const Theme &theme, FleetModel &model, QWidget *parent)
    : QAbstractScrollArea(parent), m_theme(theme), m_model(model)
{
    speak();
    setObjectName(QStringLiteral("tileWall"));
    setAccessibleName(tr("Leases as tiles"));
    setFrameShape(NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(&model, &FleetModel::flushed, this, &TileWall::reload);
    connect(&theme, &Theme::changed, this, &TileWall::arrange);
    // Rows move in memory whenever leases come or go; flushed() follows in the same turn.
    connect(&model, &QAbstractItemModel::modelReset, this, &TileWall::reload);
    reload();
}

void TileWall::setPitch(int pixels)
{
    m_pitch = std::clamp(pixels, 8, 40);
    arrange();
}

void TileWall::reload()
{
    const std::vector<FleetModel::Block> known = m_model.blocks();
    m_blocks.clear();
    m_blocks.resize(known.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
        m_blocks[i].title = known[i].info.name;
        m_blocks[i].connectionId = known[i].info.id;
        m_blocks[i].link = known[i].link;
        m_blocks[i].where = known[i].info.where;
        m_blocks[i].index = i;
        m_blocks[i].tiles.resize(known[i].open ? known[i].places : 0, FleetRow::kNowhere);
    }
    m_model.forEachTile([&](std::size_t block, std::uint32_t slot, const FleetRow &row) {
        if (row.place < m_blocks[block].tiles.size()) {
            m_blocks[block].tiles[row.place] = slot;
            ++m_blocks[block].count;
        }
    });
    std::erase_if(m_blocks, [](const Block &block) { return block.tiles.empty(); });
    arrange();
    if (m_current && !placeOf(*m_current)) {
        m_current.reset();
        Q_EMIT currentChanged();
    }
}

const FleetRow *TileWall::rowOf(const Block &block, std::size_t place) const
{
    return place < block.tiles.size() ? m_model.tileRow(block.tiles[place], block.index, place) : nullptr;
}

int TileWall::labelWidth() const
{
    return 40 * m_theme.unit();
}

int TileWall::columns() const
{
    return std::max(1, (viewport()->width() - labelWidth() - 4 * m_theme.unit()) / m_pitch);
}

void TileWall::arrange()
{
    const int across = columns();
    int top = 2 * m_theme.unit();
    for (Block &block : m_blocks) {
        const int rows = (static_cast<int>(block.tiles.size()) + across - 1) / across;
        block.top = top;
        block.height = std::max(rows * m_pitch, 2 * QFontMetrics(m_theme.font(FontRole::Body)).height());
        top += block.height + 3 * m_theme.unit();
    }
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(m_pitch * 2);
    verticalScrollBar()->setRange(0, std::max(0, top - viewport()->height()));
    viewport()->update();
}

QRect TileWall::rectOf(const Block &block, std::size_t place) const
{
    const int across = columns();
    const int index = static_cast<int>(place);
    const int gap = m_pitch >= 14 ? 2 : 1;
    return {labelWidth() + index % across * m_pitch,
        block.top + index / across * m_pitch - verticalScrollBar()->value(), m_pitch - gap, m_pitch - gap};
}

QRect TileWall::tileRect(const FleetKey &key) const
{
    const auto place = placeOf(key);
    return place ? rectOf(m_blocks[place->first], place->second) : QRect();
}

void TileWall::paintEvent(QPaintEvent *event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), m_theme.color(Token::Bg));
    for (const Block &block : m_blocks) {
        const QRect area(0, block.top - verticalScrollBar()->value(), viewport()->width(), block.height);
        if (area.intersects(event->rect()))
            paintBlock(painter, block, event->rect());
    }
    const QRect focus = m_current ? tileRect(*m_current) : QRect();
    if (!focus.isNull()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_theme.color(hasFocus() ? Token::Info : Token::Line), 2));
        painter.drawRect(focus.adjusted(-2, -2, 2, 2));
    }
}

void TileWall::paintBlock(QPainter &painter, const Block &block, const QRect &exposed) const
{
    const int unit = m_theme.unit();
    const int top = block.top - verticalScrollBar()->value();
    const int line = QFontMetrics(m_theme.font(FontRole::Body)).height();
    const QRect label(5 * unit, top, labelWidth() - 8 * unit, line);
    const Token band = block.where == Surroundings::Production ? Token::ProdBand
        : block.where == Surroundings::Staging                 ? Token::StageBand
        : block.where == Surroundings::Sim                     ? Token::SimBand
                                                               : Token::Line;
    painter.fillRect(QRect(3 * unit, top + 2, unit, line - 4), m_theme.color(band));
    painter.setFont(m_theme.font(FontRole::Strong));
    painter.setPen(m_theme.color(Token::Text));
    painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(block.title, Qt::ElideMiddle, label.width()));
    painter.setFont(m_theme.font(FontRole::Small));
    painter.setPen(m_theme.color(isFresh(block.link) ? Token::Muted : Token::Stale));
    QString count = QLocale(QLocale::English).toString(static_cast<qulonglong>(block.count)).replace(QLatin1Char(','), QChar(0x2009));
    if (!isFresh(block.link))
        count += QStringLiteral(" · ") + word(block.link);
    painter.drawText(label.translated(0, line), Qt::AlignLeft | Qt::AlignVCenter, count);
    for (std::size_t place = 0; place < block.tiles.size(); ++place) {
        const QRect box = rectOf(block, place);
        const FleetRow *row = box.intersects(exposed) ? rowOf(block, place) : nullptr;
        if (row != nullptr)
            paintTile(painter, box, *row, block.link);
    }
}

void TileWall::paintTile(QPainter &painter, const QRect &box, const FleetRow &row, LinkState link) const
{
    const bool known = isFresh(link) && row.state != LeaseState::Unknown;
    const bool held = row.state == LeaseState::Held && !row.churning;
    painter.setPen(Qt::NoPen);
    if (!row.matches) {
        painter.fillRect(box, m_theme.color(Token::Alt));
        return;
    }
    if (!known) {
        painter.fillRect(box, m_theme.color(Token::StaleChip));
        painter.fillRect(box, QBrush(m_theme.color(Token::Stale), Qt::BDiagPattern));
        return;
    }
    if (held) {
        painter.fillRect(box, m_theme.color(Token::Bar));
        return;
    }
    // What is not normal has its own shape: a notch, a frame, a wave; from 14 px on also its glyph.
    const Token ink = row.churning && !isAbnormal(row.state) ? Token::Warn : token(row.state);
    const QColor color = m_theme.color(ink);
    painter.setRenderHint(QPainter::Antialiasing);
    if (row.state == LeaseState::Vacant || row.state == LeaseState::Expired) {
        painter.setBrush(color);
        painter.drawPolygon(QPolygonF{QPointF(box.left() + box.width() / 2.0, box.top()),
            QPointF(box.right() + 1, box.bottom() + 1), QPointF(box.left(), box.bottom() + 1)});
    } else if (row.state == LeaseState::OperatorHold) {
        painter.setPen(QPen(color, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(box).adjusted(1, 1, -1, -1));
    } else if (row.churning && !isAbnormal(row.state)) {
        const double third = box.height() / 3.0;
        painter.fillRect(QRectF(box.left(), box.top(), box.width(), third * 0.8), color);
        painter.fillRect(QRectF(box.left(), box.top() + third * 1.1, box.width(), third * 0.8), color);
        painter.fillRect(QRectF(box.left(), box.top() + third * 2.2, box.width(), third * 0.8), color);
    } else {
        // LATE has lost its right half, OVERDUE all but a quarter.
        const double width = row.state == LeaseState::Late ? box.width() / 2.0 : box.width() / 4.0;
        painter.setPen(QPen(color, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(box).adjusted(0.75, 0.75, -0.75, -0.75));
        painter.fillRect(QRectF(box.left(), box.top(), width, box.height()), color);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

const FleetRow *TileWall::at(const QPoint &position, const Block **block) const
{
    if (position.x() < labelWidth())
        return nullptr;
    const int across = columns();
    const int y = position.y() + verticalScrollBar()->value();
    for (const Block &one : m_blocks) {
        const int column = (position.x() - labelWidth()) / m_pitch;
        if (y < one.top || y >= one.top + one.height || column >= across)
            continue;
        const auto place = static_cast<std::size_t>((y - one.top) / m_pitch * across + column);
        if (block != nullptr)
            *block = &one;
        return rowOf(one, place);
    }
    return nullptr;
}

std::optional<std::pair<std::size_t, std::size_t>> TileWall::placeOf(const FleetKey &key) const
{
    for (std::size_t i = 0; i < m_blocks.size(); ++i) {
        if (m_blocks[i].connectionId != key.connection)
            continue;
        for (std::size_t place = 0; place < m_blocks[i].tiles.size(); ++place) {
            const FleetRow *row = rowOf(m_blocks[i], place);
            if (row != nullptr && row->lease == key.lease)
                return std::pair(i, place);
        }
    }
    return std::nullopt;
}

void TileWall::setCurrent(const FleetKey &key)
{
    if (!placeOf(key) || m_current == key)
        return;
    m_current = key;
    const QRect box = tileRect(key);
    if (box.top() < 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + box.top() - m_pitch);
    else if (box.bottom() > viewport()->height())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + box.bottom() - viewport()->height() + m_pitch);
    viewport()->update();
    valueChanged(this, sentence());
    Q_EMIT currentChanged();
}

QString TileWall::sentence() const
{
    const auto place = m_current ? placeOf(*m_current) : std::nullopt;
    if (!place)
        return {};
    const FleetRow &row = *rowOf(m_blocks[place->first], place->second);
    return rowSentence(row, m_model.status(row), m_blocks[place->first].title, m_blocks[place->first].link, m_model.now());
}

void TileWall::walk(int places, int rows)
{
    std::vector<std::pair<std::size_t, std::size_t>> all; // every tile in reading order
    for (std::size_t i = 0; i < m_blocks.size(); ++i) {
        for (std::size_t place = 0; place < m_blocks[i].tiles.size(); ++place) {
            if (rowOf(m_blocks[i], place) != nullptr)
                all.emplace_back(i, place);
        }
    }
    if (all.empty())
        return;
    const auto here = m_current ? placeOf(*m_current) : std::nullopt;
    std::ptrdiff_t index = 0;
    if (here) {
        index = std::find(all.begin(), all.end(), *here) - all.begin();
        index = std::clamp<std::ptrdiff_t>(index + places + static_cast<std::ptrdiff_t>(rows) * columns(), 0,
            static_cast<std::ptrdiff_t>(all.size()) - 1);
    }
    const auto &[block, place] = all[static_cast<std::size_t>(index)];
    setCurrent({m_blocks[block].connectionId, rowOf(m_blocks[block], place)->lease});
}

void TileWall::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void TileWall::mousePressEvent(QMouseEvent *event)
{
    const Block *block = nullptr;
    if (const FleetRow *row = at(event->position().toPoint(), &block))
        setCurrent({block->connectionId, row->lease});
}

void TileWall::mouseDoubleClickEvent(QMouseEvent *event)
{
    mousePressEvent(event);
    if (at(event->position().toPoint(), nullptr) != nullptr && m_current)
        Q_EMIT activated(*m_current);
}

void TileWall::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_K:
        walk(-1, 0);
        break;
    case Qt::Key_Right:
    case Qt::Key_J:
        walk(1, 0);
        break;
    case Qt::Key_Up:
        walk(0, -1);
        break;
    case Qt::Key_Down:
        walk(0, 1);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current)
            Q_EMIT activated(*m_current);
        break;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

bool TileWall::viewportEvent(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const Block *block = nullptr;
    const FleetRow *row = at(help->pos(), &block);
    QToolTip::showText(help->globalPos(),
        row == nullptr ? QString() : rowSentence(*row, m_model.status(*row), block->title, block->link, m_model.now()), this);
    return true;
}

} // namespace tenure::ui
