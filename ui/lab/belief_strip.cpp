// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/belief_strip.h"

#include "core/base/text.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

/// A longer hole between samples is a hole in the lane: nobody looked.
constexpr Duration kLongestHole = 1500ms;
const std::string kNotObserved = "?";

QString shownText(const std::string &bytes)
{
    return QString::fromStdString(printable(bytes.substr(0, bytes.find('@')), 40));
}

} // namespace

BeliefStrip::BeliefStrip(const Theme &theme, const Clock &clock, QWidget *parent)
    : Ticking(theme, clock, parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Truth and beliefs, last minute"));
}

void BeliefStrip::Lane::add(Instant now, std::string value)
{
    const bool goesOn = !pieces.empty() && pieces.back().value == value
        && now - pieces.back().until <= kLongestHole;
    if (goesOn) {
        pieces.back().until = now;
        return;
    }
    if (!pieces.empty() && now - pieces.back().until <= kLongestHole)
        pieces.back().until = now;
    pieces.push_back({now, now, std::move(value)});
}

void BeliefStrip::sample(Instant now, const std::vector<InstanceView> &views,
    const std::map<LeaseId, std::optional<std::string>> &truth)
{
    const QSize before = sizeHint();
    for (auto &[id, lanes] : m_leases)
        lanes.believers = 0;
    for (const InstanceView &view : views) {
        LeaseLanes &lanes = m_leases[view.lease];
        lanes.truth.lastSeen = now;
        Lane &lane = lanes.beliefs[view.id];
        lane.label = QString::fromStdString(view.name);
        lane.lastSeen = now;
        const bool gone = view.life == InstanceView::Life::Crashed
            || view.life == InstanceView::Life::Stopped;
        lane.add(now, view.report.believes ? "leader" : gone ? "gone" : "follower");
        lanes.believers += view.report.believes ? 1 : 0;
    }
    for (auto &[id, lanes] : m_leases) {
        if (lanes.truth.lastSeen != now)
            continue;
        const auto holder = truth.find(id);
        lanes.truth.label = shownText(id.name());
        lanes.truth.add(now, holder == truth.end() || !holder->second ? kNotObserved : *holder->second);
        lanes.contested.add(now, lanes.believers > 1 ? "contested" : "");
    }
    forgetOld(now);
    if (before != sizeHint())
        updateGeometry();
    update();
}

void BeliefStrip::forgetOld(Instant now)
{
    const auto trim = [&](Lane &lane) {
        while (!lane.pieces.empty() && lane.pieces.front().until < now - kWindow)
            lane.pieces.pop_front();
    };
    for (auto &[id, lanes] : m_leases) {
        trim(lanes.truth);
        trim(lanes.contested);
        for (auto &[number, lane] : lanes.beliefs)
            trim(lane);
        std::erase_if(lanes.beliefs, [&](const auto &one) { return one.second.lastSeen < now; });
    }
    std::erase_if(m_leases, [](const auto &one) { return one.second.beliefs.empty(); });
}

int BeliefStrip::believersNow(const LeaseId &lease) const
{
    const auto found = m_leases.find(lease);
    return found == m_leases.end() ? 0 : found->second.believers;
}

Duration BeliefStrip::contested() const
{
    Duration longest{};
    for (const auto &[id, lanes] : m_leases) {
        for (const Piece &piece : lanes.contested.pieces) {
            if (!piece.value.empty())
                longest = std::max(longest, piece.until - piece.from);
        }
    }
    return longest;
}

int BeliefStrip::laneHeight() const
{
    return fontMetrics().height() + theme().unit();
}

int BeliefStrip::labelWidth() const
{
    int width = 0;
    for (const auto &[id, lanes] : m_leases) {
        width = std::max(width, fontMetrics().horizontalAdvance(lanes.truth.label));
        for (const auto &[number, lane] : lanes.beliefs)
            width = std::max(width, fontMetrics().horizontalAdvance(lane.label) + 3 * theme().unit());
    }
    return std::min(width, fontMetrics().averageCharWidth() * 26) + 3 * theme().unit();
}

QSize BeliefStrip::sizeHint() const
{
    std::size_t lanes = 0;
    for (const auto &[id, one] : m_leases)
        lanes += 1 + one.beliefs.size();
    const int gaps = static_cast<int>(m_leases.size()) * theme().unit() * 2;
    return {fontMetrics().averageCharWidth() * 60,
        static_cast<int>(lanes) * laneHeight() + gaps + laneHeight()};
}

QRectF BeliefStrip::boxOf(const Piece &piece, const QRect &lane) const
{
    const auto share = [&](Instant at) {
        const double age = std::chrono::duration<double>(now() - at).count();
        const double window = std::chrono::duration<double>(kWindow).count();
        return lane.right() - lane.width() * std::clamp(age / window, 0.0, 1.0);
    };
    const double from = share(piece.from);
    return {from, double(lane.top()), std::max(1.0, share(piece.until) - from), double(lane.height())};
}

void BeliefStrip::paintTruth(QPainter &painter, const LeaseLanes &lanes, const QRect &box) const
{
    for (const Piece &piece : lanes.truth.pieces) {
        const QRectF bar = boxOf(piece, box);
        if (piece.value == kNotObserved) {
            painter.fillRect(bar, QBrush(theme().color(Token::Stale), Qt::Dense6Pattern));
            continue;
        }
        if (piece.value.empty()) {
            painter.fillRect(bar, QBrush(theme().color(Token::Crit), Qt::BDiagPattern));
            continue;
        }
        painter.fillRect(bar, theme().color(Token::Alt));
        painter.fillRect(QRectF(bar.left(), bar.top(), 2, bar.height()), theme().color(Token::Line));
        painter.setPen(theme().color(Token::Text));
        const QString text = shownText(piece.value);
        painter.drawText(bar.adjusted(2.0 * theme().unit(), 0, -theme().unit(), 0), Qt::AlignVCenter,
            fontMetrics().elidedText(text, Qt::ElideRight, std::max(0, int(bar.width()) - 3 * theme().unit())));
    }
    for (const Piece &piece : lanes.contested.pieces) {
        if (piece.value.empty())
            continue;
        const QRectF bar = boxOf(piece, box);
        painter.fillRect(bar, theme().color(Token::CritChip));
        painter.setPen(theme().color(Token::OnCritChip));
        painter.drawText(bar, Qt::AlignCenter, QStringLiteral("✖"));
    }
}

void BeliefStrip::paintBelief(QPainter &painter, const Lane &lane, const QRect &box) const
{
    for (const Piece &piece : lane.pieces) {
        const QRectF bar = boxOf(piece, box);
        if (piece.value == "leader")
            painter.fillRect(bar, theme().color(Token::Bar));
        else if (piece.value == "follower")
            painter.fillRect(QRectF(bar.left(), bar.center().y(), bar.width(), 1), theme().color(Token::Line));
    }
}

void BeliefStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const int labels = labelWidth();
    const int lane = laneHeight();
    const int pad = theme().unit() / 2;
    int y = 0;
    const auto drawLabel = [&](const QString &label, int indent, Token token) {
        painter.setPen(theme().color(token));
        painter.drawText(QRect(indent, y, labels - indent - theme().unit(), lane), Qt::AlignVCenter,
            fontMetrics().elidedText(label, Qt::ElideMiddle, labels - indent - theme().unit()));
    };
    for (const auto &[id, lanes] : m_leases) {
        drawLabel(lanes.truth.label, 0, Token::Text);
        paintTruth(painter, lanes, QRect(labels, y + pad, width() - labels, lane - 2 * pad));
        y += lane;
        for (const auto &[number, belief] : lanes.beliefs) {
            drawLabel(belief.label, 3 * theme().unit(), Token::Muted);
            paintBelief(painter, belief, QRect(labels, y + 3 * pad, width() - labels, lane - 6 * pad));
            y += lane;
        }
        y += theme().unit() * 2;
    }
    painter.setPen(theme().color(Token::Muted));
    const QRect axis(labels, y, width() - labels, lane);
    painter.drawText(axis, Qt::AlignVCenter | Qt::AlignLeft, tr("60 s ago"));
    painter.drawText(axis, Qt::AlignCenter, tr("30 s"));
    painter.drawText(axis, Qt::AlignVCenter | Qt::AlignRight, tr("now"));
}

} // namespace tenure::ui
