// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/release_dialog.h"

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "ui/dialogs/release_words.h"
#include "ui/dialogs/tone.h"

#include <QComboBox>
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

constexpr auto kTickEvery = 250ms;

QString shownText(const std::string &bytes)
{
    return QString::fromStdString(printable(bytes));
}

} // namespace

ReleaseDialog::ReleaseDialog(Session &session, LeaseId lease, QWidget *parent)
    : QDialog(parent), m_session(&session), m_lease(std::move(lease))
{
    setObjectName(QStringLiteral("releaseDialog"));
    if (const LeaseStatus *status = session.lease(m_lease)) {
        m_seen = status->record.seen();
        m_kind = status->record.kind;
    }
    m_pages = new QStackedWidget;
    m_pages->addWidget(buildWhy());
    m_pages->addWidget(buildCheck());
    m_pages->addWidget(buildOutcome());
    auto *all = new QVBoxLayout(this);
    const int margin = fontMetrics().height();
    all->setContentsMargins(margin, margin, margin, margin);
    all->setSpacing(margin / 2);
    all->addWidget(buildHead());
    all->addWidget(m_pages, 1);
    all->addWidget(buildButtons());
    connectSession();
    connect(&m_tick, &QTimer::timeout, this, &ReleaseDialog::follow);
    m_tick.start(kTickEvery);
    goTo(Why);
    resize(sizeHint().expandedTo({fontMetrics().averageCharWidth() * 104, fontMetrics().height() * 26}));
}

void ReleaseDialog::connectSession()
{
    connect(m_session, &QObject::destroyed, this, [this] { done(QDialog::Rejected); });
    connect(m_session, &Session::leasesChanged, this, &ReleaseDialog::follow);
    connect(m_session, &Session::leasesRemoved, this, &ReleaseDialog::follow);
    connect(m_session, &Session::operatorChanged, this, &ReleaseDialog::follow);
    connect(m_session, &Session::asideChanged, this, &ReleaseDialog::follow);
    connect(m_session, &Session::releaseProgress, this, &ReleaseDialog::onProgress);
    connect(m_session, &Session::dryRunDone, this, &ReleaseDialog::onDryRun);
    connect(m_category, &QComboBox::currentIndexChanged, this, &ReleaseDialog::follow);
    connect(m_reason, &QLineEdit::textEdited, this, &ReleaseDialog::follow);
    connect(m_typed, &QLineEdit::textEdited, this, &ReleaseDialog::showButtons);
    connect(m_holdSeconds, &QSpinBox::valueChanged, this, &ReleaseDialog::follow);
    for (QRadioButton *way : m_ways)
        connect(way, &QRadioButton::toggled, this, &ReleaseDialog::follow);
}

ReleaseDialog::Step ReleaseDialog::step() const
{
    return static_cast<Step>(m_pages->currentIndex());
}

void ReleaseDialog::goTo(Step step)
{
    m_pages->setCurrentIndex(step);
    m_typed->clear();
    m_dryRun->clear();
    if (step == Why)
        m_reason->setFocus();
    else if (step == Check)
        (needsTyping() ? static_cast<QWidget *>(m_typed) : m_cancel)->setFocus();
    follow();
}

void ReleaseDialog::reject()
{
    if (step() == Outcome && !m_final)
        return; // it stays until it is known what happened, or one stops watching by the button
    QDialog::reject();
}

OperatorVerb ReleaseDialog::verb() const
{
    for (std::size_t i = 0; i < m_ways.size(); ++i) {
        if (m_ways[i]->isChecked())
            return static_cast<OperatorVerb>(i);
    }
    return OperatorVerb::Ask;
}

ReleasePlan ReleaseDialog::plan() const
{
    ReleasePlan out;
    out.verb = verb();
    out.lease = m_lease;
    out.kind = m_kind;
    out.expected = m_seen;
    out.duration = std::chrono::seconds(m_holdSeconds->value());
    out.by = operatorName().toStdString();
    out.reason = m_reason->text().trimmed().toStdString();
    if (!out.reason.empty())
        out.reason = m_category->currentText().toStdString() + ": " + out.reason;
    return out;
}

bool ReleaseDialog::needsTyping() const
{
    return verb() != OperatorVerb::Ask && m_session
        && m_session->profile().environment == Environment::Production;
}

/// Why the step cannot be left forwards now; empty when it can.
QString ReleaseDialog::blockedBecause() const
{
    if (!m_session)
        return tr("Disabled: the connection is closed.");
    const QString session = whyNotReleasable(*m_session, m_session->lease(m_lease), BootClock::now());
    if (!session.isEmpty())
        return session;
    if (!m_forecastSays.isEmpty())
        return tr("Disabled: %1").arg(m_forecastSays);
    if (m_reason->text().trimmed().isEmpty())
        return tr("A reason is required. It goes into the audit list.");
    if (step() == Check && needsTyping()
        && m_typed->text() != confirmationText(m_lease, m_session->profile().name))
        return tr("Type the lease and connection to continue.");
    return {};
}

void ReleaseDialog::follow()
{
    if (!m_session)
        return;
    const Instant now = BootClock::now();
    m_session->askAside(m_lease);
    const LeaseStatus *status = m_session->lease(m_lease);
    if (!m_sent && status) {
        const QString change = changeText(m_seen, status->record.seen());
        if (!change.isEmpty()) {
            m_seen = status->record.seen();
            m_kind = status->record.kind;
            m_typed->clear();
            m_dryRun->clear();
            m_changed->setText(QStringLiteral("◆ ") + change + QLatin1Char(' ')
                + tr("What is below is about the new one; what you typed was taken back."));
            m_changed->show();
        }
    }
    m_title->setText(tr("You will end the hold of <b>%1</b> on <b>%2</b>")
                         .arg(m_seen.holder.empty() ? tr("nobody") : shownText(m_seen.holder).toHtmlEscaped(),
                             shownText(m_lease.name()).toHtmlEscaped()));
    const QString token = m_seen.token ? tr("token %1").arg(m_seen.token.value) : tr("no fencing token");
    m_evidence->setText(QStringLiteral("%1, %2, %3").arg(token, m_session->profile().name,
        QString::fromStdString(linkText(m_session->link(), now))));
    setTone(m_evidence, isFresh(m_session->linkState()) ? Tone::Muted : Tone::Stale);
    if (status && !m_sent)
        showForecast(*status, now);
    showButtons();
}

void ReleaseDialog::showForecast(const LeaseStatus &status, Instant now)
{
    const StoreTraits *traits = m_session->traits();
    if (!traits)
        return;
    const ReleasePlan current = plan();
    const ReleaseForecast forecast
        = forecastRelease(*traits, status, current.verb, current.duration, now);
    m_forecastSays = forecast.possible ? QString() : QString::fromStdString(forecast.why);
    QString list;
    for (const std::string &sentence : forecast.sentences)
        list += QStringLiteral("<li>%1</li>").arg(QString::fromStdString(sentence).toHtmlEscaped());
    if (!forecast.possible)
        list = QStringLiteral("<li>%1</li>").arg(m_forecastSays.toHtmlEscaped());
    const QString html = QStringLiteral("<ul style='margin-left:-22px'>%1</ul>").arg(list);
    if (m_forecast->text() != html)
        m_forecast->setText(html);
    const QString token = m_seen.token ? tr(" AND token = %1").arg(m_seen.token.value) : QString();
    m_condition->setText(tr("Refused unless holder = %1%2 AND the stored version is the one shown.")
                             .arg(shownText(m_seen.holder), token));
    const QString command = commandLine(current, *traits);
    if (m_command->text() != command) {
        m_command->setText(command);
        m_command->setCursorPosition(0);
    }
    m_typePrompt->setText(tr("Type <b>%1</b> to continue")
                              .arg(confirmationText(m_lease, m_session->profile().name).toHtmlEscaped()));
    m_typePrompt->setVisible(needsTyping());
    m_typed->setVisible(needsTyping());
}

void ReleaseDialog::showButtons()
{
    const Step now = step();
    static constexpr std::array kNames{"why", "check", "outcome"};
    setWindowTitle(tr("Release lease, step %1 of 3: %2").arg(now + 1)
                       .arg(QLatin1String(kNames[static_cast<std::size_t>(now)])));
    const QString blocked = now == Outcome ? QString() : blockedBecause();
    m_blocked->setText(blocked);
    m_blocked->setVisible(!blocked.isEmpty());
    const bool readOnly = m_session && m_session->gate() && !m_session->gate()->operatorTimeLeft();
    const LeaseAside *aside = m_session ? m_session->aside(m_lease) : nullptr;
    const bool noRight = now != Outcome && aside && !aside->release.what.empty();
    m_operator->setVisible(now != Outcome && readOnly && !noRight); // it would not help
    m_forAdmin->setVisible(noRight);
    m_back->setVisible(now == Check);
    m_next->setVisible(now == Why);
    m_next->setEnabled(blocked.isEmpty());
    m_next->setToolTip(blocked);
    m_release->setVisible(now == Check);
    m_release->setEnabled(blocked.isEmpty());
    m_release->setToolTip(blocked);
    m_dryRunButton->setEnabled(m_session && m_session->gate());
    static constexpr std::array kVerbs{QT_TR_NOOP("Ask to step down"), QT_TR_NOOP("Hold the lease"),
        QT_TR_NOOP("Clear the lease")};
    m_release->setText(tr(kVerbs[static_cast<std::size_t>(verb())]));
    m_cancel->setText(now != Outcome ? tr("Cancel") : m_final ? tr("Close") : tr("Stop watching"));
}

void ReleaseDialog::startRelease()
{
    if (!blockedBecause().isEmpty())
        return;
    m_sent = plan();
    m_final = false;
    m_changed->hide();
    m_outcome->setText(tr("SENT, waiting for the answer"));
    m_outcomeDetail->clear();
    goTo(Outcome);
    m_session->release(*m_sent);
}

void ReleaseDialog::onProgress(const ReleaseReport &report)
{
    if (!m_sent)
        return;
    m_final = report.final;
    const QString word = outcomeText(report, *m_sent);
    m_outcome->setText(report.final ? word : tr("%1 …").arg(word));
    setTone(m_outcome, wentWell(report.outcome) ? Tone::Normal
            : report.outcome == ReleaseOutcome::Unknown ? Tone::Stale : Tone::Critical);
    QStringList lines;
    const QString sentence = QString::fromStdString(report.sentence);
    if (!word.contains(sentence, Qt::CaseInsensitive))
        lines += sentence;
    if (report.error && !word.contains(QString::fromStdString(report.error->text())))
        lines += QString::fromStdString(report.error->text());
    if (!report.final)
        lines += tr("Still watching who takes it.");
    m_outcomeDetail->setText(lines.join(QLatin1Char('\n')));
    showButtons();
}

void ReleaseDialog::onDryRun(const ReleaseReport &report)
{
    const bool refused = report.outcome == ReleaseOutcome::Refused
        || report.outcome == ReleaseOutcome::Denied || report.error.has_value();
    QString said = QString::fromStdString(report.sentence);
    // Accepted: what would happen then stands right above.
    static const QString kAccepted = QStringLiteral("accepted.");
    if (const auto end = said.indexOf(kAccepted); !refused && end > 0)
        said.truncate(end + kAccepted.size());
    m_dryRun->setText((refused ? QStringLiteral("✖ ") : QStringLiteral("✓ ")) + said);
    setTone(m_dryRun, refused ? Tone::Critical : Tone::Normal);
}

} // namespace tenure::ui
