// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/release_words.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <QObject>

namespace tenure::ui
{
namespace
{

QString shownText(const std::string &bytes)
{
    return QString::fromStdString(printable(bytes));
}

QString holderOf(const ReleaseReport &report)
{
    return report.record && report.record->holder ? shownText(*report.record->holder)
                                                  : QObject::tr("nobody");
}

/// Empty for a format without tokens.
QString tokenOf(const ReleaseReport &report, const QString &how)
{
    return report.record && report.record->token ? how.arg(report.record->token.value) : QString();
}

QString why(const ReleaseReport &report)
{
    return QString::fromStdString(report.error ? report.error->text() : report.sentence);
}

const char *verbWord(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return "ask";
    case OperatorVerb::Hold:
        return "hold";
    case OperatorVerb::Clear:
        return "clear";
    }
    return "";
}

} // namespace

QString outcomeText(const ReleaseReport &report, const ReleasePlan &plan)
{
    const QString after = QString::fromStdString(durationText(report.after));
    const QString holder = holderOf(report);
    switch (report.outcome) {
    case ReleaseOutcome::Taken:
        return QObject::tr("RELEASED, taken by %1 after %2").arg(holder, after) + tokenOf(report, QObject::tr(" (token %1)"));
    case ReleaseOutcome::Vacant:
        return QObject::tr("RELEASED, still vacant after %1").arg(after);
    case ReleaseOutcome::Reacquired:
        return QObject::tr("RE-ACQUIRED by %1 after %2. It is healthy enough to renew: restart it, "
                           "then release again.").arg(holder, after);
    case ReleaseOutcome::Held:
        return QObject::tr("HELD by operator %1: nobody leads until the hold ends")
            .arg(shownText(plan.by));
    case ReleaseOutcome::Asked:
        return QObject::tr("ASKED: %1 was asked to step down and has not answered for %2")
            .arg(shownText(plan.expected.holder), after);
    case ReleaseOutcome::Refused:
        return QObject::tr("REFUSED: it changed while you read. Holder is now %1%2. Nothing was written.")
            .arg(holder, tokenOf(report, QObject::tr(", token %1")));
    case ReleaseOutcome::Denied:
        return QObject::tr("DENIED: %1").arg(why(report));
    case ReleaseOutcome::Unknown:
        return QObject::tr("UNKNOWN: no answer, it may have happened. %1").arg(why(report));
    case ReleaseOutcome::Failed:
        return QObject::tr("FAILED: nothing was written. %1").arg(why(report));
    }
    return {};
}

bool wentWell(ReleaseOutcome outcome)
{
    return outcome == ReleaseOutcome::Taken || outcome == ReleaseOutcome::Vacant
        || outcome == ReleaseOutcome::Held || outcome == ReleaseOutcome::Asked;
}

QString commandLine(const ReleasePlan &plan, const StoreTraits &traits)
{
    std::string line = "tenurectl release " + shellQuoted(traits.display) + " "
        + shellQuoted(plan.lease.name()) + " --holder " + shellQuoted(plan.expected.holder);
    if (plan.expected.token)
        line += " --token " + std::to_string(plan.expected.token.value);
    line += std::string(" --mode ") + verbWord(plan.verb);
    if (plan.verb != OperatorVerb::Clear)
        line += " --hold " + std::to_string(plan.duration.count() / 1000) + "s";
    line += " --reason " + shellQuoted(plan.reason.empty() ? "..." : plan.reason);
    return QString::fromStdString(line);
}

QString confirmationText(const LeaseId &lease, const QString &connection)
{
    const QString name = shownText(lease.name());
    return name.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty) + QLatin1Char('@')
        + connection;
}

QString whyNotReleasable(const Session &session, const LeaseStatus *status, Instant now)
{
    if (!status)
        return QObject::tr("Disabled: the lease is gone.");
    const LinkState link = linkStateAt(session.link(), now);
    if (link == LinkState::Paused)
        return QObject::tr("Disabled: the view is frozen. Press Space to thaw it.");
    if (!isFresh(link)) {
        return QObject::tr("Disabled: data is %1 old. A release needs live data.")
            .arg(QString::fromStdString(durationText(now - session.link().lastProof)));
    }
    if (const LeaseAside *aside = session.aside(status->record.lease); aside && !aside->release.what.empty())
        return QObject::tr("Disabled: %1").arg(shownText(aside->release.what));
    if (!status->record.holder)
        return QObject::tr("Disabled: nobody holds it.");
    if (!session.gate() || !session.gate()->operatorTimeLeft())
        return QObject::tr("Disabled: this connection is read-only.");
    return {};
}

QString changeText(const Seen &before, const Seen &now)
{
    if (before == now)
        return {};
    if (before.holder != now.holder) {
        return QObject::tr("Holder changed from %1 to %2 while you read.")
            .arg(before.holder.empty() ? QObject::tr("nobody") : shownText(before.holder),
                now.holder.empty() ? QObject::tr("nobody") : shownText(now.holder));
    }
    if (before.token != now.token) {
        return QObject::tr("Token changed from %1 to %2 while you read.")
            .arg(before.token.value).arg(now.token.value);
    }
    return QObject::tr("The stored version changed while you read.");
}

} // namespace tenure::ui
