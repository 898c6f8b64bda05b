// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/lab_view.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "ui/dialogs/environment_badge.h"
#include "ui/dialogs/tone.h"
#include "ui/lab/belief_strip.h"
#include "ui/lab/instance_kinds.h"
#include "ui/lab/lab_words.h"
#include "ui/theme/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include <cmath>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr auto kRefreshEvery = 200ms;
/// While nobody looks, just often enough that the lanes have no holes.
constexpr auto kSampleEvery = 1000ms;
constexpr int kIdRole = Qt::UserRole;
enum Column { Name, Lease, Life, Belief, Truth, Token_, ValidFor, Fault, Columns };

QString durationWord(Duration duration)
{
    return QString::fromStdString(durationText(duration));
}

} // namespace

LabView::LabView(const Theme &theme, const Clock &clock, Session &session, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_session(session)
{
    setObjectName(QStringLiteral("lab"));
    auto *scroll = new QScrollArea;
    m_strip = new BeliefStrip(theme, clock, this);
    scroll->setWidget(m_strip);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto *lanes = new QLabel(tr("Truth (the backend's word) and below it what each instance believes"));
    setTone(lanes, Tone::Muted);
    auto *all = new QVBoxLayout(this);
    const int frame = theme.unit() * 3;
    all->setContentsMargins(frame, frame, frame, frame);
    all->addWidget(buildHead());
    all->addWidget(buildSpawn());
    all->addWidget(buildTable(), 3);
    all->addWidget(buildActions());
    all->addWidget(lanes);
    all->addWidget(scroll, 2);
    connect(&m_timer, &QTimer::timeout, this, &LabView::refresh);
    connect(&session, &Session::operatorChanged, this, &LabView::showPermission);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &LabView::showPermission);
    showPermission();
    m_timer.start(kSampleEvery);
}

QWidget *LabView::buildHead()
{
    auto *head = new QWidget;
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins({});
    const Environment where = m_session.isSimulated() ? Environment::Sim : m_session.profile().environment;
    row->addWidget(new EnvironmentBadge(where, m_session.profile().name));
    auto *title = new QLabel(m_session.isSimulated()
            ? tr("Simulated instances in a simulated world: nothing here is real")
            : tr("Local instances: real candidates on the real backend"));
    row->addWidget(title);
    row->addStretch();
    m_faults = new QLabel;
    m_faults->setObjectName(QStringLiteral("faults"));
    m_clear = new QPushButton(tr("Clear all faults"));
    m_clear->setObjectName(QStringLiteral("clearFaults"));
    m_clear->setToolTip(tr("Every pause and cut ends (Ctrl+Shift+0)"));
    connect(m_clear, &QPushButton::clicked, this, &LabView::clearFaults);
    row->addWidget(m_faults);
    row->addWidget(m_clear);
    return head;
}

QWidget *LabView::buildSpawn()
{
    auto *bar = new QWidget;
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins({});
    m_count = new QSpinBox;
    m_count->setObjectName(QStringLiteral("count"));
    m_count->setRange(1, 200);
    m_count->setValue(3);
    m_count->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_lease = new QLineEdit(drillPrefix(m_session) + QStringLiteral("lab"));
    m_lease->setObjectName(QStringLiteral("leaseName"));
    m_lease->setMaximumWidth(fontMetrics().averageCharWidth() * 30);
    m_ttl = new QDoubleSpinBox;
    m_ttl->setRange(0.2, 3600);
    m_ttl->setDecimals(1);
    m_ttl->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_ttl->setValue(6);
    m_ttl->setSuffix(tr(" s"));
    m_as = new QComboBox;
    m_as->setObjectName(QStringLiteral("spawnAs"));
    fillInstanceKinds(*m_as, m_session);
    m_as->setVisible(!m_session.isSimulated());
    m_insist = new QCheckBox(tr("Insist on a name outside %1").arg(drillPrefix(m_session)));
    m_insist->setObjectName(QStringLiteral("insist"));
    m_insist->setVisible(!m_session.isSimulated());
    m_spawn = new QPushButton(tr("Start"));
    m_spawn->setObjectName(QStringLiteral("spawn"));
    connect(m_spawn, &QPushButton::clicked, this, &LabView::spawn);
    m_problem = new QLabel;
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setWordWrap(true);
    setTone(m_problem, Tone::Critical);
    for (QWidget *widget : std::initializer_list<QWidget *>{new QLabel(tr("Start")), m_count,
             new QLabel(tr("candidates for")), m_lease, new QLabel(tr("ttl")), m_ttl, m_as, m_insist, m_spawn})
        row->addWidget(widget);
    row->addWidget(m_problem, 1);
    return bar;
}

QWidget *LabView::buildTable()
{
    m_table = new QTableWidget(0, Columns);
    m_table->setObjectName(QStringLiteral("instances"));
    m_table->setAccessibleName(tr("Local instances"));
    m_table->setHorizontalHeaderLabels({tr("Instance"), tr("Lease"), tr("Life"), tr("Believes"),
        tr("Truth"), tr("Token"), tr("Valid for"), tr("Fault")});
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setStretchLastSection(true);
    const int em = fontMetrics().averageCharWidth();
    const std::array widths{20, 30, 24, 30, 34, 24, 12};
    for (std::size_t i = 0; i < widths.size(); ++i)
        m_table->setColumnWidth(static_cast<int>(i), widths[i] * em);
    m_table->setMinimumHeight(m_theme.rowHeight() * 5);
    return m_table;
}

QPushButton *LabView::actionButton(const QString &text, const QString &tip, Act act)
{
    auto *button = new QPushButton(text);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, [this, act] {
        LocalInstances *all = m_session.instances();
        for (const std::uint64_t id : all ? selected() : std::vector<std::uint64_t>())
            (this->*act)(*all, id);
        refresh();
    });
    m_actions.push_back(button);
    return button;
}

QWidget *LabView::buildActions()
{
    auto *bar = new QWidget;
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins({});
    m_faultSeconds = new QSpinBox;
    m_faultSeconds->setRange(1, 600);
    m_faultSeconds->setValue(9);
    m_faultSeconds->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_faultSeconds->setSuffix(tr(" s"));
    m_faultSeconds->setAccessibleName(tr("How long a pause or a cut lasts"));
    row->addWidget(actionButton(tr("&Pause"), tr("Freezes it like SIGSTOP or a long GC, then it goes on"), &LabView::pauseOne));
    row->addWidget(actionButton(tr("C&ut off"), tr("Breaks its connection, then heals it"), &LabView::cutOne));
    row->addWidget(new QLabel(tr("for")));
    row->addWidget(m_faultSeconds);
    row->addWidget(actionButton(tr("L&ift"), tr("Ends its pause and its cut now"), &LabView::liftOne));
    row->addSpacing(m_theme.unit() * 4);
    row->addWidget(actionButton(tr("C&rash"), tr("As SIGKILL: nothing is given back, others wait for expiry"), &LabView::crashOne));
    row->addWidget(actionButton(tr("Re&start"), tr("Starts it again with a new identity"), &LabView::restartOne));
    row->addWidget(actionButton(tr("&Hand over"), tr("Gives the lease back and stays out for a moment"), &LabView::handOverOne));
    row->addWidget(actionButton(tr("S&top"), tr("Drains, gives the lease back, ends"), &LabView::stopOne));
    row->addWidget(actionButton(tr("Re&move"), tr("Stops it and forgets it"), &LabView::removeOne));
    row->addStretch();
    return bar;
}

void LabView::pauseOne(LocalInstances &all, std::uint64_t id)
{
    all.pause(id, std::chrono::seconds(m_faultSeconds->value()));
}

void LabView::cutOne(LocalInstances &all, std::uint64_t id)
{
    for (const InstanceView &view : all.views()) {
        if (view.id == id && !view.whyNotCut.empty())
            say(QString::fromStdString(view.name + " cannot be cut off. " + view.whyNotCut));
    }
    all.cut(id, std::chrono::seconds(m_faultSeconds->value()));
}

void LabView::liftOne(LocalInstances &all, std::uint64_t id)
{
    all.resume(id);
    all.heal(id);
}

bool LabView::mayWrite() const
{
    return m_session.isSimulated() || (m_session.gate() && m_session.gate()->operatorTimeLeft());
}

void LabView::spawn()
{
    LocalInstances *all = m_session.instances();
    if (!all || !mayWrite()) {
        say(tr("Read-only. Nothing was started."));
        return;
    }
    const auto lease = LeaseId::parse(m_lease->text().toStdString());
    TimingRequest request;
    request.ttl = std::chrono::milliseconds(std::llround(m_ttl->value() * 1000));
    const auto timing = Timing::make(request, m_session.traits()->limits);
    if (!lease || !timing) {
        say(QString::fromStdString(lease ? timing.error().text() : lease.error().text()));
        return;
    }
    const auto scope = m_insist->isChecked() ? LocalInstances::Scope::Anywhere
                                             : LocalInstances::Scope::DrillOnly;
    say({});
    for (int i = 0; i < m_count->value(); ++i) {
        const auto id = all->spawn(*lease, *timing, {}, scope, chosenKind(*m_as));
        if (!id) {
            say(QString::fromStdString(id.error().text()));
            break;
        }
    }
    m_session.focus(*lease);
    refresh();
}

void LabView::clearFaults()
{
    if (LocalInstances *all = m_session.instances())
        all->clearFaults();
    refresh();
}

void LabView::say(const QString &problem)
{
    m_problem->setText(problem);
}

std::vector<std::uint64_t> LabView::selected() const
{
    std::vector<std::uint64_t> ids;
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    for (const QModelIndex &row : rows)
        ids.push_back(m_table->item(row.row(), Name)->data(kIdRole).toULongLong());
    return ids;
}

void LabView::refresh()
{
    LocalInstances *all = m_session.instances();
    if (!all)
        return;
    const Instant now = m_clock.now();
    const bool fresh = isFresh(m_session.linkState());
    const std::vector<InstanceView> views = all->views();
    std::map<LeaseId, std::optional<std::string>> truth;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const LeaseStatus *status = m_session.lease(views[i].lease);
        truth[views[i].lease] = status && fresh
            ? std::optional(status->record.holder.value_or(std::string())) : std::nullopt;
    }
    m_strip->sample(now, views, truth);
    if (!isVisible())
        return;
    m_table->setRowCount(static_cast<int>(views.size()));
    for (std::size_t i = 0; i < views.size(); ++i)
        showRow(static_cast<int>(i), views[i], now, fresh);
    showFaults(views, now);
    showPermission();
}

void LabView::showRow(int row, const InstanceView &view, Instant now, bool fresh)
{
    const LeaseStatus *status = m_session.lease(view.lease);
    const bool mistaken = isMistaken(view, status, fresh);
    const QString valid = view.report.believes ? durationWord(view.report.validUntil - now)
                                               : QStringLiteral("–");
    const QString token = view.report.believes ? QString::number(view.report.term.token.value)
                                               : QStringLiteral("–");
    const std::array<QString, Columns> texts{QString::fromStdString(view.name),
        QString::fromStdString(printable(view.lease.name())), lifeText(view), beliefText(view),
        truthText(view, status, fresh), token, valid, faultText(view, now)};
    for (int column = 0; column < Columns; ++column) {
        QTableWidgetItem *item = m_table->item(row, column);
        if (!item) {
            item = new QTableWidgetItem;
            m_table->setItem(row, column, item);
        }
        item->setText(texts[static_cast<std::size_t>(column)]);
        const bool warn = (mistaken && (column == Belief || column == Truth)) || column == Fault;
        item->setForeground(m_theme.color(warn ? Token::Warn
                : view.life == InstanceView::Life::Running ? Token::Text : Token::Muted));
        QFont font = m_table->font();
        font.setBold(column == Belief && view.report.believes);
        item->setFont(font);
    }
    m_table->item(row, Name)->setData(kIdRole, QVariant::fromValue<qulonglong>(view.id));
    m_table->item(row, Name)->setToolTip(QString::fromStdString(view.holder));
    m_table->item(row, Life)->setToolTip(
        view.report.error ? QString::fromStdString(printable(view.report.error->text())) : QString());
}

void LabView::showFaults(const std::vector<InstanceView> &views, Instant now)
{
    QStringList active;
    for (const InstanceView &view : views) {
        if (view.life == InstanceView::Life::Paused || view.cutOff)
            active += QString::fromStdString(view.name) + QLatin1Char(' ') + faultText(view, now);
    }
    const Duration contested = m_strip->contested();
    QString text = active.isEmpty() ? tr("no active faults") : tr("ACTIVE  ") + active.join(QStringLiteral(" · "));
    if (contested > Duration::zero())
        text = tr("✖ CONTESTED for %1 · ").arg(durationWord(contested)) + text;
    m_faults->setText(fontMetrics().elidedText(text, Qt::ElideRight, width() / 2));
    m_faults->setToolTip(text);
    setTone(m_faults, contested > Duration::zero() ? Tone::Critical
            : active.isEmpty() ? Tone::Muted : Tone::Warning);
    m_clear->setEnabled(!active.isEmpty());
}

void LabView::showPermission()
{
    const bool may = mayWrite();
    m_spawn->setEnabled(may && m_session.backend());
    m_spawn->setToolTip(may ? tr("Starts candidates")
                            : tr("Disabled: this connection is read-only. Candidates write to the backend."));
    const bool any = m_table->selectionModel()->hasSelection();
    for (QPushButton *button : m_actions)
        button->setEnabled(any);
}

void LabView::paintEvent(QPaintEvent *)
{
    if (!m_session.isSimulated())
        return;
    QPainter painter(this);
    const int frame = m_theme.unit();
    painter.setPen(QPen(m_theme.color(Token::SimBand), frame));
    painter.drawRect(rect().adjusted(frame / 2, frame / 2, -frame / 2 - 1, -frame / 2 - 1));
}

void LabView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    refresh();
    m_timer.start(kRefreshEvery);
}

void LabView::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_timer.start(kSampleEvery);
}

} // namespace tenure::ui
