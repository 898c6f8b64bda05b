// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_panel.h"

#include "ui/bridge/history.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMostMarks = 200;

} // namespace

TimelinePanel::TimelinePanel(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_strip(new DensityStrip(theme, clock, this)), m_summary(new QLabel(this)),
      m_export(new TimelineExport(theme, clock, *m_strip, [this] { return choice(); }, this))
{
    setObjectName(QStringLiteral("timelinePanel"));
    const int unit = theme.unit();
    m_summary->setObjectName(QStringLiteral("timelineSummary"));
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setMinimumWidth(20 * unit);
    m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    useFont(m_summary, theme, FontRole::Small);
    auto *row = new QHBoxLayout;
    row->setContentsMargins(2 * unit, 0, 2 * unit, 0);
    row->setSpacing(unit);
    for (const auto &[text, span] : {std::pair(tr("1 h"), Duration(1h)), std::pair(tr("24 h"), Duration(24h)),
             std::pair(tr("7 d"), Duration(24h * 7)), std::pair(tr("30 d"), Duration(24h * 30))}) {
        QPushButton *one = button("timelineSpan", text, tr("The last %1").arg(text));
        connect(one, &QPushButton::clicked, this, [this, span = span] { m_strip->showSpan(span); });
        row->addWidget(one);
    }
    QPushButton *now = button("timelineNow", tr("Now"), tr("Follow the present (Home)"));
    QPushButton *back = button("timelineBack", tr("Back"), tr("The view before (Alt+Left)"));
    QPushButton *copy = button("timelineCopy", tr("Copy summary"), {});
    QPushButton *out = button("timelineExport", tr("Export"), tr("A picture, the changes, or the report of an incident"));
    out->setMenu(m_export->menu());
    connect(now, &QPushButton::clicked, m_strip, &TimeAxis::followNow);
    connect(back, &QPushButton::clicked, m_strip, &TimeAxis::goBack);
    connect(copy, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(summaryText());
        Q_EMIT told(tr("Copied the summary."));
    });
    connect(m_export, &TimelineExport::told, this, &TimelinePanel::told);
    connect(m_export, &TimelineExport::problem, this, &TimelinePanel::problem);
    row->addWidget(now);
    row->addWidget(back);
    row->addSpacing(2 * unit);
    row->addWidget(m_summary, 1);
    row->addWidget(copy);
    row->addWidget(out);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, unit / 2, 0, 0);
    column->setSpacing(unit / 2);
    column->addLayout(row);
    column->addWidget(m_strip, 1);
    m_askSoon.setSingleShot(true);
    connect(&m_askSoon, &QTimer::timeout, this, [this] { ask(); });
    connect(&m_follow, &QTimer::timeout, this, [this] { ask(); });
    const auto moved = [this] {
        m_askSoon.start(60ms);
        showSummary();
    };
    connect(m_strip, &TimeAxis::viewChanged, this, moved);
    connect(m_strip, &TimeAxis::selectionChanged, this, moved);
}

QPushButton *TimelinePanel::button(const char *name, const QString &text, const QString &tip)
{
    auto *out = new QPushButton(text, this);
    out->setObjectName(QLatin1String(name));
    out->setProperty("quiet", true);
    out->setToolTip(tip);
    return out;
}

QSize TimelinePanel::sizeHint() const
{
    return {m_strip->sizeHint().width(), m_strip->sizeHint().height() + m_theme.rowHeight() + m_theme.unit()};
}

void TimelinePanel::setHistory(const QString &id, History *history, const std::string &journalId, Surroundings where)
{
    Past &past = m_pasts[id];
    past.simulated = where == Surroundings::Sim;
    past.history = history;
    past.journalId = journalId;
    past.topic = m_lastTopic += 2;
    m_askSoon.start(0ms);
}

void TimelinePanel::setConnection(const QString &id, const QString &name, std::vector<Instant> times, Instant since)
{
    m_pasts[id].name = name;
    m_strip->setConnection(id, name, std::move(times), since);
    showSummary();
}

void TimelinePanel::removeConnection(const QString &id)
{
    m_pasts.erase(id);
    m_strip->removeConnection(id);
}

TimeSpan TimelinePanel::chosen() const
{
    if (m_strip->selection() && m_strip->selection()->length() > Duration::zero())
        return *m_strip->selection();
    const SwimWindow view = m_strip->window();
    return {view.from, std::min(view.until, m_clock.now())};
}

TimelineChoice TimelinePanel::choice() const
{
    TimelineChoice out;
    const TimeSpan span = chosen();
    out.window = {wallOf(span.from, m_clock), wallOf(span.until, m_clock)};
    for (const auto &[id, past] : m_pasts) {
        const auto same = std::find_if(out.subjects.begin(), out.subjects.end(),
            [&past = past](const TimelineSubject &one) { return past.history != nullptr && one.history == past.history; });
        if (same == out.subjects.end()) {
            out.subjects.push_back({past.name, past.simulated, past.history, {}});
            out.subjects.back().filter.connection = past.journalId;
        } else { // two connections of one journal are one export
            same->title += QStringLiteral(", ") + past.name;
            same->filter.connection.clear();
        }
    }
    return out;
}

void TimelinePanel::ask()
{
    for (auto &[id, past] : m_pasts) {
        if (past.history != nullptr)
            ask(id, past);
    }
}

void TimelinePanel::ask(const QString &id, Past &past)
{
    const SwimWindow view = m_strip->window();
    const TimeWindow window{wallOf(view.from, m_clock), wallOf(view.until, m_clock)};
    const int pixels = std::max(10, static_cast<int>(view.width) / 3);
    past.history->ask(this, past.topic, [this, id, journalId = past.journalId, window, pixels](JournalQuery &query) -> History::Answer {
        auto cells = std::make_shared<Result<std::vector<DensityCell>>>(query.density(journalId, window, pixels));
        const JournalFilter filter{journalId, "*", window.from, window.to};
        auto actions = std::make_shared<Result<std::vector<JournalAction>>>(query.actions(filter, 0, kMostMarks));
        auto alerts = std::make_shared<Result<std::vector<JournalAlert>>>(query.alerts(filter, 0, kMostMarks));
        return [this, id, cells, actions, alerts] {
            if (cells->has_value())
                m_strip->setHistory(id, **cells);
            m_strip->setMarks(id, marksOf(actions->value_or(std::vector<JournalAction>{}), alerts->value_or(std::vector<JournalAlert>{}), m_clock));
            showSummary();
        };
    });
    const TimeSpan span = chosen();
    const TimeWindow asked{wallOf(span.from, m_clock), wallOf(span.until, m_clock)};
    past.history->ask(this, past.topic + 1, [this, id, journalId = past.journalId, asked, span](JournalQuery &query) -> History::Answer {
        JournalFilter filter;
        filter.connection = journalId;
        const auto summary = query.summary(filter, asked);
        if (!summary)
            return {};
        return [this, id, known = *summary, span] {
            if (const auto found = m_pasts.find(id); found != m_pasts.end()) {
                found->second.known = known;
                found->second.span = span;
            }
            showSummary();
        };
    });
}

QString TimelinePanel::summaryText() const
{
    const TimeSpan span = chosen();
    SwimSummary counted = m_strip->summary(span);
    const auto near = [](Instant a, Instant b) { return a - b < 6s && b - a < 6s; };
    QString more;
    WindowSummary sum;
    for (const auto &[id, past] : m_pasts) {
        if (!near(past.span.from, span.from) || !near(past.span.until, span.until))
            continue;
        sum.transitions += past.known.transitions;
        sum.longestGap = std::max(sum.longestGap, past.known.longestGap);
        sum.actions += past.known.actions;
        sum.alerts += past.known.alerts;
    }
    counted.transitions = std::max(counted.transitions, sum.transitions);
    counted.longestGap = std::max(counted.longestGap, sum.longestGap);
    if (sum.actions > 0)
        more += tr(", %1 by operators").arg(sum.actions);
    if (sum.alerts > 0)
        more += sum.alerts == 1 ? tr(", 1 alert") : tr(", %1 alerts").arg(sum.alerts);
    const bool selected = m_strip->selection() && m_strip->selection()->length() > Duration::zero();
    QString out = (selected ? tr("Selection, %1: ") : tr("Shown, %1: ")).arg(text(span.length()))
        + (counted.transitions == 1 ? tr("1 change") : tr("%1 changes").arg(counted.transitions)) + more;
    if (counted.longestGap > Duration::zero())
        out += tr(", longest gap %1").arg(text(counted.longestGap));
    if (counted.notObserved > 1min)
        out += tr(", %1 not observed").arg(text(counted.notObserved));
    return out;
}

void TimelinePanel::showSummary()
{
    const QString full = summaryText();
    m_summary->setText(m_summary->fontMetrics().elidedText(full, Qt::ElideRight, std::max(m_summary->width(), 40 * m_theme.unit())));
    m_summary->setToolTip(full);
}

void TimelinePanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_askSoon.start(0ms);
    m_follow.start(10s);
}

void TimelinePanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_follow.stop();
}

} // namespace tenure::ui
