// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/history.h"

#include "ui/bridge/retire.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace tenure::ui
{

/// What the two threads share.
struct History::Reader {
    struct Waiting {
        const void *asker; ///< only compared
        int topic;
        Question question;
        std::function<void(Answer, QString)> done;
    };
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Waiting> waiting; ///< guarded by mutex
    JournalQuery *running = nullptr; ///< guarded by mutex
    bool ends = false; ///< guarded by mutex
    std::string path;

    void run()
    {
        std::optional<JournalQuery> query; // of this thread only
        while (true) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [this] { return ends || !waiting.empty(); });
            if (ends)
                return;
            Waiting next = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            if (!query) {
                if (auto opened = JournalQuery::open(path)) {
                    query.emplace(std::move(*opened));
                } else {
                    next.done({}, QString::fromStdString(opened.error().text()));
                    continue;
                }
            }
            lock.lock();
            running = &*query;
            lock.unlock();
            Answer answer = next.question(*query);
            lock.lock();
            running = nullptr;
            lock.unlock();
            next.done(std::move(answer), {});
        }
    }
};

History::History(QString path, QObject *parent)
    : QObject(parent), m_path(std::move(path)), m_mailbox(this), m_reader(std::make_shared<Reader>())
{
    m_reader->path = m_path.toStdString();
    retire([reader = m_reader] { reader->run(); });
}

History::~History()
{
    m_mailbox.close();
    const std::lock_guard lock(m_reader->mutex);
    m_reader->ends = true;
    if (m_reader->running != nullptr)
        m_reader->running->interrupt();
    m_reader->changed.notify_all();
}

void History::ask(QObject *asker, int topic, Question question)
{
    // A destroyed asker's answer must not run: the guard lives and is looked at in the GUI thread.
    const auto guard = std::make_shared<QPointer<QObject>>(asker);
    auto done = [this, guard, slot = m_mailbox.slot()](Answer answer, QString problem) {
        Mailbox::postTo(slot, [this, guard, answer = std::move(answer), problem] {
            setProblem(problem);
            if (!guard->isNull() && answer)
                answer();
        });
    };
    const std::lock_guard lock(m_reader->mutex);
    std::erase_if(m_reader->waiting,
        [&](const Reader::Waiting &one) { return one.asker == asker && one.topic == topic; });
    m_reader->waiting.push_back({asker, topic, std::move(question), std::move(done)});
    m_reader->changed.notify_all();
}

void History::setProblem(const QString &problem)
{
    if (problem == m_problem)
        return;
    m_problem = problem;
    Q_EMIT problemChanged();
}

} // namespace tenure::ui
