// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/retry_dialog.h"

#include "core/base/text.h"
#include "ui/bridge/session.h"
#include "ui/dialogs/tone.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace tenure::ui
{
namespace
{

constexpr Duration kOperatorTime = std::chrono::minutes(15);

QString shownText(const std::string &bytes)
{
    return QString::fromStdString(printable(bytes));
}

} // namespace

RetryDialog::RetryDialog(Session &session, RetryPlan plan, std::uint64_t howMany, QWidget *parent)
    : QDialog(parent), m_session(&session), m_plan(std::move(plan))
{
    setWindowTitle(tr("Retry dead letters"));
    build(howMany);
    connect(&session, &QObject::destroyed, this, &QDialog::reject);
    connect(&session, &Session::operatorChanged, this, &RetryDialog::follow);
    connect(&session, &Session::retryDone, this, &RetryDialog::onDone);
    connect(m_reason, &QLineEdit::textEdited, this, &RetryDialog::follow);
    follow();
}

void RetryDialog::build(std::uint64_t howMany)
{
    auto *all = new QVBoxLayout(this);
    const QString queue = shownText(m_plan.queue).toHtmlEscaped();
    const QString what = m_plan.id == 0 ? tr("You will put all %1 dead letters of <b>%2</b> back to pending").arg(howMany).arg(queue)
                                        : tr("You will put item <b>%1</b> of <b>%2</b> back to pending").arg(m_plan.id).arg(queue);
    auto *title = new QLabel(what);
    title->setWordWrap(true);
    auto *means = new QLabel(tr("A worker takes it up at once, and it gets all its attempts again. What made it fail is not mended by that: "
                                "an item that fails again comes back here. If its effect had happened already, it may happen a second time, "
                                "unless the resource compares tokens or keys."));
    means->setWordWrap(true);
    setTone(means, Tone::Muted);
    auto *ask = new QLabel(tr("Why (goes into the audit list and the journal, with your name)"));
    m_reason = new QLineEdit;
    m_reason->setObjectName(QStringLiteral("retryReason"));
    m_reason->setPlaceholderText(tr("INC-4711 mail server is back"));
    ask->setBuddy(m_reason);
    m_blocked = new QLabel;
    m_blocked->setObjectName(QStringLiteral("retryBlocked"));
    m_blocked->setWordWrap(true);
    setTone(m_blocked, Tone::Muted);
    m_outcome = new QLabel;
    m_outcome->setObjectName(QStringLiteral("retryOutcome"));
    m_outcome->setWordWrap(true);
    auto *row = new QHBoxLayout;
    m_operator = new QPushButton(tr("Switch %1 to operator for 15 min\u2026").arg(m_session->profile().name));
    m_operator->setObjectName(QStringLiteral("operator"));
    m_operator->setAutoDefault(false);
    connect(m_operator, &QPushButton::clicked, this, [this] {
        if (m_session)
            m_session->allowWrites(kOperatorTime);
    });
    m_cancel = new QPushButton(tr("Cancel"));
    m_cancel->setObjectName(QStringLiteral("retryCancel"));
    m_cancel->setAutoDefault(false); // Return retries, or does nothing
    connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
    m_retry = new QPushButton(m_plan.id == 0 ? tr("Retry all") : tr("Retry"));
    m_retry->setObjectName(QStringLiteral("retrySend"));
    m_retry->setDefault(true);
    connect(m_retry, &QPushButton::clicked, this, &RetryDialog::send);
    row->addWidget(m_operator);
    row->addStretch();
    row->addWidget(m_cancel);
    row->addWidget(m_retry);
    for (QWidget *one : std::initializer_list<QWidget *>{title, means, ask, m_reason, m_blocked, m_outcome})
        all->addWidget(one);
    all->addStretch();
    all->addLayout(row);
    setMinimumWidth(fontMetrics().averageCharWidth() * 84);
    m_reason->setFocus();
}

QString RetryDialog::blockedBecause() const
{
    if (!m_session || m_session->gate() == nullptr)
        return tr("Disabled: the connection is closed.");
    if (!m_session->gate()->operatorTimeLeft())
        return tr("Read-only. Switch %1 to operator mode first.").arg(m_session->profile().name);
    if (m_reason->text().trimmed().isEmpty())
        return tr("A reason is required. It goes into the audit list.");
    return {};
}

void RetryDialog::follow()
{
    const bool asking = m_step == Step::Asking;
    const QString why = asking ? blockedBecause() : QString();
    m_blocked->setText(why);
    m_blocked->setVisible(!why.isEmpty());
    m_reason->setEnabled(asking);
    m_operator->setVisible(asking && m_session && m_session->gate() != nullptr && !m_session->gate()->operatorTimeLeft());
    m_retry->setVisible(asking);
    m_retry->setEnabled(why.isEmpty());
    m_retry->setToolTip(why);
    m_cancel->setText(asking ? tr("Cancel") : tr("Close"));
    m_outcome->setVisible(!asking);
}

void RetryDialog::send()
{
    if (m_step != Step::Asking || !blockedBecause().isEmpty())
        return;
    m_plan.reason = m_reason->text().trimmed().toStdString();
    m_step = Step::Sent;
    m_outcome->setText(tr("Sent, waiting for the answer\u2026"));
    setTone(m_outcome, Tone::Muted);
    follow();
    m_session->retryDead(m_plan);
}

void RetryDialog::onDone(const RetryReport &report)
{
    const auto &[plan, result] = report;
    if (m_step != Step::Sent || plan.queue != m_plan.queue || plan.id != m_plan.id || plan.reason != m_plan.reason)
        return;
    m_step = Step::Over;
    m_outcome->setText((result ? QStringLiteral("\u2713 ") : QStringLiteral("\u2716 ")) + shownText(retrySentence(plan, result)));
    const bool unknown = !result && result.error().kind == ErrorKind::OutcomeUnknown;
    setTone(m_outcome, result ? Tone::Normal : unknown ? Tone::Stale : Tone::Critical);
    follow();
    m_cancel->setFocus();
}

} // namespace tenure::ui
