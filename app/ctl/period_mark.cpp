// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/period_mark.h"

#include "app/ctl/target.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>

namespace tenure::ctl
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kLongestSlack = 60s;
constexpr Duration kShortestPeriod = 1s;

} // namespace

PeriodMark::PeriodMark(
    LeaseStore &store, LeaseId lease, Term term, Duration period, Milliseconds ttl, Instant asked)
    : m_store(&store), m_lease(std::move(lease)), m_term(std::move(term)), m_period(period), m_ttl(ttl),
      m_asked(asked)
{
}

Result<PeriodMark> PeriodMark::make(LeaseStore &store, const LeaseId &lease, const HolderId &self,
    Duration period, Milliseconds ttl, Instant asked)
{
    const TimingLimits &limits = store.traits().limits;
    const std::string name = lease.name() + "@once";
    const Result<LeaseId> mark = LeaseId::parse(name);
    if (!mark || name.size() > store.traits().maxNameBytes) {
        return fail(ErrorKind::BadConfig, "The lease name is too long for --once, which adds \"@once\"", {},
            "Use a shorter name");
    }
    if (period < kShortestPeriod || period > limits.ceiling) {
        return fail(ErrorKind::BadConfig, "A period of " + durationText(period) + " is not possible", {},
            "Ask for " + durationText(kShortestPeriod) + " to " + durationText(limits.ceiling));
    }
    return PeriodMark(store, *mark, {self, Nonce::random(), {}}, period, ttl, asked);
}

Duration PeriodMark::slack() const
{
    return std::min(m_period / 10, kLongestSlack);
}

Milliseconds PeriodMark::restOfPeriod() const
{
    const Instant now = BootClock::now();
    const Duration rest = m_period - (now - std::max(m_asked, now - slack()));
    if (m_store->traits().limits.wholeSeconds)
        return std::chrono::ceil<std::chrono::seconds>(rest);
    return std::chrono::ceil<Milliseconds>(rest);
}

Result<Reply> PeriodMark::call(Command command)
{
    const std::array<Command, 1> commands{std::move(command)};
    return std::move(m_store->execute(commands, BootClock::now() + kCallTimeout).front());
}

Result<std::optional<PeriodMark::Standing>> PeriodMark::look()
{
    const Result<Reply> reply = call(Read{m_lease, ReadDepth::Full});
    if (!reply && reply.error().kind == ErrorKind::NotFound)
        return std::nullopt;
    if (!reply)
        return fail(reply.error());
    const LeaseRecord &record = reply->record;
    if (!record.holder)
        return std::nullopt;
    return Standing{*record.holder, record.remaining.value_or(m_period)};
}

Result<std::optional<PeriodMark::Standing>> PeriodMark::take()
{
    // With the lease's own ttl first: a store that just started lets no term begin for that long,
    // and nobody should have to wait a whole period for that.
    const Result<Reply> taken = call(Acquire{m_lease, m_term.holder, m_term.nonce, m_ttl});
    if (!taken)
        return fail(taken.error());
    if (taken->outcome != Outcome::Done) {
        const LeaseRecord &record = taken->record;
        return Standing{record.holder.value_or(record.hold ? "hold:" + record.hold->by : std::string()),
            taken->retryIn.value_or(m_ttl)};
    }
    m_term.token = taken->record.token;
    const Result<Reply> marked = call(Renew{m_lease, m_term, restOfPeriod()});
    if (!marked)
        return fail(marked.error());
    if (marked->outcome != Outcome::Done)
        return fail(ErrorKind::Unavailable, "The period's mark was taken away at once", m_lease.name());
    return std::nullopt;
}

Result<void> PeriodMark::forget()
{
    const Result<Reply> given = call(Release{m_lease, m_term});
    if (!given)
        return fail(given.error());
    return {};
}

} // namespace tenure::ctl
