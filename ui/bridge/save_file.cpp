// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/save_file.h"

#include "ui/bridge/mailbox.h"
#include "ui/bridge/retire.h"

#include <QSaveFile>

namespace tenure::ui
{

void saveFile(const QString &path, QByteArray bytes, QObject *context, std::function<void(QString)> done)
{
    // The mailbox must live in the GUI thread, as long as the context does.
    auto *holder = new QObject(context);
    auto mailbox = std::make_shared<Mailbox>(holder);
    QObject::connect(holder, &QObject::destroyed, [mailbox]() mutable { mailbox->close(); });
    retire([path, bytes = std::move(bytes), slot = mailbox->slot(), holder, done = std::move(done)] {
        QSaveFile file(path);
        const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) >= 0 && file.commit();
        const QString problem = written ? QString() : file.errorString();
        Mailbox::postTo(slot, [holder, done, problem] {
            holder->deleteLater();
            done(problem);
        });
    });
}

} // namespace tenure::ui
