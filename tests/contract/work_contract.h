// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/work/work_queue.h"

#include <QObject>

#include <memory>
#include <string>

namespace tenure
{

/// What every work queue promises, against a real store. A test class per store inherits it.
class WorkContract : public QObject
{
    Q_OBJECT

protected:
    /// Another connection to the queue of that name; the same name gives the same queue.
    [[nodiscard]] virtual std::unique_ptr<WorkQueue> open(const std::string &queue) = 0;
    /// Marks the queue as made by a newer Tenure.
    virtual void makeNewer(const std::string &queue) = 0;

private Q_SLOTS:
    void init();
    void theLifeOfAnItem();
    void aKeyIsPutInOnce();
    void aBatchIsClaimedOnce();
    void longestDueFirst();
    void listsComeInPages();
    void aClaimThatRanOutIsAnothers();
    void aLateCompletionIsRefused();
    void aHeartbeatKeepsAClaim();
    void failuresComeBackAndEnd();
    void aDeadLetterCanBeRetried();
    void aPoisonItemIsBuried();
    void aRepeatedAnswerIsTheSame();
    void anOlderLeaderIsRefused();
    void anyBytesTravel();
    void tooMuchIsRefused_data();
    void tooMuchIsRefused();
    void aNewerQueueIsRefused();
    void countsAreTrue();

protected:
    [[nodiscard]] std::int64_t put(NewItem item);
    [[nodiscard]] std::vector<Claim> claim(WorkQueue &queue, std::size_t limit = 10,
        Milliseconds timeout = std::chrono::minutes(1), FencingToken fence = {});
    [[nodiscard]] Settled settle(WorkQueue &queue, Settlement one, FencingToken fence = {});
    [[nodiscard]] static Instant soon();
    std::string m_name;
    std::unique_ptr<WorkQueue> m_queue;
    int m_tests = 0;
};

} // namespace tenure
