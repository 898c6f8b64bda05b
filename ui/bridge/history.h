// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "ui/bridge/mailbox.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <memory>

namespace tenure::ui
{

/// The console's reader of the journal: questions are answered on a thread of its own, in order, and
/// the answers come back to the GUI thread. A newer question of one asker on one topic takes the place
/// of an older one that still waits, so that a drag over years of history asks once, not a hundred
/// times. GUI thread; never blocks.
class History final : public QObject
{
    Q_OBJECT
public:
    /// Runs in the GUI thread with what was found.
    using Answer = std::function<void()>;
    /// Runs on the reader's thread; returns the answer.
    using Question = std::function<Answer(JournalQuery &)>;

    explicit History(QString path, QObject *parent = nullptr);
    ~History() override;
    [[nodiscard]] const QString &path() const { return m_path; }
    /// Why nothing can be read, as the last question found; empty: it can.
    [[nodiscard]] const QString &problem() const { return m_problem; }
    /// The answer is dropped when `asker` is gone.
    void ask(QObject *asker, int topic, Question question);

Q_SIGNALS:
    void problemChanged();

private:
    struct Reader;
    void setProblem(const QString &problem);

    QString m_path;
    QString m_problem;
    Mailbox m_mailbox;
    std::shared_ptr<Reader> m_reader;
};

} // namespace tenure::ui
