// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>

#include <functional>

class QObject;

namespace tenure::ui
{

/// Writes `bytes` to `path` on a thread of its own, all or nothing. `done` gets an empty text or why
/// it failed, in the GUI thread, and is not called when `context` is gone first.
void saveFile(const QString &path, QByteArray bytes, QObject *context, std::function<void(QString)> done);

} // namespace tenure::ui
