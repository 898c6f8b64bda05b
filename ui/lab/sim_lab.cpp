// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/sim_lab.h"

#include "core/base/text.h"
#include "ui/dialogs/environment_badge.h"
#include "ui/dialogs/tone.h"
#include "ui/lab/card_panel.h"
#include "ui/lab/sim_column.h"
#include "ui/lab/training_bar.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSlider>
#include <QSpinBox>

#include <array>
#include <cmath>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr auto kFrame = 50ms; ///< how often a playing run is drawn
constexpr std::array kSpeeds{0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0};
constexpr int kUsualSpeed = 4;
constexpr int kScrubSteps = 2000;
constexpr std::size_t kLongestTeach = 4000;

QPushButton *button(const QString &text, const QString &tip, const char *name)
{
    auto *out = new QPushButton(text);
    out->setToolTip(tip);
    out->setObjectName(QLatin1String(name));
    return out;
}

} // namespace

SimLab::SimLab(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("simLab"));
    auto *all = new QVBoxLayout(this);
    const int frame = theme.unit() * 3;
    all->setContentsMargins(frame, frame, frame, frame);
    all->addWidget(buildHead());
    all->addWidget(buildTransport());
    m_card = new CardPanel;
    connect(m_card, &CardPanel::goOn, this, &SimLab::play);
    all->addWidget(m_card);
    m_training = new TrainingBar(theme, *this);
    all->addWidget(m_training);
    auto *middle = new QHBoxLayout;
    middle->setSpacing(frame);
    middle->addWidget(buildPalette());
    auto *place = new QWidget;
    m_place = new QHBoxLayout(place);
    m_place->setContentsMargins({});
    m_place->setSpacing(frame * 2);
    auto *scroll = new QScrollArea;
    scroll->setWidget(place);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto *right = new QVBoxLayout;
    auto *legend = new QLabel(tr("Lanes: outline, believes to lead · filled, does leader's work · hatched, stands still · thin line, stopped · ✖ late write accepted · ⊘ late write refused · † crashed\n"
                                 "Tiles: filled, done · 2, done twice · framed, in hand"));
    legend->setWordWrap(true);
    setTone(legend, Tone::Muted);
    right->addWidget(scroll, 1);
    right->addWidget(legend);
    middle->addLayout(right, 1);
    all->addLayout(middle, 1);
    connect(&m_timer, &QTimer::timeout, this, &SimLab::advance);
    connect(&theme, &Theme::changed, this, &SimLab::refresh);
    const auto key = [this](const QKeySequence &keys, void (SimLab::*act)()) {
        auto *shortcut = new QShortcut(keys, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, act);
    };
    key(Qt::Key_Period, &SimLab::play);
    key(Qt::ALT | Qt::Key_Right, &SimLab::stepForward);
    key(Qt::ALT | Qt::Key_Left, &SimLab::stepBack);
    openNamed(QStringLiteral("D1"));
}

SimLab::~SimLab()
{
    delete m_training; // with it goes who would be told that the trainee's window closes
}

QWidget *SimLab::buildHead()
{
    auto *head = new QWidget;
    auto *all = new QVBoxLayout(head);
    all->setContentsMargins({});
    auto *row = new QHBoxLayout;
    row->addWidget(new EnvironmentBadge(Environment::Sim, tr("Lab")));
    m_choice = new QComboBox;
    m_choice->setObjectName(QStringLiteral("scenario"));
    m_choice->setAccessibleName(tr("Scenario"));
    for (const sim::CatalogueEntry &entry : sim::catalogue()) {
        const sim::Scenario scenario = sim::parseScenario(entry.text).scenario;
        m_choice->addItem(QStringLiteral("%1  %2").arg(shown(scenario.code), shown(scenario.title)), shown(scenario.code));
    }
    connect(m_choice, &QComboBox::activated, this, [this] { openNamed(m_choice->currentData().toString()); });
    m_seedBox = new QSpinBox;
    m_seedBox->setObjectName(QStringLiteral("seed"));
    m_seedBox->setRange(1, 1'000'000'000);
    m_seedBox->setPrefix(tr("seed "));
    m_seedBox->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_seedBox->setToolTip(tr("The same scenario and seed give the same run on every machine"));
    connect(m_seedBox, &QSpinBox::editingFinished, this, [this] {
        if (static_cast<std::uint64_t>(m_seedBox->value()) != m_seed)
            open(m_scenario, static_cast<std::uint64_t>(m_seedBox->value()));
    });
    m_title = new QLabel(tr("A simulated world: nothing here is real"));
    row->addWidget(m_choice);
    row->addWidget(m_seedBox);
    row->addWidget(m_title);
    row->addStretch();
    auto *trainee = button(tr("Trainee window"), tr("A second window that shows neither beliefs nor faults; questions and actions are there"), "openTrainee");
    connect(trainee, &QPushButton::clicked, this, [this] { m_training->openTrainee(); });
    row->addWidget(trainee);
    m_teach = new QLabel;
    m_teach->setObjectName(QStringLiteral("teach"));
    m_teach->setWordWrap(true);
    all->addLayout(row);
    all->addWidget(m_teach);
    return head;
}

QWidget *SimLab::buildTransport()
{
    auto *bar = new QWidget;
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins({});
    m_play = button(tr("▷ Play"), tr("Plays and pauses (.)"), "play");
    m_play->setMinimumWidth(fontMetrics().averageCharWidth() * 14);
    connect(m_play, &QPushButton::clicked, this, [this] { m_timer.isActive() ? pause() : play(); });
    auto *back = button(tr("◁ Step back"), tr("To just before the last thing that happened (Alt+←)"), "stepBack");
    auto *step = button(tr("Step ▷"), tr("To the next thing that happens (Alt+→)"), "step");
    m_fork = button(tr("Fork"), tr("Goes on from here without what was done by hand later"), "fork");
    connect(back, &QPushButton::clicked, this, &SimLab::stepBack);
    connect(step, &QPushButton::clicked, this, &SimLab::stepForward);
    connect(m_fork, &QPushButton::clicked, this, &SimLab::fork);
    m_speed = new QSlider(Qt::Horizontal);
    m_speed->setObjectName(QStringLiteral("speed"));
    m_speed->setAccessibleName(tr("Speed"));
    m_speed->setRange(0, static_cast<int>(kSpeeds.size()) - 1);
    m_speed->setMaximumWidth(fontMetrics().averageCharWidth() * 22);
    m_speedWord = new QLabel;
    m_speedWord->setMinimumWidth(fontMetrics().averageCharWidth() * 6);
    connect(m_speed, &QSlider::valueChanged, this, [this] { m_speedWord->setText(tr("%1×").arg(speed())); });
    m_speed->setValue(kUsualSpeed);
    m_time = new QLabel;
    m_time->setObjectName(QStringLiteral("time"));
    m_time->setFont(m_theme.font(FontRole::Number));
    m_time->setMinimumWidth(fontMetrics().averageCharWidth() * 26);
    m_scrub = new QSlider(Qt::Horizontal);
    m_scrub->setObjectName(QStringLiteral("scrub"));
    m_scrub->setAccessibleName(tr("Moment of the run"));
    m_scrub->setRange(0, kScrubSteps);
    connect(m_scrub, &QSlider::sliderMoved, this, [this](int at) {
        if (!m_columns.empty())
            seek(m_columns.front()->player().end() / kScrubSteps * at);
    });
    for (QWidget *one : std::initializer_list<QWidget *>{m_play, back, step, m_fork, m_speed, m_speedWord, m_time})
        row->addWidget(one);
    row->addWidget(m_scrub, 1);
    return bar;
}

void SimLab::addFault(QVBoxLayout *box, const QString &text, const QString &line, const QString &tip)
{
    auto *one = new QPushButton(text);
    one->setToolTip(tip);
    connect(one, &QPushButton::clicked, this, [this, line] {
        QString ready = line;
        ready.replace(QLatin1String("%i"), m_target->currentText()).replace(QLatin1String("%s"), QStringLiteral("%1s").arg(m_seconds->value()));
        perform(ready);
    });
    box->addWidget(one);
}

QWidget *SimLab::buildPalette()
{
    auto *panel = new QWidget;
    panel->setFixedWidth(fontMetrics().averageCharWidth() * 36);
    auto *box = new QVBoxLayout(panel);
    box->setContentsMargins({});
    box->setSpacing(m_theme.unit());
    auto *title = new QLabel(tr("Faults, by hand"));
    title->setFont(m_theme.font(FontRole::Strong));
    m_target = new QComboBox;
    m_target->setObjectName(QStringLiteral("target"));
    m_target->setAccessibleName(tr("Whom it befalls"));
    m_seconds = new QSpinBox;
    m_seconds->setRange(1, 600);
    m_seconds->setValue(9);
    m_seconds->setPrefix(tr("for "));
    m_seconds->setSuffix(tr(" s"));
    m_seconds->setButtonSymbols(QAbstractSpinBox::NoButtons);
    auto *whom = new QHBoxLayout;
    whom->addWidget(m_target, 1);
    whom->addWidget(m_seconds);
    box->addWidget(title);
    box->addLayout(whom);
    addFault(box, tr("Pause (GC, SIGSTOP)"), QStringLiteral("pause %i %s"), tr("It stands still and does not know it"));
    addFault(box, tr("Hang its work"), QStringLiteral("hang %i %s"), tr("It renews, but gets nothing done"));
    addFault(box, tr("Crash"), QStringLiteral("crash %i for %s"), tr("Nothing is given back; it comes again after that time"));
    addFault(box, tr("Hand over"), QStringLiteral("handover %i"), tr("It gives the lease back"));
    addFault(box, tr("Cut from the store"), QStringLiteral("cut %i--store for %s"), tr("No request and no answer gets through"));
    addFault(box, tr("Lose the store's answers"), QStringLiteral("cut %i<-store for %s"), tr("Requests arrive, answers do not"));
    addFault(box, tr("Skew its clock +5 s"), QStringLiteral("skew %i +5s for %s"), tr("Its wall clock jumps ahead"));
    addFault(box, tr("Slow store"), QStringLiteral("latency store 0.2s..3s for %s"), tr("Every answer takes 0.2 to 3 s"));
    addFault(box, tr("Restart the store empty"), QStringLiteral("restart store empty for 1s"), tr("It forgets every lease"));
    addFault(box, tr("Fail the store over"), QStringLiteral("failover store lag=3s"), tr("The last 3 s of writes are lost"));
    addFault(box, tr("Release by operator"), QStringLiteral("release by operator"), tr("Clears the lease, whoever holds it"));
    m_script = new QLineEdit;
    m_script->setObjectName(QStringLiteral("script"));
    m_script->setPlaceholderText(tr("or a line: drift A 0.6x for 9s"));
    connect(m_script, &QLineEdit::returnPressed, this, [this] { perform(m_script->text()); });
    m_problem = new QLabel;
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setWordWrap(true);
    setTone(m_problem, Tone::Critical);
    auto *active = new QLabel(tr("Active faults"));
    active->setFont(m_theme.font(FontRole::Strong));
    m_active = new QVBoxLayout;
    m_clear = button(tr("Clear all"), tr("Every fault ends now (Ctrl+Shift+0)"), "clearAll");
    connect(m_clear, &QPushButton::clicked, this, &SimLab::clearFaults);
    box->addWidget(m_script);
    box->addWidget(m_problem);
    box->addSpacing(m_theme.unit() * 2);
    box->addWidget(active);
    box->addLayout(m_active);
    box->addWidget(m_clear);
    box->addStretch();
    return panel;
}

void SimLab::openNamed(const QString &name)
{
    Result<sim::Scenario> scenario = sim::scenarioNamed(name.toStdString());
    if (!scenario)
        return m_problem->setText(QString::fromStdString(scenario.error().text()));
    m_choice->setCurrentIndex(m_choice->findData(shown(scenario->code)));
    open(std::move(*scenario), m_seed);
}

void SimLab::open(sim::Scenario scenario, std::uint64_t seed)
{
    pause();
    m_scenario = std::move(scenario);
    m_seed = seed;
    m_seedBox->setValue(static_cast<int>(seed));
    m_teach->setText(text(printable(m_scenario.teach, kLongestTeach)));
    m_problem->clear();
    m_card->forget();
    rebuild();
    m_training->forget();
}

void SimLab::rebuild()
{
    for (SimColumn *column : m_columns)
        delete column;
    m_columns.clear();
    for (const sim::Setup &setup : m_scenario.runs) {
        auto *column = new SimColumn(m_theme, setup, m_seed);
        connect(column, &SimColumn::momentChosen, this, &SimLab::seek);
        m_place->addWidget(column, 1);
        m_columns.push_back(column);
    }
    m_target->clear();
    m_target->addItem(QStringLiteral("leader"));
    m_target->addItem(QStringLiteral("follower"));
    for (const sim::InstanceSpec &spec : m_scenario.runs.front().instances)
        m_target->addItem(shown(spec.name));
    refresh();
}

double SimLab::speed() const { return kSpeeds[static_cast<std::size_t>(m_speed->value())]; }

Duration SimLab::now() const { return m_columns.empty() ? Duration() : m_columns.front()->player().now(); }

void SimLab::play()
{
    if (m_timer.isActive())
        return pause();
    if (!m_columns.empty() && m_columns.front()->player().atEnd())
        seek({});
    m_elapsed.start();
    m_timer.start(kFrame);
    m_play->setText(tr("‖ Pause"));
}

void SimLab::pause()
{
    m_timer.stop();
    m_play->setText(tr("▷ Play"));
}

void SimLab::advance()
{
    const double ns = static_cast<double>(m_elapsed.nsecsElapsed()) * speed();
    m_elapsed.restart();
    const Duration from = now();
    seek(from + Duration(std::llround(ns)));
    askCards(from, now());
    if (m_columns.front()->player().atEnd())
        pause();
}

/// A question stops the run at its moment; going there by hand asks nothing.
void SimLab::askCards(Duration from, Duration to)
{
    for (const sim::Card &card : m_scenario.cards) {
        if (card.at <= from || card.at > to)
            continue;
        pause();
        seek(card.at);
        if (!m_training->ask(card))
            m_card->ask(card);
        return;
    }
}

void SimLab::seek(Duration to)
{
    for (SimColumn *column : m_columns)
        column->player().seek(to);
    refresh();
}

void SimLab::stepForward()
{
    pause();
    // The variants keep one time: the earliest next thing in any of them.
    Duration to = Duration::max();
    const Duration from = now();
    for (SimColumn *column : m_columns) {
        column->player().stepForward();
        to = std::min(to, column->player().now());
    }
    seek(std::max(to, from));
}

void SimLab::stepBack()
{
    pause();
    Duration to{};
    for (SimColumn *column : m_columns) {
        column->player().stepBack();
        to = std::max(to, column->player().now());
    }
    seek(to);
}

void SimLab::fork()
{
    for (SimColumn *column : m_columns)
        column->player().fork();
    refresh();
}

void SimLab::clearFaults()
{
    for (SimColumn *column : m_columns)
        column->player().clearFaults();
    refresh();
}

void SimLab::perform(const QString &line)
{
    m_problem->clear();
    for (SimColumn *column : m_columns) {
        sim::Setup setup = column->player().world().setup();
        setup.length = 48h; // by hand a fault may outlast the run
        const Result<sim::Step> step = sim::parseStep(line.toStdString(), setup);
        if (!step)
            return m_problem->setText(QString::fromStdString(step.error().what));
        column->player().apply(*step);
    }
    m_script->clear();
    refresh();
}

void SimLab::refresh()
{
    if (m_columns.empty())
        return;
    for (SimColumn *column : m_columns)
        column->refresh();
    m_training->refresh();
    const Duration end = m_columns.front()->player().end();
    m_time->setText(tr("T+ %1 of %2").arg(QString::number(static_cast<double>(now().count() / 1'000'000) / 1000, 'f', 3) + tr(" s"), text(end)));
    if (!m_scrub->isSliderDown())
        m_scrub->setValue(static_cast<int>(now().count() / std::max<std::int64_t>(1, end.count() / kScrubSteps)));
    m_fork->setEnabled(m_columns.front()->player().hasFuture());
    showFaults();
}

/// Rows are made anew only when the faults change; else their time is.
void SimLab::showFaults()
{
    const std::vector<sim::FaultView> faults = m_columns.front()->player().world().faults();
    QString ids;
    for (const sim::FaultView &fault : faults)
        ids += QString::number(fault.id) + QLatin1Char(' ');
    const auto words = [](const sim::FaultView &fault) {
        return fault.left == Duration::max() ? tr("%1, until lifted").arg(shown(fault.text)) : tr("%1, %2 left").arg(shown(fault.text), text(fault.left));
    };
    if (ids != m_activeShown) {
        m_activeShown = ids;
        while (QLayoutItem *item = m_active->takeAt(0)) {
            delete item->widget();
            delete item;
        }
        for (const sim::FaultView &fault : faults) {
            auto *row = new QWidget;
            auto *line = new QHBoxLayout(row);
            line->setContentsMargins({});
            auto *label = new QLabel;
            label->setWordWrap(true);
            setTone(label, Tone::Warning);
            auto *lift = new QPushButton(tr("Lift now"));
            connect(lift, &QPushButton::clicked, this, [this, id = fault.id] {
                for (SimColumn *column : m_columns)
                    column->player().lift(id);
                refresh();
            }, Qt::QueuedConnection);
            line->addWidget(label, 1);
            line->addWidget(lift);
            m_active->addWidget(row);
        }
    }
    for (std::size_t i = 0; i < faults.size(); ++i)
        m_active->itemAt(static_cast<int>(i))->widget()->findChild<QLabel *>()->setText(words(faults[i]));
    m_clear->setEnabled(!faults.empty());
}

void SimLab::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const int frame = m_theme.unit();
    painter.setPen(QPen(m_theme.color(Token::SimBand), frame));
    painter.drawRect(rect().adjusted(frame / 2, frame / 2, -frame / 2 - 1, -frame / 2 - 1));
}

void SimLab::hideEvent(QHideEvent *event)
{
    pause();
    QWidget::hideEvent(event);
}

} // namespace tenure::ui
