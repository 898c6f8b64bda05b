// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/health_panel.h"

#include "ui/bridge/history.h"
#include "ui/charts/latency_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kPast = 24h;

QString percentilesText(const std::optional<Percentiles> &values, const QString &otherwise)
{
    if (!values)
        return otherwise;
    return HealthPanel::tr("p50 %1, p95 %2, max %3 (n = %4)")
        .arg(text(values->p50), text(values->p95), text(values->most)).arg(values->count);
}

const char *roleOf(TimingAdvice::Level level)
{
    switch (level) {
    case TimingAdvice::Level::Dangerous:
        return "crit";
    case TimingAdvice::Level::Worrying:
        return "warn";
    case TimingAdvice::Level::Unknown:
        return "caption";
    case TimingAdvice::Level::Sane:
        break;
    }
    return "";
}

QString glyphOf(TimingAdvice::Level level)
{
    switch (level) {
    case TimingAdvice::Level::Dangerous:
        return QStringLiteral("\u2716 ");
    case TimingAdvice::Level::Worrying:
        return QStringLiteral("\u25D0 ");
    case TimingAdvice::Level::Unknown:
        return QStringLiteral("\u25CC ");
    case TimingAdvice::Level::Sane:
        break;
    }
    return QStringLiteral("\u2713 ");
}

} // namespace

HealthPanel::HealthPanel(const Theme &theme, const Clock &clock, LeaseId lease, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_lease(std::move(lease)), m_advice(new QLabel(this)),
      m_caption(new QLabel(this)), m_chart(new LatencyChart(theme, this))
{
    setObjectName(QStringLiteral("healthPanel"));
    const int unit = theme.unit();
    m_advice->setObjectName(QStringLiteral("healthAdvice"));
    m_advice->setWordWrap(true);
    m_advice->setTextFormat(Qt::PlainText);
    m_advice->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(4 * unit);
    grid->setVerticalSpacing(unit);
    grid->setColumnStretch(1, 1);
    addFact(*grid, tr("Between renewals"), m_intervals, "healthIntervals");
    addFact(*grid, tr("Headroom"), m_headroom, "healthHeadroom");
    addFact(*grid, tr("Missed"), m_missed, "healthMissed");
    addFact(*grid, tr("Tenure"), m_tenures, "healthTenures");
    addFact(*grid, tr("No leader"), m_gaps, "healthGaps");
    auto *left = new QVBoxLayout;
    left->setSpacing(2 * unit);
    left->addWidget(m_advice);
    left->addLayout(grid);
    left->addStretch(1);
    m_caption->setProperty("role", QStringLiteral("caption"));
    useFont(m_caption, theme, FontRole::Small);
    m_caption->setText(tr("Time between renewals, logarithmic.  - - deadline (4/5 ttl)   - - ttl   \u25CF late"));
    auto *right = new QVBoxLayout;
    right->setSpacing(unit);
    right->addWidget(m_caption);
    right->addWidget(m_chart, 1);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins({});
    row->setSpacing(6 * unit);
    row->addLayout(left, 5);
    row->addLayout(right, 6);
    connect(&m_drawTimer, &QTimer::timeout, this, &HealthPanel::draw);
    connect(&m_askTimer, &QTimer::timeout, this, &HealthPanel::ask);
}

void HealthPanel::addFact(QGridLayout &grid, const QString &name, QLabel *&value, const char *objectName)
{
    auto *caption = new QLabel(name, this);
    caption->setProperty("role", QStringLiteral("caption"));
    value = new QLabel(this);
    value->setObjectName(QLatin1String(objectName));
    value->setTextFormat(Qt::PlainText);
    value->setWordWrap(true);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    useFont(value, m_theme, FontRole::Number);
    const int row = grid.rowCount();
    grid.addWidget(caption, row, 0, Qt::AlignTop | Qt::AlignLeft);
    grid.addWidget(value, row, 1);
}

void HealthPanel::setLease(const LeaseStatus &status)
{
    const bool first = m_status.renewalsSeen == 0;
    m_status = status;
    const LeaseHealth health = healthOf(status, m_clock.now());
    const TimingAdvice advice = judge(status);
    m_advice->setText(glyphOf(advice.level) + advice.sentence);
    if (const QString role = QLatin1String(roleOf(advice.level)); m_advice->property("role").toString() != role) {
        m_advice->setProperty("role", role);
        m_advice->style()->unpolish(m_advice);
        m_advice->style()->polish(m_advice);
    }
    m_intervals->setText(percentilesText(health.intervals, tr("not enough history (%1 renewals seen)").arg(health.renewals)));
    m_headroom->setText(health.leastHeadroom
            ? tr("%1 % of the ttl was left at the latest renewal").arg(static_cast<int>(*health.leastHeadroom * 100))
            : tr("no renewal seen yet"));
    m_missed->setText(tr("%1 of %2 expected, %3 late").arg(health.missed).arg(health.missed + health.renewals).arg(health.late));
    m_tenures->setText(percentilesText(health.tenures, tr("not enough history (%1 terms seen)").arg(status.terms.size())));
    m_gaps->setText(health.leaderless > Duration::zero()
            ? tr("%1 in all, longest %2").arg(text(health.leaderless), text(health.longestGap))
            : tr("never, as far as it was observed"));
    if (first)
        draw();
}

void HealthPanel::setHistory(History *history, const std::string &journalId)
{
    m_history = history;
    m_journalId = journalId;
    if (isVisible())
        ask();
}

void HealthPanel::ask()
{
    if (m_history == nullptr)
        return;
    const WallTime now = m_clock.wall();
    const TimeWindow window{now - std::chrono::duration_cast<std::chrono::microseconds>(kPast), now};
    m_history->ask(this, 0, [this, key = LeaseKey{m_journalId, m_lease}, window](JournalQuery &query) -> History::Answer {
        auto found = std::make_shared<Result<std::vector<RenewalBucket>>>(
            query.renewals(key, window, static_cast<int>(LatencyChart::kMost) / 2));
        return [this, found] {
            if (!found->has_value())
                return;
            m_past = pointsOf(**found, m_clock);
            draw();
        };
    });
}

void HealthPanel::draw()
{
    const Instant now = m_clock.now();
    std::vector<RenewalPoint> session = pointsOf(m_status, LatencyChart::kMost / 2);
    const Instant known = session.empty() ? now : session.front().at;
    std::vector<RenewalPoint> all = m_past;
    std::erase_if(all, [&](const RenewalPoint &point) { return point.at >= known; });
    all.insert(all.end(), session.begin(), session.end());
    std::vector<LatencyChart::Point> points;
    for (const RenewalPoint &point : decimated(std::move(all), LatencyChart::kMost)) {
        points.push_back({std::chrono::duration<double>(now - point.at).count(),
            std::chrono::duration<double>(point.interval).count(), point.late});
    }
    const LeaseHealth health = healthOf(m_status, now);
    m_chart->setPoints(points, health.deadline, health.ttl);
}

void HealthPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_drawTimer.start(2s);
    m_askTimer.start(60s);
    ask();
    draw();
}

void HealthPanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_drawTimer.stop();
    m_askTimer.stop();
}

} // namespace tenure::ui
