// SPDX-License-Identifier: GPL-3.0-or-later
// What a retry of dead letters is called in the audit list and the journal.
#include "core/runtime/operator_gate.h"

namespace tenure
{

std::string retryObject(const RetryPlan& plan)
{
    if (plan.id == 0)
        return "every dead letter of " + plan.queue;
    return "dead letter " + std::to_string(plan.id) + " of " + plan.queue;
}

const char* outcomeWord(const RetryResult& result)
{
    if (result)
        return *result > 0 ? "retried" : "nothing to retry";
    switch (result.error().kind) {
    case ErrorKind::Denied:
    case ErrorKind::Rejected:
        return "denied";
    case ErrorKind::OutcomeUnknown:
        return "unknown";
    default:
        return "failed";
    }
}

std::string retrySentence(const RetryPlan& plan, const RetryResult& result)
{
    if (!result && result.error().kind == ErrorKind::OutcomeUnknown)
        return result.error().text() + ". It may have been done: look at the queue, then repeat it";
    if (!result)
        return result.error().text();
    if (*result == 0)
        return "Nothing was changed: " + std::string(plan.id == 0 ? "there was no dead letter" : "it is no dead letter any more");
    if (*result == 1)
        return "1 dead letter is pending again, with fresh attempts";
    return std::to_string(*result) + " dead letters are pending again, with fresh attempts";
}

} // namespace tenure
