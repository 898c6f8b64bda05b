// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/lab_words.h"

#include "core/base/text.h"
#include "core/base/time_text.h"

#include <QObject>

namespace tenure::ui
{
namespace
{

QString shownText(const std::string &bytes)
{
    // "scheduler-1@vm-fa1944f2": what stands before the @ tells instances of one process apart.
    return QString::fromStdString(printable(bytes.substr(0, bytes.find('@')), 40));
}

bool runs(const InstanceView &view)
{
    return view.life == InstanceView::Life::Running || view.life == InstanceView::Life::Paused;
}

} // namespace

QString beliefText(const InstanceView &view)
{
    if (view.report.believes)
        return QObject::tr("● LEADER");
    if (!runs(view))
        return QStringLiteral("–");
    if (view.report.seen && view.report.seen->holder && *view.report.seen->holder != view.holder)
        return QObject::tr("○ follows %1").arg(shownText(*view.report.seen->holder));
    return QObject::tr("○ follower");
}

QString truthText(const InstanceView &view, const LeaseStatus *status, bool fresh)
{
    if (!status || !fresh)
        return QObject::tr("? not observed");
    if (!status->record.holder)
        return QObject::tr("▲ nobody");
    if (*status->record.holder == view.holder)
        return QObject::tr("● holds it");
    return QObject::tr("%1 holds it").arg(shownText(*status->record.holder));
}

bool isMistaken(const InstanceView &view, const LeaseStatus *status, bool fresh)
{
    if (!status || !fresh || !runs(view))
        return false;
    const bool holds = status->record.holder && *status->record.holder == view.holder;
    return holds != view.report.believes;
}

QString lifeText(const InstanceView &view)
{
    const QString pid = view.pid > 0 ? QObject::tr(", pid %1").arg(view.pid) : QString();
    switch (view.life) {
    case InstanceView::Life::Running:
        return QObject::tr("running") + pid;
    case InstanceView::Life::Paused:
        return QObject::tr("‖ paused") + pid;
    case InstanceView::Life::Crashed:
        return QObject::tr("✖ crashed");
    case InstanceView::Life::Stopping:
        return QObject::tr("stopping");
    case InstanceView::Life::Stopped:
        return QObject::tr("stopped");
    }
    return {};
}

QString faultText(const InstanceView &view, Instant now)
{
    QStringList parts;
    if (view.life == InstanceView::Life::Paused)
        parts += QObject::tr("paused");
    if (view.cutOff)
        parts += QObject::tr("cut off");
    if (view.life == InstanceView::Life::Crashed && view.report.error)
        parts += QObject::tr("ended: %1").arg(QString::fromStdString(printable(view.report.error->what)));
    else if (view.life == InstanceView::Life::Crashed)
        parts += QObject::tr("crashed");
    QString text = parts.join(QStringLiteral(", "));
    if (!text.isEmpty() && view.faultUntil && *view.faultUntil > now) {
        text += QObject::tr(", %1 left").arg(QString::fromStdString(durationText(*view.faultUntil - now)));
    }
    return text;
}

} // namespace tenure::ui
