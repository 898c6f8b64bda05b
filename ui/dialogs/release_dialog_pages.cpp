// SPDX-License-Identifier: GPL-3.0-or-later
// The widgets of the release dialog; what they do is in release_dialog.cpp.
#include "ui/dialogs/environment_badge.h"
#include "ui/dialogs/release_dialog.h"
#include "ui/dialogs/tone.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kOperatorTime = 15min;

QLabel *wrapped(const char *name)
{
    auto *label = new QLabel;
    label->setObjectName(QLatin1String(name));
    label->setWordWrap(true);
    return label;
}

struct Way {
    const char *name;
    const char *title;
    const char *text;
};
constexpr std::array<Way, 3> kWays{{
    {"ask", QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog", "Ask the holder to step down"),
        QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog",
            "It drains, gives the lease back and stays out for a while. No gap in safety; only for holders that listen.")},
    {"hold", QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog", "Hold it for a while"),
        QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog",
            "A guarded take-over: nobody leads until the hold ends, the old holder must step down, then all may try.")},
    {"clear", QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog", "Clear it at once"),
        QT_TRANSLATE_NOOP("tenure::ui::ReleaseDialog",
            "Anybody may take it now. The old holder may believe to lead until its next renewal.")},
}};

} // namespace

QWidget *ReleaseDialog::buildHead()
{
    auto *head = new QWidget;
    auto *row = new QHBoxLayout;
    m_title = wrapped("title");
    row->addWidget(m_title, 1);
    row->addWidget(new EnvironmentBadge(m_session->profile().environment, m_session->profile().name));
    m_evidence = wrapped("evidence");
    m_changed = wrapped("changed");
    setTone(m_changed, Tone::Warning);
    m_changed->hide();
    auto *layout = new QVBoxLayout(head);
    layout->setContentsMargins({});
    layout->addLayout(row);
    layout->addWidget(m_evidence);
    layout->addWidget(m_changed);
    return head;
}

QWidget *ReleaseDialog::buildWays(QVBoxLayout *into)
{
    for (std::size_t i = 0; i < kWays.size(); ++i) {
        auto *way = new QRadioButton(tr(kWays[i].title));
        way->setObjectName(QLatin1String(kWays[i].name));
        auto *text = new QLabel(tr(kWays[i].text));
        text->setWordWrap(true);
        text->setIndent(way->fontMetrics().height() * 3 / 2);
        setTone(text, Tone::Muted);
        into->addWidget(way);
        into->addWidget(text);
        m_ways[i] = way;
    }
    m_ways.front()->setChecked(true);
    return m_ways.front();
}

QWidget *ReleaseDialog::buildWhy()
{
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins({});
    auto *form = new QFormLayout;
    m_category = new QComboBox;
    m_category->setObjectName(QStringLiteral("category"));
    m_category->addItems({tr("Stuck: it holds but makes no progress"), tr("Planned handover"),
        tr("Drill"), tr("Other")});
    m_reason = new QLineEdit;
    m_reason->setObjectName(QStringLiteral("reason"));
    m_reason->setPlaceholderText(tr("for example: INC-4711, scheduler stuck, no progress for 12 min"));
    m_holdSeconds = new QSpinBox;
    m_holdSeconds->setObjectName(QStringLiteral("holdSeconds"));
    m_holdSeconds->setRange(1, 3600);
    m_holdSeconds->setValue(15);
    m_holdSeconds->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_holdSeconds->setMaximumWidth(fontMetrics().averageCharWidth() * 14);
    m_holdSeconds->setSuffix(tr(" s"));
    form->addRow(tr("Wh&y"), m_category);
    form->addRow(tr("&Reason, required"), m_reason);
    layout->addLayout(form);
    layout->addSpacing(fontMetrics().height() / 2);
    buildWays(layout);
    auto *hold = new QFormLayout;
    hold->addRow(tr("H&old it, or keep the holder out, for"), m_holdSeconds);
    layout->addLayout(hold);
    layout->addStretch();
    return page;
}

QWidget *ReleaseDialog::buildCheck()
{
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins({});
    auto *expected = new QLabel(tr("Expected"));
    setTone(expected, Tone::Muted);
    m_forecast = wrapped("forecast");
    m_forecast->setTextFormat(Qt::RichText);
    m_condition = wrapped("condition");
    m_dryRunButton = new QPushButton(tr("&Dry run"));
    m_dryRunButton->setObjectName(QStringLiteral("dryRun"));
    m_dryRunButton->setToolTip(tr("Asks the server for the same checks; nothing is written"));
    connect(m_dryRunButton, &QPushButton::clicked, this, [this] { m_session->dryRun(plan()); });
    m_dryRun = wrapped("dryRunResult");
    auto *dry = new QHBoxLayout;
    dry->addWidget(m_dryRunButton);
    dry->addWidget(m_dryRun, 1);
    m_command = new QLineEdit;
    m_command->setObjectName(QStringLiteral("command"));
    m_command->setReadOnly(true);
    m_command->setAccessibleName(tr("The same release as a command line"));
    auto *copy = new QPushButton(tr("&Copy"));
    connect(copy, &QPushButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
    auto *same = new QHBoxLayout;
    same->addWidget(new QLabel(tr("Same as")));
    same->addWidget(m_command, 1);
    same->addWidget(copy);
    m_typePrompt = wrapped("typePrompt");
    m_typed = new QLineEdit;
    m_typed->setObjectName(QStringLiteral("typed"));
    m_typed->setAccessibleName(tr("Confirmation text"));
    layout->addWidget(expected);
    layout->addWidget(m_forecast);
    layout->addWidget(m_condition);
    layout->addLayout(dry);
    layout->addLayout(same);
    layout->setSpacing(fontMetrics().height() / 2);
    layout->addStretch();
    layout->addWidget(m_typePrompt);
    layout->addWidget(m_typed);
    return page;
}

QWidget *ReleaseDialog::buildOutcome()
{
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    m_outcome = wrapped("outcome");
    QFont big = font();
    big.setPointSizeF(big.pointSizeF() * 1.4);
    big.setWeight(QFont::DemiBold);
    m_outcome->setFont(big);
    m_outcome->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_outcomeDetail = wrapped("outcomeDetail");
    layout->addStretch();
    layout->addWidget(m_outcome);
    layout->addWidget(m_outcomeDetail);
    layout->addStretch();
    return page;
}

QWidget *ReleaseDialog::buildButtons()
{
    auto *foot = new QWidget;
    auto *layout = new QVBoxLayout(foot);
    layout->setContentsMargins({});
    m_blocked = wrapped("blocked");
    m_blocked->setAccessibleName(tr("Why the release is not possible now"));
    m_operator = new QPushButton(tr("Switch %1 to operator for 15 min…").arg(m_session->profile().name));
    m_operator->setObjectName(QStringLiteral("operator"));
    connect(m_operator, &QPushButton::clicked, this, [this] { m_session->allowWrites(kOperatorTime); });
    auto *hint = new QHBoxLayout;
    hint->addWidget(m_blocked, 1);
    hint->addWidget(m_operator);
    m_forAdmin = new QPushButton(tr("Copy for admin"));
    m_forAdmin->setObjectName(QStringLiteral("copyForAdmin"));
    m_forAdmin->setToolTip(tr("What is missing, for whom, and the commands that give it"));
    m_forAdmin->setAutoDefault(false);
    connect(m_forAdmin, &QPushButton::clicked, this, [this] {
        if (const LeaseAside *aside = m_session ? m_session->aside(m_lease) : nullptr)
            QGuiApplication::clipboard()->setText(QString::fromStdString(aside->release.forAdmin));
    });
    hint->addWidget(m_forAdmin);
    auto *box = new QDialogButtonBox;
    m_cancel = box->addButton(QDialogButtonBox::Cancel);
    m_cancel->setObjectName(QStringLiteral("cancel"));
    m_back = box->addButton(tr("&Back"), QDialogButtonBox::ActionRole);
    m_next = box->addButton(tr("Check &what happens"), QDialogButtonBox::ActionRole);
    m_next->setObjectName(QStringLiteral("next"));
    m_release = box->addButton(QString(), QDialogButtonBox::DestructiveRole);
    m_release->setObjectName(QStringLiteral("release"));
    m_release->setProperty("danger", true);
    for (QPushButton *button : {m_back, m_next, m_release})
        button->setAutoDefault(false);
    m_cancel->setDefault(true); // Enter must never release
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (step() == Outcome && !m_final && m_session)
            m_session->cancelReleaseWatch();
        done(QDialog::Rejected);
    });
    connect(m_back, &QPushButton::clicked, this, [this] { goTo(Why); });
    connect(m_next, &QPushButton::clicked, this, [this] { goTo(Check); });
    connect(m_release, &QPushButton::clicked, this, &ReleaseDialog::startRelease);
    layout->addLayout(hint);
    layout->addWidget(box);
    return foot;
}

} // namespace tenure::ui
