// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/trainee_window.h"

#include "ui/dialogs/environment_badge.h"
#include "ui/dialogs/tone.h"
#include "ui/lab/card_panel.h"
#include "ui/lab/sim_column.h"
#include "ui/lab/sim_lab.h"
#include "ui/lab/sim_lanes.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

using sim::LogEvent;

constexpr int kMostEvents = 12;
constexpr int kMostHints = 2;

/// What a console of its own would have seen; empty for what only the simulation knows.
QString seenWord(LogEvent::Kind kind)
{
    switch (kind) {
    case LogEvent::Kind::Held:
        return TraineeWindow::tr("● HELD");
    case LogEvent::Kind::Released:
        return TraineeWindow::tr("◇ released");
    case LogEvent::Kind::Expired:
        return TraineeWindow::tr("▲ ran out");
    case LogEvent::Kind::Cleared:
        return TraineeWindow::tr("▲ released by an operator");
    case LogEvent::Kind::Lost:
        return TraineeWindow::tr("▲ gone from the store");
    default:
        return {};
    }
}

/// The sentences of a teaching text.
QStringList sentencesOf(const std::string &teach)
{
    return shown(teach).split(QStringLiteral(". "), Qt::SkipEmptyParts);
}

} // namespace

TraineeWindow::TraineeWindow(const Theme &theme, SimLab &lab)
    : QWidget(&lab, Qt::Window), m_theme(theme), m_lab(lab)
{
    setObjectName(QStringLiteral("trainee"));
    setWindowTitle(tr("◇ SIM ◇ Trainee"));
    setAutoFillBackground(true);
    auto *all = new QVBoxLayout(this);
    const int frame = theme.unit() * 3;
    all->setContentsMargins(frame, frame, frame, frame);
    all->setSpacing(frame);
    all->addWidget(buildHead());
    all->addWidget(buildView(), 1);
    m_card = new CardPanel;
    connect(m_card, &CardPanel::answered, this, &TraineeWindow::noteAnswer);
    connect(m_card, &CardPanel::goOn, this, &TraineeWindow::goOn);
    all->addWidget(m_card);
    auto *answers = new QWidget;
    answers->setObjectName(QStringLiteral("answers"));
    m_answers = new QVBoxLayout(answers);
    m_answers->setContentsMargins({});
    all->addWidget(answers);
    all->addWidget(buildActions());
    m_lanes = new SimLanes(theme);
    m_lanes->hide();
    all->addWidget(m_lanes);
    resize(fontMetrics().averageCharWidth() * 120, theme.rowHeight() * 24);
    forget();
}

QWidget *TraineeWindow::buildHead()
{
    auto *head = new QWidget;
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins({});
    row->addWidget(new EnvironmentBadge(Environment::Sim, tr("Exercise")));
    m_title = new QLabel;
    m_title->setObjectName(QStringLiteral("traineeTitle"));
    m_title->setFont(m_theme.font(FontRole::Strong));
    auto *note = new QLabel(tr("A simulated world: nothing here is real"));
    setTone(note, Tone::Muted);
    row->addWidget(m_title);
    row->addStretch();
    row->addWidget(note);
    return head;
}

QWidget *TraineeWindow::buildView()
{
    auto *view = new QWidget;
    auto *column = new QVBoxLayout(view);
    column->setContentsMargins({});
    column->setSpacing(m_theme.unit());
    m_state = new QLabel;
    m_state->setObjectName(QStringLiteral("traineeState"));
    m_state->setFont(m_theme.font(FontRole::Strong));
    m_lease = new QLabel;
    m_age = new QLabel;
    setTone(m_age, Tone::Muted);
    auto *caption = new QLabel(tr("WHAT THE CONSOLE SAW"));
    caption->setProperty("role", QStringLiteral("caption"));
    m_events = new QTableWidget(0, 3);
    m_events->setObjectName(QStringLiteral("traineeEvents"));
    m_events->setAccessibleName(tr("What the console saw"));
    m_events->setHorizontalHeaderLabels({tr("When"), tr("What"), tr("Who")});
    m_events->setSelectionMode(QAbstractItemView::NoSelection);
    m_events->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_events->setShowGrid(false);
    m_events->verticalHeader()->hide();
    m_events->verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
    m_events->horizontalHeader()->setStretchLastSection(true);
    m_events->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    const int em = fontMetrics().averageCharWidth();
    m_events->setColumnWidth(0, 14 * em);
    m_events->setColumnWidth(1, 32 * em);
    for (QWidget *one : std::initializer_list<QWidget *>{m_state, m_lease, m_age, caption})
        column->addWidget(one);
    column->addWidget(m_events, 1);
    return view;
}

QWidget *TraineeWindow::buildActions()
{
    auto *bar = new QWidget;
    auto *all = new QVBoxLayout(bar);
    all->setContentsMargins({});
    auto *row = new QHBoxLayout;
    auto *release = new QPushButton(tr("Release the lease"));
    release->setObjectName(QStringLiteral("traineeRelease"));
    connect(release, &QPushButton::clicked, this, [this] { act(QStringLiteral("release by operator"), tr("Released the lease")); });
    m_who = new QComboBox;
    m_who->setAccessibleName(tr("Which instance"));
    auto *restart = new QPushButton(tr("Restart it"));
    restart->setObjectName(QStringLiteral("traineeRestart"));
    connect(restart, &QPushButton::clicked, this, [this] {
        act(QStringLiteral("crash %1 for 2s").arg(m_who->currentText()), tr("Restarted %1").arg(m_who->currentText()));
    });
    m_hint = new QPushButton;
    m_hint->setObjectName(QStringLiteral("traineeHint"));
    connect(m_hint, &QPushButton::clicked, this, &TraineeWindow::hint);
    for (QWidget *one : std::initializer_list<QWidget *>{release, m_who, restart})
        row->addWidget(one);
    row->addStretch();
    row->addWidget(m_hint);
    m_hintText = new QLabel;
    m_hintText->setObjectName(QStringLiteral("traineeHintText"));
    m_hintText->setWordWrap(true);
    setTone(m_hintText, Tone::Info);
    all->addLayout(row);
    all->addWidget(m_hintText);
    return bar;
}

void TraineeWindow::ask(const sim::Card &card)
{
    m_question = shown(card.question);
    m_card->ask(card);
    m_asked.start();
}

void TraineeWindow::noteAnswer(const QString &choice, bool right)
{
    const qint64 took = m_asked.elapsed();
    m_answerMs += took;
    auto *line = new QLabel(tr("%1 Card %2  %3  answered %4, %5 s").arg(right ? QStringLiteral("✓") : QStringLiteral("✖"))
                                .arg(m_card->asked()).arg(m_question, choice).arg(static_cast<double>(took) / 1000, 0, 'f', 1));
    line->setTextFormat(Qt::PlainText);
    line->setWordWrap(true);
    setTone(line, right ? Tone::Muted : Tone::Warning);
    m_answers->addWidget(line);
    Q_EMIT answered();
}

void TraineeWindow::act(const QString &line, const QString &told)
{
    ++m_actions;
    m_lab.perform(line);
    auto *label = new QLabel(tr("→ %1 at T+ %2").arg(told, text(m_lab.now())));
    setTone(label, Tone::Muted);
    m_answers->addWidget(label);
    Q_EMIT answered();
}

/// The teaching text, a sentence at a time.
void TraineeWindow::hint()
{
    const QStringList all = sentencesOf(m_lab.scenario().teach);
    if (m_hints >= kMostHints || m_hints >= all.size())
        return;
    ++m_hints;
    m_hintText->setText(tr("Hint: %1").arg(all.mid(0, m_hints).join(QStringLiteral(". "))));
    m_hintText->show();
    m_hint->setText(tr("Hint (%1 left)").arg(kMostHints - m_hints));
    m_hint->setEnabled(m_hints < kMostHints);
    Q_EMIT answered();
}

QString TraineeWindow::resultText() const
{
    const double mean = m_card->answersGiven() > 0 ? static_cast<double>(m_answerMs) / 1000 / m_card->answersGiven() : 0;
    return tr("Trainee: %1 of %2 cards right, %3 s each · actions %4 · hints %5").arg(m_card->right()).arg(m_card->answersGiven())
        .arg(mean, 0, 'f', 1).arg(m_actions).arg(m_hints);
}

void TraineeWindow::forget()
{
    m_card->forget();
    while (QLayoutItem *item = m_answers->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_answerMs = 0;
    m_actions = m_hints = 0;
    m_hintText->hide();
    m_hint->setText(tr("Hint (%1 left)").arg(kMostHints));
    m_hint->setEnabled(true);
    m_who->clear();
    for (const sim::InstanceSpec &spec : m_lab.scenario().runs.front().instances)
        m_who->addItem(shown(spec.name));
    refresh();
}

void TraineeWindow::setRevealed(bool revealed)
{
    m_lanes->setVisible(revealed);
    refresh();
}

void TraineeWindow::refresh()
{
    if (m_lab.columns().empty())
        return;
    m_title->setText(tr("Something is wrong with the lease \"billing\"   T+ %1").arg(text(m_lab.now())));
    showLease();
    showEvents();
    if (!m_lanes->isHidden())
        m_lanes->show(m_lab.columns().front()->player().world());
}

void TraineeWindow::showLease()
{
    const sim::World &world = m_lab.columns().front()->player().world();
    const sim::StoreView store = world.store();
    const sim::ConsoleView console = world.console();
    const auto name = [&world](int holder) { return shown(world.names()[static_cast<std::size_t>(holder)]); };
    if (console.on && console.stale) {
        m_state->setText(tr("◌ STALE"));
        setTone(m_state, Tone::Stale);
        m_lease->setText(tr("No news for %1. Nothing older is shown as if it were true.").arg(text(console.age)));
        m_age->setText(tr("DISCONNECTED"));
        return;
    }
    const int holder = console.on ? console.holder : store.holder;
    const TimingRequest &lease = world.setup().lease;
    const Duration late = lease.ttl - lease.renewEvery.value_or(lease.ttl / 3) * 3 / 2;
    const bool isLate = holder >= 0 && store.remaining < late;
    m_state->setText(holder < 0 ? tr("▲ VACANT") : isLate ? tr("◐ LATE") : tr("● HELD"));
    setTone(m_state, holder < 0 ? Tone::Critical : isLate ? Tone::Warning : Tone::Normal);
    m_lease->setText(holder < 0 ? tr("Nobody holds the lease.")
                                : tr("Held by %1, token %2, %3 left").arg(name(holder)).arg((console.on ? console.token : store.token).value).arg(text(store.remaining)));
    m_age->setText(store.down ? tr("The store does not answer") : tr("LIVE"));
}

void TraineeWindow::showEvents()
{
    const sim::World &world = m_lab.columns().front()->player().world();
    std::vector<const LogEvent *> seen;
    for (auto event = world.log().rbegin(); event != world.log().rend() && seen.size() < kMostEvents; ++event) {
        if (!seenWord(event->kind).isEmpty())
            seen.push_back(&*event);
    }
    m_events->setRowCount(static_cast<int>(seen.size()));
    for (int row = 0; row < static_cast<int>(seen.size()); ++row) {
        const LogEvent &event = *seen[static_cast<std::size_t>(row)];
        const QString who = event.node < 0 ? QString() : shown(world.names()[static_cast<std::size_t>(event.node)]);
        const QStringList texts{tr("T+ %1").arg(text(event.at)), seenWord(event.kind),
            event.token ? tr("%1, token %2").arg(who).arg(event.token.value) : who};
        for (int column = 0; column < 3; ++column)
            m_events->setItem(row, column, new QTableWidgetItem(texts[column]));
    }
}

void TraineeWindow::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const int frame = m_theme.unit();
    painter.setPen(QPen(m_theme.color(Token::SimBand), frame));
    painter.drawRect(rect().adjusted(frame / 2, frame / 2, -frame / 2 - 1, -frame / 2 - 1));
}

} // namespace tenure::ui
