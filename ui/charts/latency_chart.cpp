// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/latency_chart.h"

#include "ui/theme/theme.h"

#include <QChart>
#include <QChartView>
#include <QLineSeries>
#include <QLogValueAxis>
#include <QScatterSeries>
#include <QVBoxLayout>
#include <QValueAxis>

#include <algorithm>
#include <cmath>

namespace tenure::ui
{
namespace
{

constexpr double kLeast = 0.01; // a logarithm has no zero

double secondsOf(std::optional<Duration> duration)
{
    return duration ? std::chrono::duration<double>(*duration).count() : 0;
}

} // namespace

LatencyChart::LatencyChart(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_chart(new QChart), m_line(new QLineSeries(this)), m_deadline(new QLineSeries(this)),
      m_ttl(new QLineSeries(this)), m_late(new QScatterSeries(this)), m_time(new QValueAxis(this)), m_value(new QLogValueAxis(this))
{
    setObjectName(QStringLiteral("latencyChart"));
    setAccessibleName(tr("Time between renewals"));
    auto *view = new QChartView(m_chart, this);
    view->setFrameShape(QFrame::NoFrame);
    view->setFocusPolicy(Qt::NoFocus);
    view->setRenderHint(QPainter::Antialiasing);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins({});
    column->addWidget(view);
    m_chart->setMargins({});
    m_chart->setBackgroundRoundness(0);
    m_chart->legend()->hide();
    m_chart->addAxis(m_time, Qt::AlignBottom);
    m_chart->addAxis(m_value, Qt::AlignLeft);
    for (QXYSeries *series : std::initializer_list<QXYSeries *>{m_ttl, m_deadline, m_line, m_late}) {
        m_chart->addSeries(series);
        series->attachAxis(m_time);
        series->attachAxis(m_value);
    }
    m_time->setTickCount(5);
    m_value->setBase(10);
    m_value->setMinorTickCount(0);
    m_late->setMarkerSize(theme.unit() * 1.75);
    connect(&theme, &Theme::changed, this, &LatencyChart::colour);
    colour();
}

void LatencyChart::colour()
{
    const auto color = [this](Token token) { return m_theme.color(token); };
    m_chart->setBackgroundBrush(color(Token::Bg));
    m_chart->setBackgroundPen(Qt::NoPen);
    m_line->setPen(QPen(color(Token::Bar), 1.5));
    m_deadline->setPen(QPen(color(Token::Warn), 1.5, Qt::DashLine));
    m_ttl->setPen(QPen(color(Token::Crit), 1.5, Qt::DashLine));
    m_late->setColor(color(Token::Warn));
    m_late->setBorderColor(color(Token::Bg));
    for (QAbstractAxis *axis : std::initializer_list<QAbstractAxis *>{m_time, m_value}) {
        axis->setLabelsColor(color(Token::Muted));
        axis->setLabelsFont(m_theme.font(FontRole::Small));
        axis->setGridLinePen(QPen(color(Token::Hairline), 1));
        axis->setLinePen(QPen(color(Token::Line), 1));
    }
}

void LatencyChart::setPoints(
    const std::vector<Point> &points, std::optional<Duration> deadline, std::optional<Duration> ttl)
{
    m_count = std::min(points.size(), kMost);
    QList<QPointF> line;
    QList<QPointF> late;
    double oldest = 60;
    double least = 1;
    double most = std::max(secondsOf(ttl), 1.0);
    for (std::size_t i = points.size() - m_count; i < points.size(); ++i) {
        oldest = std::max(oldest, points[i].secondsAgo);
        least = std::min(least, std::max(points[i].seconds, kLeast));
        most = std::max(most, points[i].seconds);
    }
    const bool minutes = oldest > 180;
    const double scale = minutes ? 60 : 1;
    for (std::size_t i = points.size() - m_count; i < points.size(); ++i) {
        const QPointF at(-points[i].secondsAgo / scale, std::max(points[i].seconds, kLeast));
        line.append(at);
        if (points[i].late)
            late.append(at);
    }
    m_time->setLabelFormat(minutes ? tr("%.0f min") : tr("%.0f s"));
    m_time->setRange(-oldest / scale, 0);
    m_value->setLabelFormat(tr("%g s"));
    m_value->setRange(std::pow(10.0, std::floor(std::log10(least))), most * 1.4);
    m_line->replace(line);
    m_late->replace(late);
    const auto level = [&](QLineSeries *series, std::optional<Duration> at) {
        series->replace(at ? QList<QPointF>{{-oldest / scale, secondsOf(at)}, {0, secondsOf(at)}} : QList<QPointF>{});
    };
    level(m_deadline, deadline);
    level(m_ttl, ttl);
}

QSize LatencyChart::sizeHint() const
{
    return {100 * m_theme.unit(), 36 * m_theme.unit()};
}

QSize LatencyChart::minimumSizeHint() const
{
    return {60 * m_theme.unit(), 30 * m_theme.unit()};
}

} // namespace tenure::ui
