// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/sim_lanes.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <map>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;
using Kind = sim::LogEvent::Kind;

constexpr std::size_t kMostLanes = 8; ///< of instances; a herd shows its first

} // namespace

/// Turns the log of a run into pieces.
class SimLanes::Reader
{
public:
    Reader(SimLanes &lanes, const sim::World &world) : m_lanes(lanes), m_world(world) { }

    void read()
    {
        for (const sim::LogEvent &event : m_world.log())
            take(event);
        const Duration now = m_world.now();
        endTruth(now, Kind::Held);
        for (auto &[key, from] : m_open)
            m_lanes.m_lanes[key.first].push_back({from, now, key.second, {}});
    }

private:
    void open(const sim::LogEvent &event, What what)
    {
        if (lane(event) < m_lanes.m_lanes.size())
            m_open.try_emplace({lane(event), what}, event.at);
    }
    void close(const sim::LogEvent &event, What what)
    {
        const auto found = m_open.find({lane(event), what});
        if (found == m_open.end())
            return;
        m_lanes.m_lanes[lane(event)].push_back({found->second, event.at, what, {}});
        m_open.erase(found);
    }
    [[nodiscard]] static std::size_t lane(const sim::LogEvent &event) { return static_cast<std::size_t>(event.node + 1); }

    void endTruth(Duration at, Kind kind)
    {
        if (m_since)
            m_lanes.m_lanes[0].push_back({*m_since, at, m_holder.isEmpty() ? What::Vacant : What::Held, m_holder});
        m_since = at;
        if (kind != Kind::Held)
            m_holder.clear();
    }

    void take(const sim::LogEvent &event)
    {
        switch (event.kind) {
        case Kind::Held:
            endTruth(event.at, event.kind);
            m_holder = QStringLiteral("%1 %2").arg(shown(m_world.names()[static_cast<std::size_t>(event.node)])).arg(event.token.value);
            return;
        case Kind::Released:
        case Kind::Expired:
        case Kind::Cleared:
        case Kind::Lost:
            return endTruth(event.at, event.kind);
        case Kind::Believes:
            return open(event, What::Believes);
        case Kind::Doubts:
            return close(event, What::Believes);
        case Kind::Works:
            return open(event, What::Works);
        case Kind::Rests:
            return close(event, What::Works);
        case Kind::Fault:
            if (event.node >= 0 && (event.detail.starts_with("pause") || event.detail.starts_with("hang")))
                open(event, What::Frozen);
            return;
        case Kind::Healed:
            return close(event, What::Frozen);
        case Kind::Life:
            close(event, What::Frozen);
            if (event.detail == "starts") {
                close(event, What::Stopped);
                return close(event, What::Crashed);
            }
            return open(event, event.detail == "crashed" ? What::Crashed : What::Stopped);
        case Kind::Stale:
        case Kind::Rejected:
            if (lane(event) < m_lanes.m_lanes.size())
                m_lanes.m_marks.push_back({event.at, static_cast<int>(lane(event)), event.kind == Kind::Stale});
            return;
        default:
            return;
        }
    }

    SimLanes &m_lanes;
    const sim::World &m_world;
    std::map<std::pair<std::size_t, What>, Duration> m_open;
    std::optional<Duration> m_since;
    QString m_holder;
};

SimLanes::SimLanes(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("What the store says and what each instance believes, over the run"));
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Top: the store's word. Below: what each instance believes (outline) and when it works as the leader (solid)."
                  " Hatched: frozen. ✖ a late write was accepted, ⊘ it was refused. Click to go there."));
}

void SimLanes::show(const sim::World &world)
{
    const std::size_t before = m_lanes.size();
    const std::size_t shownNodes = std::min(world.names().size(), kMostLanes);
    m_names = {tr("store")};
    for (std::size_t i = 0; i < shownNodes; ++i)
        m_names.push_back(shown(world.names()[i]));
    m_lanes.assign(shownNodes + 1, {});
    m_marks.clear();
    m_now = world.now();
    m_length = world.setup().length;
    Reader(*this, world).read();
    if (before != m_lanes.size())
        updateGeometry();
    update();
}

int SimLanes::laneHeight() const { return fontMetrics().height() * 2 + m_theme.unit(); }

int SimLanes::labels() const
{
    int width = 0;
    for (const QString &name : m_names)
        width = std::max(width, fontMetrics().horizontalAdvance(name));
    return std::min(width, fontMetrics().averageCharWidth() * 14) + 3 * m_theme.unit();
}

QSize SimLanes::sizeHint() const
{
    return {fontMetrics().averageCharWidth() * 50, (static_cast<int>(std::max<std::size_t>(m_lanes.size(), 4)) + 1) * laneHeight() + m_theme.unit()};
}

QSize SimLanes::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 24, sizeHint().height()};
}

double SimLanes::x(Duration at) const
{
    const double share = static_cast<double>(at.count()) / static_cast<double>(std::max<std::int64_t>(1, m_length.count()));
    return labels() + share * (width() - labels() - m_theme.unit());
}

void SimLanes::paintPieces(QPainter &painter, const std::vector<Piece> &pieces, const QRect &lane) const
{
    const int half = lane.height() / 4;
    for (const What layer : {What::Held, What::Vacant, What::Stopped, What::Crashed, What::Believes, What::Works, What::Frozen}) {
        for (const Piece &piece : pieces) {
            if (piece.what != layer)
                continue;
            const double left = x(piece.from);
            const QRectF bar(left, lane.top(), std::max(1.0, x(piece.until) - left), lane.height());
            switch (layer) {
            case What::Held:
                painter.fillRect(bar, m_theme.color(Token::Alt));
                painter.fillRect(QRectF(bar.left(), bar.top(), 2, bar.height()), m_theme.color(Token::Line));
                painter.setPen(m_theme.color(Token::Text));
                painter.drawText(bar.adjusted(m_theme.unit() + 2, 0, 0, 0), Qt::AlignVCenter,
                    fontMetrics().elidedText(piece.text, Qt::ElideRight, std::max(0, static_cast<int>(bar.width()) - m_theme.unit() - 2)));
                break;
            case What::Vacant:
                painter.fillRect(bar, QBrush(m_theme.color(Token::Crit), Qt::BDiagPattern));
                break;
            case What::Stopped:
                painter.fillRect(QRectF(bar.left(), bar.center().y(), bar.width(), 1), m_theme.color(Token::Hairline));
                break;
            case What::Crashed:
                painter.fillRect(QRectF(bar.left(), bar.center().y(), bar.width(), 1), m_theme.color(Token::Hairline));
                painter.setPen(m_theme.color(Token::Crit));
                painter.drawText(QPointF(bar.left() + 2, bar.bottom() - fontMetrics().descent()), QStringLiteral("†"));
                break;
            case What::Believes:
                painter.setPen(m_theme.color(Token::Bar));
                painter.drawRect(bar.adjusted(0, half, -1, -half - 1));
                break;
            case What::Works:
                painter.fillRect(bar.adjusted(0, half, 0, -half), m_theme.color(Token::Bar));
                break;
            case What::Frozen:
                painter.fillRect(bar, QBrush(m_theme.color(Token::Stale), Qt::BDiagPattern));
                break;
            }
        }
    }
}

void SimLanes::paintAxis(QPainter &painter) const
{
    const int top = static_cast<int>(m_lanes.size()) * laneHeight();
    painter.setPen(m_theme.color(Token::Muted));
    Duration every = 1s;
    for (const Duration step : {Duration(1s), Duration(5s), Duration(10s), Duration(30s), Duration(1min), Duration(5min), Duration(15min)}) {
        every = step;
        if (x(step) - x({}) > fontMetrics().averageCharWidth() * 10)
            break;
    }
    for (Duration at{}; at <= m_length; at += every) {
        const QString label = at == 0ns ? QStringLiteral("0") : text(at);
        const double middle = std::min(x(at), width() - fontMetrics().horizontalAdvance(label) / 2.0 - 1);
        painter.drawText(QRectF(middle - 60, top, 120, laneHeight()), Qt::AlignCenter, label);
    }
}

void SimLanes::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.color(Token::Bg));
    const int pad = m_theme.unit() / 2;
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        const QRect lane(0, static_cast<int>(i) * laneHeight() + pad, width(), laneHeight() - 2 * pad);
        painter.setPen(m_theme.color(i == 0 ? Token::Text : Token::Muted));
        painter.drawText(QRect(m_theme.unit(), lane.top(), labels() - 2 * m_theme.unit(), lane.height()), Qt::AlignVCenter,
            fontMetrics().elidedText(m_names[i], Qt::ElideMiddle, labels() - 2 * m_theme.unit()));
        paintPieces(painter, m_lanes[i], lane);
    }
    for (const Mark &mark : m_marks) {
        const QRectF box(x(mark.at) - laneHeight() / 2.0, mark.lane * laneHeight(), laneHeight(), laneHeight());
        const double radius = fontMetrics().height() * 0.65;
        painter.setBrush(m_theme.color(mark.accepted ? Token::CritChip : Token::Bg));
        painter.setPen(m_theme.color(mark.accepted ? Token::CritChip : Token::Line));
        painter.drawEllipse(box.center(), radius, radius);
        painter.setPen(m_theme.color(mark.accepted ? Token::OnCritChip : Token::Text));
        painter.drawText(box, Qt::AlignCenter, mark.accepted ? QStringLiteral("✖") : QStringLiteral("⊘"));
    }
    paintAxis(painter);
    painter.setPen(QPen(m_theme.color(Token::Sim), 2));
    painter.drawLine(QPointF(x(m_now), 0), QPointF(x(m_now), static_cast<double>(m_lanes.size()) * laneHeight()));
}

void SimLanes::choose(double at)
{
    const double share = (at - labels()) / std::max(1, width() - labels() - m_theme.unit());
    Q_EMIT momentChosen(Duration(static_cast<Duration::rep>(std::clamp(share, 0.0, 1.0) * static_cast<double>(m_length.count()))));
}

void SimLanes::mousePressEvent(QMouseEvent *event) { choose(event->position().x()); }

void SimLanes::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton)
        choose(event->position().x());
}

} // namespace tenure::ui
