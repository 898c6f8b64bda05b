// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/drill_view.h"

#include "core/base/text.h"
#include "ui/bridge/save_file.h"
#include "ui/dialogs/environment_badge.h"
#include "ui/dialogs/tone.h"
#include "ui/lab/gap_bars.h"
#include "ui/lab/instance_kinds.h"
#include "ui/theme/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>

#include <cmath>

namespace tenure::ui
{
namespace
{

struct ActWords {
    DrillAct act;
    const char *name;
    const char *note;
};

constexpr ActWords kActs[]{
    {DrillAct::Ask, QT_TRANSLATE_NOOP("DrillView", "Ask the leader to step down"),
        QT_TRANSLATE_NOOP("DrillView", "It drains its work, gives the lease back and stays out for a while.")},
    {DrillAct::Hold, QT_TRANSLATE_NOOP("DrillView", "Hold the lease for operators"),
        QT_TRANSLATE_NOOP("DrillView", "Nobody leads while the hold stands; then the candidates compete.")},
    {DrillAct::Clear, QT_TRANSLATE_NOOP("DrillView", "Clear the lease"),
        QT_TRANSLATE_NOOP("DrillView", "Free at once. The old leader may act until its next renewal: two at a time are possible.")},
    {DrillAct::Pause, QT_TRANSLATE_NOOP("DrillView", "Freeze an own instance"),
        QT_TRANSLATE_NOOP("DrillView", "As SIGSTOP or a long garbage collection: others notice when the lease runs out.")},
    {DrillAct::Crash, QT_TRANSLATE_NOOP("DrillView", "Kill an own instance"),
        QT_TRANSLATE_NOOP("DrillView", "As SIGKILL: nothing is given back; others notice when the lease runs out.")},
};

QDoubleSpinBox *secondsBox(double value, double least, double most, const char *name)
{
    auto *box = new QDoubleSpinBox;
    box->setObjectName(QLatin1String(name));
    box->setRange(least, most);
    box->setDecimals(1);
    box->setValue(value);
    box->setSuffix(DrillView::tr(" s"));
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    return box;
}

QSpinBox *countBox(int value, int least, int most, const char *name)
{
    auto *box = new QSpinBox;
    box->setObjectName(QLatin1String(name));
    box->setRange(least, most);
    box->setValue(value);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    return box;
}

Milliseconds millisecondsOf(const QDoubleSpinBox *box)
{
    return Milliseconds(std::llround(box->value() * 1000));
}

} // namespace

DrillView::DrillView(const Theme &theme, Session &session, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_session(session), m_alive(&session)
{
    setObjectName(QStringLiteral("drill"));
    auto *all = new QVBoxLayout(this);
    const int frame = theme.unit() * 3;
    all->setContentsMargins(frame, frame, frame, frame);
    auto *head = new QHBoxLayout;
    head->addWidget(new EnvironmentBadge(
        session.isSimulated() ? Environment::Sim : session.profile().environment, session.profile().name));
    auto *title = new QLabel(session.isSimulated() ? tr("Failover drill in a simulated world: nothing here is real")
                                                   : tr("Failover drill: the leader is made to go, and what follows is measured"));
    head->addWidget(title);
    head->addStretch();
    all->addLayout(head);
    auto *halves = new QHBoxLayout;
    halves->setSpacing(theme.unit() * 6);
    auto *left = new QVBoxLayout;
    left->addWidget(buildForm());
    left->addWidget(buildButtons());
    left->addStretch();
    halves->addLayout(left, 2);
    halves->addWidget(buildResult(), 3);
    all->addLayout(halves, 1);
    if (session.sharedBackend() && session.sharedGate()) {
        m_runner = new DrillRunner(session.sharedBackend(), session.sharedGate(), processPlaceOf(session.storeUri()), this);
        connect(m_runner, &DrillRunner::checked, this, &DrillView::showChecks);
        connect(m_runner, &DrillRunner::roundDone, this, &DrillView::showRound);
        connect(m_runner, &DrillRunner::finished, this, &DrillView::showEnd);
    }
    connect(&session, &Session::operatorChanged, this, &DrillView::showPermission);
    showAct();
}

DrillView::~DrillView()
{
    mark(std::nullopt);
}

QWidget *DrillView::buildForm()
{
    auto *form = new QWidget;
    auto *rows = new QFormLayout(form);
    rows->setContentsMargins({});
    rows->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    m_lease = new QLineEdit(drillPrefix(m_session) + QStringLiteral("failover"));
    m_lease->setObjectName(QStringLiteral("drillLease"));
    m_insist = new QCheckBox(tr("Insist on a lease outside %1").arg(drillPrefix(m_session)));
    m_insist->setObjectName(QStringLiteral("drillInsist"));
    m_act = new QComboBox;
    m_act->setObjectName(QStringLiteral("drillAct"));
    for (const ActWords &one : kActs)
        m_act->addItem(tr(one.name));
    m_actNote = new QLabel;
    m_actNote->setWordWrap(true);
    setTone(m_actNote, Tone::Muted);
    m_times = countBox(3, 1, 1000, "drillTimes");
    m_limit = secondsBox(5, 0.1, 3600, "drillLimit");
    m_hold = secondsBox(3, 0.1, 3600, "drillHold");
    m_holdName = new QLabel;
    m_own = countBox(3, 0, 50, "drillOwn");
    m_as = new QComboBox;
    m_as->setObjectName(QStringLiteral("drillAs"));
    fillInstanceKinds(*m_as, m_session);
    m_ttl = secondsBox(5, 0.2, 3600, "drillTtl");
    m_reason = new QLineEdit(tr("failover drill"));
    m_reason->setObjectName(QStringLiteral("drillReason"));
    m_typed = new QLineEdit;
    m_typed->setObjectName(QStringLiteral("drillTyped"));
    m_typedName = new QLabel(tr("Type its name"));
    rows->addRow(tr("Lease"), m_lease);
    rows->addRow(QString(), m_insist);
    rows->addRow(tr("How"), m_act);
    rows->addRow(QString(), m_actNote);
    rows->addRow(tr("Rounds"), m_times);
    rows->addRow(tr("Longest gap"), m_limit);
    rows->addRow(m_holdName, m_hold);
    rows->addRow(tr("Own candidates"), m_own);
    rows->addRow(tr("They are"), m_as);
    rows->addRow(tr("Their ttl"), m_ttl);
    rows->addRow(tr("Reason"), m_reason);
    rows->addRow(m_typedName, m_typed);
    m_own->setToolTip(tr("Started before the drill and stopped after it"));
    m_limit->setToolTip(tr("A round with a longer time without a leader fails"));
    for (QLineEdit *edit : {m_lease, m_reason, m_typed})
        connect(edit, &QLineEdit::textChanged, this, &DrillView::showPermission);
    connect(m_insist, &QCheckBox::toggled, this, &DrillView::showPermission);
    connect(m_act, &QComboBox::currentIndexChanged, this, &DrillView::showAct);
    connect(m_own, &QSpinBox::valueChanged, this, &DrillView::showAct);
    return form;
}

QWidget *DrillView::buildButtons()
{
    auto *bar = new QWidget;
    auto *column = new QVBoxLayout(bar);
    column->setContentsMargins({});
    auto *row = new QHBoxLayout;
    m_check = new QPushButton(tr("&Check"));
    m_check->setObjectName(QStringLiteral("drillCheck"));
    m_check->setToolTip(tr("Looks at everything, does nothing"));
    m_begin = new QPushButton(tr("&Begin"));
    m_begin->setObjectName(QStringLiteral("drillBegin"));
    m_abort = new QPushButton(tr("&Abort"));
    m_abort->setObjectName(QStringLiteral("drillAbort"));
    m_abort->setToolTip(tr("Ends the drill and leaves the lease clean"));
    connect(m_check, &QPushButton::clicked, this, &DrillView::check);
    connect(m_begin, &QPushButton::clicked, this, &DrillView::begin);
    connect(m_abort, &QPushButton::clicked, this, &DrillView::abort);
    for (QPushButton *button : {m_check, m_begin, m_abort})
        row->addWidget(button);
    row->addStretch();
    m_why = new QLabel;
    m_why->setObjectName(QStringLiteral("drillWhy"));
    m_why->setWordWrap(true);
    column->addLayout(row);
    column->addWidget(m_why);
    return bar;
}

QWidget *DrillView::buildResult()
{
    auto *inside = new QWidget;
    auto *column = new QVBoxLayout(inside);
    column->setContentsMargins({});
    auto *before = new QLabel(tr("BEFORE"));
    before->setProperty("role", QStringLiteral("caption"));
    column->addWidget(before);
    m_checks = new QVBoxLayout;
    m_checks->setSpacing(m_theme.unit());
    column->addLayout(m_checks);
    column->addSpacing(m_theme.unit() * 4);
    auto *rounds = new QLabel(tr("ROUNDS"));
    rounds->setProperty("role", QStringLiteral("caption"));
    column->addWidget(rounds);
    m_bars = new GapBars(m_theme);
    column->addWidget(m_bars);
    auto *end = new QHBoxLayout;
    m_verdict = new QLabel(tr("No drill was run yet."));
    m_verdict->setObjectName(QStringLiteral("drillVerdict"));
    m_verdict->setWordWrap(true);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_save = new QPushButton(tr("Save report…"));
    m_save->setObjectName(QStringLiteral("drillSave"));
    m_save->setEnabled(false);
    connect(m_save, &QPushButton::clicked, this, &DrillView::askWhere);
    end->addWidget(m_verdict, 1);
    end->addWidget(m_save);
    column->addSpacing(m_theme.unit() * 2);
    column->addLayout(end);
    column->addStretch();
    auto *scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(inside);
    return scroll;
}

void DrillView::setLease(const LeaseId &lease)
{
    if (isRunning())
        return;
    m_lease->setText(QString::fromStdString(lease.name()));
    const bool outside = isOutside(QString::fromStdString(lease.name()));
    m_own->setValue(outside ? 0 : 3);
    showPermission();
}

void DrillView::showAct()
{
    const ActWords &words = kActs[m_act->currentIndex()];
    m_actNote->setText(tr(words.note));
    const bool holds = words.act == DrillAct::Hold || words.act == DrillAct::Ask;
    m_holdName->setText(words.act == DrillAct::Hold ? tr("Hold for") : tr("Stays out for"));
    m_hold->setVisible(holds);
    m_holdName->setVisible(holds);
    m_ttl->setEnabled(m_own->value() > 0);
    m_as->setEnabled(m_own->value() > 0 && m_as->count() > 1);
    showPermission();
}

bool DrillView::isOutside(const QString &name) const
{
    const auto lease = LeaseId::parse(name.toStdString());
    return !lease || !m_session.traits() || !isDrillLease(*m_session.traits(), *lease);
}

QString DrillView::whyNot() const
{
    if (!m_runner)
        return tr("This connection cannot be used: see its error.");
    if (!m_session.gate()->operatorTimeLeft())
        return tr("Read-only. Switch the connection to operator mode to begin.");
    const QString name = m_lease->text();
    const bool outside = isOutside(name);
    if (const auto lease = LeaseId::parse(name.toStdString()); !lease)
        return QString::fromStdString(lease.error().text());
    if (m_session.isSimulated() || !outside)
        return {};
    if (!m_insist->isChecked())
        return tr("Drills stay under %1 unless you insist.").arg(drillPrefix(m_session));
    return m_typed->text() == name ? QString() : tr("Type the name of the lease to begin.");
}

void DrillView::showPermission()
{
    const bool outside = !m_session.isSimulated() && isOutside(m_lease->text());
    m_insist->setVisible(outside);
    m_typed->setVisible(outside);
    m_typedName->setVisible(outside);
    const QString why = whyNot();
    m_why->setText(isRunning() ? tr("Running. Abort leaves the lease clean.") : why);
    setTone(m_why, isRunning() ? Tone::Info : Tone::Muted);
    m_check->setEnabled(m_runner && !isRunning());
    m_begin->setEnabled(why.isEmpty() && !isRunning());
    m_abort->setEnabled(isRunning());
}

std::optional<DrillRunner::Request> DrillView::request()
{
    const auto lease = LeaseId::parse(m_lease->text().toStdString());
    const auto timing = Timing::make({.ttl = millisecondsOf(m_ttl)}, m_session.traits()->limits);
    if (!lease || !timing) {
        Q_EMIT problem(QString::fromStdString(lease ? timing.error().text() : lease.error().text()));
        return std::nullopt;
    }
    DrillRunner::Request out{{}, *timing, LocalInstances::Scope::DrillOnly};
    out.plan.lease = *lease;
    out.plan.act = kActs[m_act->currentIndex()].act;
    out.plan.times = m_times->value();
    out.plan.own = m_own->value();
    out.plan.maxGap = millisecondsOf(m_limit);
    out.plan.hold = millisecondsOf(m_hold);
    out.plan.by = operatorName().toStdString();
    out.plan.reason = m_reason->text().toStdString();
    out.as = chosenKind(*m_as);
    if (m_insist->isChecked())
        out.scope = LocalInstances::Scope::Anywhere;
    return out;
}

void DrillView::check()
{
    const auto wanted = m_runner ? request() : std::nullopt;
    if (wanted)
        m_runner->check(*wanted);
}

void DrillView::begin()
{
    const auto wanted = whyNot().isEmpty() ? request() : std::nullopt;
    if (!wanted || isRunning())
        return;
    m_report.reset();
    m_save->setEnabled(false);
    m_bars->begin(wanted->plan.maxGap, wanted->plan.times);
    m_verdict->setText(tr("Running…"));
    setTone(m_verdict, Tone::Normal);
    mark(wanted->plan.lease);
    m_runner->start(*wanted);
    showPermission();
}

void DrillView::mark(const std::optional<LeaseId> &lease)
{
    if (m_drilled && m_alive)
        m_session.setDrilled(*m_drilled, false);
    m_drilled = lease;
    if (m_drilled && m_alive)
        m_session.setDrilled(*m_drilled, true);
}

void DrillView::abort()
{
    if (!isRunning())
        return;
    m_runner->abort();
    m_abort->setEnabled(false);
    m_verdict->setText(tr("Aborting: the lease is being cleaned up…"));
}

void DrillView::showChecks(const std::vector<DrillCheck> &checks)
{
    while (QLayoutItem *item = m_checks->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    std::vector<DrillCheck> all = checks;
    if (m_session.profile().environment == Environment::Production && !m_session.isSimulated())
        all.insert(all.begin(), {DrillCheck::Grade::Warning, tr("This is PRODUCTION").toStdString()});
    for (const DrillCheck &check : all) {
        const bool good = check.grade == DrillCheck::Grade::Good;
        const bool stop = check.grade == DrillCheck::Grade::Stop;
        auto *line = new QLabel((good ? QStringLiteral("✓  ") : stop ? tr("✖ STOP  ") : tr("! WARNING  "))
            + QString::fromStdString(check.sentence));
        line->setTextFormat(Qt::PlainText);
        line->setWordWrap(true);
        setTone(line, good ? Tone::Normal : stop ? Tone::Critical : Tone::Warning);
        m_checks->addWidget(line);
    }
}

void DrillView::showRound(const DrillRound &round)
{
    m_bars->add(round);
}

void DrillView::showEnd(const DrillReport &report)
{
    m_report = report;
    mark(std::nullopt);
    if (!report.checks.empty())
        showChecks(report.checks);
    m_verdict->setText(QString::fromStdString(report.verdict()));
    m_verdict->setFont(m_theme.font(FontRole::Strong));
    setTone(m_verdict, report.passed() ? Tone::Normal : Tone::Critical);
    m_save->setEnabled(!report.rounds.empty());
    showPermission();
}

void DrillView::askWhere()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("Save the drill's report"),
        QStringLiteral("drill.html"), tr("HTML (*.html);;Markdown (*.md)"));
    if (!path.isEmpty())
        saveReport(path);
}

void DrillView::saveReport(const QString &path)
{
    if (!m_report)
        return;
    const bool html = path.endsWith(QLatin1String(".html"), Qt::CaseInsensitive);
    const std::string text = html ? drillHtml(*m_report) : drillMarkdown(*m_report);
    saveFile(path, QByteArray::fromStdString(text), this, [this, path](const QString &why) {
        if (why.isEmpty())
            Q_EMIT told(tr("The report is in %1").arg(path));
        else
            Q_EMIT problem(tr("The report was not saved: %1").arg(why));
    });
}

void DrillView::paintEvent(QPaintEvent *)
{
    if (!m_session.isSimulated())
        return;
    QPainter painter(this);
    const int frame = m_theme.unit();
    painter.setPen(QPen(m_theme.color(Token::SimBand), frame));
    painter.drawRect(rect().adjusted(frame / 2, frame / 2, -frame / 2 - 1, -frame / 2 - 1));
}

} // namespace tenure::ui
