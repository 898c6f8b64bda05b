// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/sim_column.h"

#include "ui/dialogs/tone.h"
#include "ui/lab/sim_lanes.h"
#include "ui/lab/work_grid.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <numeric>

namespace tenure::ui
{
namespace
{

using sim::Metric;
using sim::NodeView;

enum Column { Name, Belief, Work, Token_, Wrong, Columns };
constexpr std::size_t kMostRows = 8;

QString lifeWord(NodeView::Life life)
{
    switch (life) {
    case NodeView::Life::Running:
        return {};
    case NodeView::Life::Paused:
        return SimColumn::tr("frozen");
    case NodeView::Life::Hung:
        return SimColumn::tr("work hangs");
    case NodeView::Life::Stopped:
        return SimColumn::tr("stopped");
    case NodeView::Life::Crashed:
        return SimColumn::tr("crashed");
    }
    return {};
}

/// Red when there is any.
constexpr std::array kNeverGood{Metric::BothBelieved, Metric::TwoLeaders, Metric::UnsafeWrites, Metric::Duplicates, Metric::Lost,
    Metric::WrongReleases, Metric::TokenRegressions, Metric::Violations};

QString beliefWords(const NodeView &view)
{
    if (view.client == sim::ClientKind::NoElection)
        return view.works ? SimColumn::tr("▶ asks nobody") : SimColumn::tr("○ its job is done");
    if (!view.claims)
        return SimColumn::tr("○ follower");
    if (view.validFor == Duration::max())
        return SimColumn::tr("● LEADER, no end");
    return SimColumn::tr("● LEADER %1").arg(text(view.validFor));
}

/// A token made of the time is longer than anybody reads: its end tells two apart.
QString tokenWords(FencingToken token)
{
    constexpr int kRead = 8;
    const QString all = QString::number(token.value);
    return all.size() > kRead ? QStringLiteral("…") + all.right(kRead) : all;
}

/// What is wrong with it, if anything: first that it does not run.
QString faultWords(const NodeView &view)
{
    QStringList out;
    if (view.life != NodeView::Life::Running)
        out += lifeWord(view.life);
    if (view.toStoreCut && view.fromStoreCut)
        out += SimColumn::tr("✖ cut off");
    else if (view.toStoreCut || view.fromStoreCut)
        out += view.toStoreCut ? SimColumn::tr("requests lost") : SimColumn::tr("answers lost");
    if (view.queueCut)
        out += SimColumn::tr("cut from queue");
    if (view.wallSkew != Duration::zero())
        out += SimColumn::tr("clock %1%2").arg(view.wallSkew > Duration::zero() ? QStringLiteral("+") : QString(), text(view.wallSkew));
    if (view.ratePpm < 990'000 || view.ratePpm > 1'010'000)
        out += SimColumn::tr("at %1×").arg(static_cast<double>(view.ratePpm) / 1e6);
    return out.join(QStringLiteral(", "));
}

/// The last late write that the resource refused; empty when there was none.
QString refusalOf(const sim::World &world)
{
    for (auto event = world.log().rbegin(); event != world.log().rend(); ++event) {
        if (event->kind != sim::LogEvent::Kind::Rejected || event->node < 0 || event->item < 0)
            continue;
        return SimColumn::tr("⊘ item %1: %2 came late with token %3 and was refused").arg(event->item + 1)
            .arg(shown(world.names()[static_cast<std::size_t>(event->node)])).arg(event->token.value);
    }
    return {};
}

/// "fencing off", and what the clients are where they are specimens: "by its own clock (client_clock)".
QString titleOf(const sim::Setup &setup)
{
    QString out = setup.variant.empty() ? SimColumn::tr("One run") : shown(setup.variant);
    QStringList kinds;
    for (const sim::InstanceSpec &spec : setup.instances) {
        const QString kind = QLatin1String(sim::clientWord(spec.client));
        if (spec.client != sim::ClientKind::Sound && !kinds.contains(kind))
            kinds += kind;
    }
    return kinds.isEmpty() ? out : SimColumn::tr("%1 (%2)").arg(out, kinds.join(QStringLiteral(", ")));
}

} // namespace

SimColumn::SimColumn(const Theme &theme, const sim::Setup &setup, std::uint64_t seed, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_player(setup, seed)
{
    auto *all = new QVBoxLayout(this);
    all->setContentsMargins({});
    all->setSpacing(theme.unit() * 2);
    auto *title = new QLabel(titleOf(setup));
    title->setWordWrap(true);
    title->setFont(theme.font(FontRole::Strong));
    title->setObjectName(QStringLiteral("variant"));
    m_store = new QLabel;
    m_store->setObjectName(QStringLiteral("store"));
    m_table = new QTableWidget(0, Columns);
    m_table->setObjectName(QStringLiteral("simInstances"));
    m_table->setAccessibleName(tr("Simulated instances: %1").arg(title->text()));
    m_table->setHorizontalHeaderLabels({tr("Who"), tr("Believes"), tr("Works"), tr("Token"), tr("Wrong")});
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(theme.rowHeight());
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    if (setup.instances.size() <= kMostRows)
        m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setMinimumWidth(0);
    // The longest that each of them says; what is wrong has all the rest.
    const QString token = setup.tokens == sim::Tokens::Time ? tokenWords(FencingToken{1'750'000'000'000'000}) : tr("Token");
    QString name = tr("Who");
    for (const sim::InstanceSpec &spec : setup.instances)
        name = shown(spec.name).size() > name.size() ? shown(spec.name) : name;
    const std::array longest{name.left(12), tr("● LEADER, no end"), setup.work.items > 0 ? tr("item 888") : tr("Works"), token};
    QFont bold = m_table->font();
    bold.setBold(true);
    for (std::size_t i = 0; i < longest.size(); ++i)
        m_table->setColumnWidth(static_cast<int>(i), QFontMetrics(bold).horizontalAdvance(longest[i]) + 6 * theme.unit());
    const int rows = static_cast<int>(std::min(setup.instances.size(), kMostRows));
    m_table->setFixedHeight(theme.rowHeight() * (rows + 1) + theme.unit() * 5);
    m_lanes = new SimLanes(theme);
    connect(m_lanes, &SimLanes::momentChosen, this, &SimColumn::momentChosen);
    m_work = new WorkGrid(theme);
    m_story = new QLabel;
    m_story->setObjectName(QStringLiteral("story"));
    m_story->setWordWrap(true);
    m_score = new QLabel;
    m_score->setObjectName(QStringLiteral("score"));
    m_score->setTextFormat(Qt::RichText);
    m_verdict = new QLabel;
    m_verdict->setObjectName(QStringLiteral("verdict"));
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setWordWrap(true);
    for (QWidget *one : std::initializer_list<QWidget *>{title, m_store, m_table, m_lanes, m_work, m_story, m_score, m_verdict})
        all->addWidget(one);
    all->addStretch();
    refresh();
}

void SimColumn::refresh()
{
    showStore();
    showInstances();
    m_lanes->show(m_player.world());
    m_work->show(m_player.world());
    const bool twice = !m_work->story().isEmpty();
    m_story->setText(twice ? tr("✖ %1").arg(m_work->story()) : refusalOf(m_player.world()));
    m_story->setVisible(!m_story->text().isEmpty());
    setTone(m_story, twice ? Tone::Critical : Tone::Info);
    showScore();
}

void SimColumn::showStore()
{
    const sim::World &world = m_player.world();
    const sim::StoreView store = world.store();
    QString line = store.holder < 0 ? tr("Store: ▲ VACANT, nobody holds the lease")
        : tr("Store: %1 holds it, token %2, %3 left").arg(shown(world.names()[static_cast<std::size_t>(store.holder)]))
              .arg(store.token.value).arg(text(store.remaining));
    if (store.down)
        line += tr(" · does not answer");
    if (store.slow)
        line += tr(" · slow");
    const sim::ConsoleView console = world.console();
    if (console.on && console.stale)
        line += tr("\nConsole: ◌ STALE, no news for %1").arg(text(console.age));
    else if (console.on)
        line += console.holder < 0 ? tr("\nConsole: ▲ VACANT") : tr("\nConsole: ● HELD by %1").arg(shown(world.names()[static_cast<std::size_t>(console.holder)]));
    if (console.on && !console.stale && console.holder != store.holder)
        line += tr("  ✖ mistaken");
    m_store->setText(line);
    setTone(m_store, store.holder < 0 ? Tone::Critical : Tone::Normal);
}

void SimColumn::showInstances()
{
    const sim::World &world = m_player.world();
    const std::vector<NodeView> nodes = world.nodes();
    const sim::StoreView store = world.store();
    const int rows = static_cast<int>(std::min(nodes.size(), kMostRows));
    m_table->setRowCount(rows);
    // Of many, those first who have something to do with the lease.
    std::vector<int> order(nodes.size());
    std::iota(order.begin(), order.end(), 0);
    if (nodes.size() > kMostRows)
        std::stable_partition(order.begin(), order.end(), [&](int n) { return n == store.holder || nodes[static_cast<std::size_t>(n)].claims; });
    for (int row = 0; row < rows; ++row) {
        const int number = order[static_cast<std::size_t>(row)];
        const NodeView &view = nodes[static_cast<std::size_t>(number)];
        const QString work = view.item >= 0 ? tr("item %1").arg(view.item + 1) : view.works ? tr("yes") : QStringLiteral("–");
        const std::array<QString, Columns> texts{shown(view.name), beliefWords(view), work,
            view.token ? tokenWords(view.token) : QStringLiteral("–"), faultWords(view)};
        const bool mistaken = (view.claims || view.works) != (store.holder == number);
        for (int column = 0; column < Columns; ++column) {
            QTableWidgetItem *item = m_table->item(row, column);
            if (!item) {
                item = new QTableWidgetItem;
                m_table->setItem(row, column, item);
            }
            item->setText(texts[static_cast<std::size_t>(column)]);
            item->setToolTip(item->text());
            const bool warn = (mistaken && (column == Belief || column == Work)) || column == Wrong;
            item->setForeground(m_theme.color(warn ? Token::Warn : Token::Text));
            QFont font = m_table->font();
            font.setBold(column == Belief && view.claims);
            item->setFont(font);
        }
    }
}

void SimColumn::showScore()
{
    const sim::Setup &setup = m_player.world().setup();
    const sim::Scorecard score = m_player.world().scorecard();
    std::vector<Metric> metrics{Metric::TimeWithoutLeader, Metric::BothBelieved, Metric::Transitions};
    if (setup.work.items > 0)
        metrics.insert(metrics.end(), {Metric::ItemsDone, Metric::Duplicates, Metric::UnsafeWrites, Metric::RejectedWrites, Metric::Lost});
    for (const sim::Expectation &expectation : setup.expect) {
        if (std::find(metrics.begin(), metrics.end(), expectation.metric) == metrics.end())
            metrics.push_back(expectation.metric);
    }
    QString html = QStringLiteral("<table cellspacing=0>");
    for (const Metric metric : metrics) {
        const bool bad = score[metric] > 0 && std::find(kNeverGood.begin(), kNeverGood.end(), metric) != kNeverGood.end();
        html += QStringLiteral("<tr><td style='color:%1'>%2&nbsp;&nbsp;&nbsp;</td><td align=right style='color:%3'><b>%4</b></td></tr>")
                    .arg(m_theme.color(Token::Muted).name(), QLatin1String(sim::metricTitle(metric)),
                        m_theme.color(bad ? Token::Crit : Token::Text).name(), QString::fromStdString(sim::metricText(metric, score[metric])));
    }
    m_score->setText(html + QStringLiteral("</table>"));
    QStringList lines;
    if (!m_player.atEnd()) {
        lines += tr("<span style='color:%1'>Judged at the end of the run, at %2.</span>").arg(m_theme.color(Token::Muted).name(), text(m_player.end()));
    } else {
        for (const sim::Verdict &verdict : sim::judge(setup.expect, std::span(&score, 1))) {
            const QString line = QString::fromStdString(verdict.expectation.text).toHtmlEscaped();
            lines += !verdict.judged ? tr("<span style='color:%1'>· %2</span>").arg(m_theme.color(Token::Muted).name(), line)
                : verdict.passed ? QStringLiteral("✓ %1").arg(line)
                : QStringLiteral("<b style='color:%1'>✖ %2</b>, it was %3").arg(m_theme.color(Token::Crit).name(), line, QString::fromStdString(verdict.actual));
        }
    }
    m_verdict->setText(lines.join(QStringLiteral("<br>")));
}

} // namespace tenure::ui
