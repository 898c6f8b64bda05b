// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/instance_kinds.h"

#include <QComboBox>

namespace tenure::ui
{

void fillInstanceKinds(QComboBox &box, Session &session)
{
    box.setAccessibleName(QObject::tr("What local instances are made of"));
    box.addItem(QObject::tr("threads of the console"), int(LocalInstances::As::Threads));
    const LocalInstances *all = session.instances();
    const QString why = all ? QString::fromStdString(all->whyNoProcesses()) : QString();
    if (all && why.isEmpty()) {
        box.addItem(QObject::tr("processes of their own"), int(LocalInstances::As::Process));
        box.setToolTip(QObject::tr("A process is a tenurectl campaign: stopped by SIGSTOP, killed by SIGKILL, "
                                   "cut off by a proxy before it. None outlives the console."));
    } else {
        box.setToolTip(QObject::tr("No processes: %1").arg(why));
    }
    box.setEnabled(box.count() > 1);
}

LocalInstances::As chosenKind(const QComboBox &box)
{
    return LocalInstances::As(box.currentData().toInt());
}

QString drillPrefix(const Session &session)
{
    const bool slashes = !session.traits() || session.traits()->scheme != "kubernetes";
    return slashes ? QStringLiteral("drill/") : QStringLiteral("drill-");
}

} // namespace tenure::ui
