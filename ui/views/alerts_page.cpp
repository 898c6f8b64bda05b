// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/alerts_page.h"

#include "ui/bridge/history.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/walk_keys.h"

#include <QHeaderView>
#include <QLabel>
#include <QTabWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMostAlerts = 500;

QString lifeText(const JournalAlert &alert, WallTime today)
{
    QStringList steps;
    for (const AlertStep &step : alert.steps) {
        QString one = timeText(step.at, today) + QLatin1Char(' ') + text(std::string_view(alertStateWord(step.state)));
        if (!step.by.empty())
            one += AlertsPage::tr(" by %1").arg(shown(step.by));
        if (!step.reason.empty())
            one += QStringLiteral(" (\u201C%1\u201D)").arg(shown(step.reason));
        steps << one;
    }
    return steps.join(QStringLiteral(" \u2192 "));
}

} // namespace

AlertsPage::AlertsPage(const Theme &theme, const Clock &clock, const RuleBook &book, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_editor(new RulesEditor(theme, clock, book, this)),
      m_tabs(new QTabWidget(this)), m_past(new QTreeWidget(this)), m_empty(new QLabel(this))
{
    setObjectName(QStringLiteral("alertsPage"));
    m_past->setObjectName(QStringLiteral("alertsPast"));
    m_past->setAccessibleName(tr("Alerts of the past"));
    m_past->setRootIsDecorated(false);
    m_past->setUniformRowHeights(true);
    m_past->setFrameShape(QFrame::NoFrame);
    m_past->header()->setStretchLastSection(true);
    walkWithJK(m_past);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setProperty("role", QStringLiteral("caption"));
    auto *past = new QWidget(this);
    auto *column = new QVBoxLayout(past);
    column->setContentsMargins({});
    column->addWidget(m_past, 1);
    column->addWidget(m_empty, 1);
    m_tabs->setObjectName(QStringLiteral("alertsPageTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_editor, tr("Rules"));
    m_tabs->addTab(past, tr("History"));
    auto *all = new QVBoxLayout(this);
    all->setContentsMargins({});
    all->addWidget(m_tabs);
    connect(m_tabs, &QTabWidget::currentChanged, this, &AlertsPage::reload);
    connect(&theme, &Theme::changed, this, &AlertsPage::fillPast);
    connect(m_editor, &RulesEditor::previewAsked, this, &AlertsPage::preview);
    connect(m_editor, &RulesEditor::saveAsked, this, [this] { Q_EMIT saved(m_editor->book()); });
    fillPast();
}

void AlertsPage::setSource(const QString &name, History *history, const std::string &journalId)
{
    Source &source = m_sources[name];
    source.history = history;
    source.journalId = journalId;
    source.topic = m_lastTopic += 2;
    if (isVisible())
        reload();
}

void AlertsPage::removeSource(const QString &name)
{
    m_sources.erase(name);
    fillPast();
}

void AlertsPage::showTab(Tab tab)
{
    m_tabs->setCurrentIndex(tab);
}

void AlertsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    reload();
}

void AlertsPage::reload()
{
    if (m_tabs->currentIndex() != Past)
        return;
    for (auto &[name, source] : m_sources) {
        if (source.history == nullptr)
            continue;
        source.history->ask(this, source.topic, [this, name = name, id = source.journalId](JournalQuery &query) -> History::Answer {
            JournalFilter filter;
            filter.connection = id;
            auto found = std::make_shared<Result<std::vector<JournalAlert>>>(query.alerts(filter, 0, kMostAlerts));
            return [this, name, found] {
                const auto known = m_sources.find(name);
                if (known == m_sources.end() || !found->has_value())
                    return;
                known->second.alerts = std::move(**found);
                fillPast();
            };
        });
    }
    fillPast();
}

void AlertsPage::fillPast()
{
    std::vector<std::pair<QString, const JournalAlert *>> all;
    bool kept = false;
    for (const auto &[name, source] : m_sources) {
        kept = kept || source.history != nullptr;
        for (const JournalAlert &alert : source.alerts)
            all.emplace_back(name, &alert);
    }
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a.second->firstAt > b.second->firstAt; });
    m_past->setHeaderLabels({tr("First (%1)").arg(zoneText()), tr("P"), tr("Rule"), tr("Connection"), tr("Lease"), tr("What"), tr("State"), tr("Life")});
    m_past->clear();
    const WallTime today = m_clock.wall();
    for (const auto &[name, alert] : all) {
        auto *item = new QTreeWidgetItem(m_past, {timeText(alert->firstAt, today), QStringLiteral("P%1").arg(alert->priority),
            shown(alert->rule).toUpper(), name, alert->lease.lease.name().empty() ? tr("(the connection)") : shown(alert->lease.lease.name()),
            shown(alert->text), text(std::string_view(alertStateWord(alert->state))), lifeText(*alert, today)});
        item->setSizeHint(0, {0, m_theme.rowHeight()});
        item->setToolTip(7, item->text(7));
        item->setToolTip(5, item->text(5));
    }
    constexpr int widths[]{36, 10, 32, 28, 44, 50, 26, 60};
    for (int i = 0; i < 8; ++i)
        m_past->setColumnWidth(i, widths[i] * m_theme.unit());
    m_past->setVisible(!all.empty());
    m_empty->setVisible(all.empty());
    m_empty->setText(kept ? tr("No alert was journaled yet.") : tr("Nothing is journaled for the connections that are open, so there is no history of alerts."));
}

void AlertsPage::preview()
{
    bool asked = false;
    const WallTime now = m_clock.wall();
    const TimeWindow window{now - std::chrono::duration_cast<std::chrono::microseconds>(24h), now};
    for (auto &[name, source] : m_sources) {
        source.preview.reset();
        if (source.history == nullptr)
            continue;
        asked = true;
        source.history->ask(this, source.topic + 1,
            [this, name = name, id = source.journalId, window, book = m_editor->book()](JournalQuery &query) -> History::Answer {
                JournalFilter filter;
                filter.connection = id;
                auto result = whatWouldHaveFired(book, query, filter, window);
                if (!result)
                    return [this, why = QString::fromStdString(result.error().text())] { m_editor->showPreviewProblem(why); };
                return [this, name, result = std::move(*result)] {
                    if (const auto known = m_sources.find(name); known != m_sources.end())
                        known->second.preview = result;
                    joinPreviews();
                };
            });
    }
    if (!asked)
        m_editor->showPreviewProblem(tr("Nothing is journaled for the connections that are open: there is no last day to look at."));
}

void AlertsPage::joinPreviews()
{
    RulePreview sum;
    for (const auto &[name, source] : m_sources) {
        if (source.preview)
            sum.add(*source.preview);
    }
    m_editor->showPreview(sum);
}

} // namespace tenure::ui
