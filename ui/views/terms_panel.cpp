// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/terms_panel.h"

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

enum Topic { TermsTopic, SummaryTopic };
constexpr std::size_t kMostMarks = 400;

} // namespace

TermsPanel::TermsPanel(
    const Theme &theme, const Clock &clock, ConnectionInfo connection, LeaseId lease, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_connection(std::move(connection)), m_lease(std::move(lease)),
      m_lane(new Swimlane(theme, clock, this)), m_summary(new QLabel(this)),
      m_export(new TimelineExport(theme, clock, *m_lane, [this] { return choice(); }, this))
{
    connect(m_export, &TimelineExport::told, this, &TermsPanel::told);
    connect(m_export, &TimelineExport::problem, this, &TermsPanel::problem);
    setObjectName(QStringLiteral("termsPanel"));
    const int unit = theme.unit();
    m_summary->setObjectName(QStringLiteral("termsSummary"));
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *spans = new QHBoxLayout;
    spans->setSpacing(unit);
    for (const auto &[text, span] : {std::pair(tr("10 min"), Duration(10min)), std::pair(tr("1 h"), Duration(1h)),
             std::pair(tr("24 h"), Duration(24h)), std::pair(tr("7 d"), Duration(24h * 7))}) {
        connect(button("termsSpan", text, tr("The last %1").arg(text)), &QPushButton::clicked, this, [this, span = span] { m_lane->showSpan(span); });
    }
    connect(button("termsNow", tr("Now"), tr("Follow the present (Home)")), &QPushButton::clicked, m_lane, &TimeAxis::followNow);
    connect(button("termsBack", tr("Back"), tr("The view before (Alt+Left)")), &QPushButton::clicked, m_lane, &TimeAxis::goBack);
    connect(button("termsCopy", tr("Copy summary"), {}), &QPushButton::clicked, this, &TermsPanel::copySummary);
    button("termsExport", tr("Export"), tr("A picture, the changes, or the report of an incident"))->setMenu(m_export->menu());
    int at = 0;
    for (QPushButton *one : findChildren<QPushButton *>(QString(), Qt::FindDirectChildrenOnly)) {
        if (at++ == 6)
            spans->addStretch(1);
        spans->addWidget(one);
    }
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins({});
    column->setSpacing(unit);
    column->addLayout(spans);
    column->addWidget(m_lane);
    column->addWidget(m_summary);
    column->addStretch(1);

    m_askSoon.setSingleShot(true);
    connect(&m_askSoon, &QTimer::timeout, this, &TermsPanel::ask);
    connect(&m_follow, &QTimer::timeout, this, &TermsPanel::ask);
    connect(m_lane, &TimeAxis::viewChanged, this, [this] {
        m_askSoon.start(60ms);
        showSummary();
    });
    connect(m_lane, &TimeAxis::selectionChanged, this, [this] {
        m_askSoon.start(60ms);
        showSummary();
    });
}

QPushButton *TermsPanel::button(const char *name, const QString &text, const QString &tip)
{
    auto *out = new QPushButton(text, this);
    out->setObjectName(QLatin1String(name));
    out->setProperty("quiet", true);
    out->setToolTip(tip);
    return out;
}

void TermsPanel::setLease(const LeaseStatus &status)
{
    m_lane->setLease(status);
    showSummary();
}

void TermsPanel::setHistory(History *history, const std::string &journalId)
{
    m_history = history;
    m_journalId = journalId;
    if (isVisible())
        m_askSoon.start(0ms);
}

TimeSpan TermsPanel::chosen() const
{
    if (m_lane->selection() && m_lane->selection()->length() > Duration::zero())
        return *m_lane->selection();
    const SwimWindow view = m_lane->window();
    return {view.from, std::min(view.until, m_clock.now())};
}

TimeWindow TermsPanel::wallWindow(TimeSpan span) const
{
    return {wallOf(span.from, m_clock), wallOf(span.until, m_clock)};
}

void TermsPanel::ask()
{
    if (m_history == nullptr)
        return;
    const SwimWindow view = m_lane->window();
    // Half a view more at either side, so that a drag shows something before the answer is there.
    const Duration margin = (view.until - view.from) / 2;
    const TimeWindow window = wallWindow({view.from - margin, view.until + margin});
    const int pixels = static_cast<int>(view.width) * 2;
    const LeaseKey key{m_journalId, m_lease};
    m_history->ask(this, TermsTopic, [this, key, window, pixels](JournalQuery &query) -> History::Answer {
        auto lane = std::make_shared<Result<TermLane>>(query.terms(key, window, pixels));
        const JournalFilter filter{key.connection, key.lease.name(), window.from, window.to};
        auto actions = std::make_shared<Result<std::vector<JournalAction>>>(query.actions(filter, 0, kMostMarks));
        auto alerts = std::make_shared<Result<std::vector<JournalAlert>>>(query.alerts(filter, 0, kMostMarks));
        return [this, lane, actions, alerts] {
            if (!lane->has_value())
                return;
            auto deeds = actions->value_or(std::vector<JournalAction>{});
            auto raised = alerts->value_or(std::vector<JournalAlert>{});
            std::erase_if(deeds, [this](const JournalAction &one) { return one.lease.lease != m_lease; });
            std::erase_if(raised, [this](const JournalAlert &one) { return one.lease.lease != m_lease; });
            m_lane->setHistory(stretchesOf(**lane, m_clock), marksOf(deeds, raised, m_clock));
            showSummary();
        };
    });
    askSummary();
}

void TermsPanel::askSummary()
{
    const TimeSpan span = chosen();
    m_history->ask(this, SummaryTopic,
        [this, key = LeaseKey{m_journalId, m_lease}, window = wallWindow(span), span](JournalQuery &query) -> History::Answer {
            auto found = std::make_shared<Result<WindowSummary>>(query.summary(key, window));
            return [this, found, span] {
                if (!found->has_value())
                    return;
                m_known = **found;
                m_knownSpan = span;
                showSummary();
            };
        });
}

QString TermsPanel::summaryText() const
{
    const TimeSpan span = chosen();
    SwimSummary counted = summaryOf(m_lane->stretches(), span.from, span.until);
    // The journal counts also what is too narrow to be drawn apart.
    const auto near = [](Instant a, Instant b) { return a - b < 2s && b - a < 2s; };
    if (m_known && near(m_knownSpan.from, span.from) && near(m_knownSpan.until, span.until)) {
        counted.transitions = std::max(counted.transitions, m_known->transitions);
        counted.leaderless = std::max(counted.leaderless, m_known->leaderless);
        counted.longestGap = std::max(counted.longestGap, m_known->longestGap);
    }
    const bool selected = m_lane->selection() && m_lane->selection()->length() > Duration::zero();
    const QString when = stampText(wallOf(span.from, m_clock), m_clock.wall()) + QStringLiteral(" – ")
        + stampText(wallOf(span.until, m_clock), m_clock.wall());
    QString out = (selected ? tr("Selection %1 (%2): ") : tr("Shown %1 (%2): ")).arg(when, text(span.length()))
        + (counted.transitions == 1 ? tr("1 change") : tr("%1 changes").arg(counted.transitions));
    if (counted.leaderless > Duration::zero()) {
        out += tr(", %1 without leader").arg(text(counted.leaderless));
        if (counted.longestGap > Duration::zero() && counted.longestGap < counted.leaderless)
            out += tr(", longest %1").arg(text(counted.longestGap));
    } else {
        out += tr(", never without leader as far as it was observed");
    }
    if (counted.notObserved > Duration::zero())
        out += tr(", %1 not observed").arg(text(counted.notObserved));
    return out;
}

void TermsPanel::showSummary()
{
    m_summary->setText(summaryText());
}

void TermsPanel::copySummary()
{
    const QString sim = m_connection.where == Surroundings::Sim ? QStringLiteral("SIM ") : QString();
    QGuiApplication::clipboard()->setText(
        QStringLiteral("%1%2 / %3. %4").arg(sim, m_connection.name, shown(m_lease.name()), summaryText()));
    Q_EMIT told(tr("Copied the summary."));
}

TimelineChoice TermsPanel::choice() const
{
    TimelineSubject mine;
    mine.title = m_connection.name + QStringLiteral(" / ") + shown(m_lease.name());
    mine.simulated = m_connection.where == Surroundings::Sim;
    mine.history = m_history;
    mine.filter.connection = m_journalId;
    mine.filter.glob = m_lease.name();
    return {{mine}, wallWindow(chosen())};
}

void TermsPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_askSoon.start(0ms);
    m_follow.start(5s);
}

void TermsPanel::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_follow.stop();
}

} // namespace tenure::ui
