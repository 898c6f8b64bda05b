// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/health_panel.h"

#include "core/churn/health.h"
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

QString spreadText(const Spread &spread, std::size_t enough, const QString &otherwise)
{
    if (spread.n < enough)
        return otherwise;
    return HealthPanel::tr("p50 %1, p95 %2, max %3 (n = %4)")
        .arg(text(spread.p50), text(spread.p95), text(spread.most)).arg(spread.n);
}

struct GradeLook {
    const char *role; ///< of the style sheet
    char16_t glyph;
};

GradeLook lookOf(HealthGrade grade)
{
    switch (grade) {
    case HealthGrade::Bad:
        return {"crit", u'\u2716'};
    case HealthGrade::Watch:
        return {"warn", u'\u25D0'};
    case HealthGrade::NotKnown:
        return {"caption", u'\u25CC'};
    case HealthGrade::Good:
        break;
    }
    return {"", u'\u2713'};
}

} // namespace

HealthPanel::HealthPanel(const Theme &theme, const Clock &clock, LeaseId lease, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_lease(std::move(lease)), m_advice(new QVBoxLayout),
      m_caption(new QLabel(this)), m_chart(new LatencyChart(theme, this))
{
    setObjectName(QStringLiteral("healthPanel"));
    const int unit = theme.unit();
    m_advice->setSpacing(unit);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(4 * unit);
    grid->setVerticalSpacing(unit);
    grid->setColumnStretch(1, 1);
    addFact(*grid, tr("Between renewals"), m_intervals, "healthIntervals");
    addFact(*grid, tr("Delayed by"), m_delays, "healthDelays");
    addFact(*grid, tr("Headroom"), m_headroom, "healthHeadroom");
    addFact(*grid, tr("Missed"), m_missed, "healthMissed");
    addFact(*grid, tr("Tenure"), m_tenures, "healthTenures");
    addFact(*grid, tr("No leader"), m_gaps, "healthGaps");
    auto *left = new QVBoxLayout;
    left->setSpacing(2 * unit);
    left->addLayout(m_advice);
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
    showVerdicts(status);
    const QString few = tr("not enough history (%1 renewals seen)").arg(health.renewals);
    m_intervals->setText(spreadText(health.interval, 5, few));
    m_delays->setText(spreadText(health.delay, 5, few));
    m_headroom->setText(health.headroom.n > 0
            ? tr("least %1 of the ttl left (%2 %)").arg(text(health.headroom.least)).arg(static_cast<int>(health.headroomLeast * 100))
            : tr("no renewal seen yet"));
    m_missed->setText(tr("%1 of %2 expected, %3 late").arg(health.missed).arg(health.missed + health.renewals).arg(health.late));
    m_tenures->setText(spreadText(health.tenure, 3, tr("not enough history (%1 whole terms seen)").arg(health.tenure.n)));
    m_gaps->setText(health.leaderless > Duration::zero()
            ? tr("%1 in all, longest %2").arg(text(health.leaderless), text(health.longestGap))
            : tr("never, as far as it was observed"));
    if (first)
        draw();
}

void HealthPanel::showVerdicts(const LeaseStatus &status)
{
    std::vector<HealthVerdict> verdicts = healthOf(status, m_clock.now()).verdicts;
    std::stable_sort(verdicts.begin(), verdicts.end(), [](const HealthVerdict &a, const HealthVerdict &b) {
        const auto rank = [](HealthGrade grade) { return grade == HealthGrade::NotKnown ? -1 : static_cast<int>(grade); };
        return rank(a.grade) > rank(b.grade);
    });
    while (m_verdicts.size() < verdicts.size()) {
        auto *label = new QLabel(this);
        label->setObjectName(QStringLiteral("healthVerdict"));
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_advice->addWidget(label);
        m_verdicts.push_back(label);
    }
    for (std::size_t i = 0; i < m_verdicts.size(); ++i) {
        QLabel *label = m_verdicts[i];
        label->setVisible(i < verdicts.size());
        if (i >= verdicts.size())
            continue;
        const GradeLook look = lookOf(verdicts[i].grade);
        label->setText(QString(QChar(look.glyph)) + QStringLiteral("  ") + shown(verdicts[i].sentence));
        if (const QString role = QLatin1String(look.role); label->property("role").toString() != role) {
            label->setProperty("role", role);
            label->style()->unpolish(label);
            label->style()->polish(label);
        }
    }
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
    std::vector<RenewalPoint> session = pointsOf(m_status);
    const Instant known = session.empty() ? now : session.front().at;
    std::vector<RenewalPoint> all = m_past;
    std::erase_if(all, [&](const RenewalPoint &point) { return point.at >= known; });
    all.insert(all.end(), session.begin(), session.end());
    std::vector<LatencyChart::Point> points;
    for (const RenewalPoint &point : decimated(std::move(all), LatencyChart::kMost)) {
        points.push_back({std::chrono::duration<double>(now - point.at).count(),
            std::chrono::duration<double>(point.interval).count(), point.late});
    }
    std::optional<Duration> ttl;
    if (m_status.record.ttl)
        ttl = Duration(*m_status.record.ttl);
    m_chart->setPoints(points, ttl ? std::optional(*ttl * 4 / 5) : std::nullopt, ttl);
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
