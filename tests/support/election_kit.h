// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/faulty.h"
#include "core/backend/memory/memory_backend.h"
#include "core/runtime/elector.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace tenure::test
{

inline Timing timingOf(Milliseconds ttl)
{
    TimingRequest request;
    request.ttl = ttl;
    return *Timing::make(request);
}

/// What an elector's handlers were told, in order. Any thread.
class Diary
{
public:
    struct Entry {
        bool gained = false;
        Term term;
        LossReason reason = LossReason::GivenBack;
        Instant at;
        Instant validUntil; ///< as the elector's report said inside the handler
    };
    void add(Entry entry)
    {
        const std::lock_guard lock(m_mutex);
        m_entries.push_back(std::move(entry));
    }
    [[nodiscard]] std::vector<Entry> entries() const
    {
        const std::lock_guard lock(m_mutex);
        return m_entries;
    }
    [[nodiscard]] std::size_t count(bool gained) const
    {
        const auto all = entries();
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [gained](const Entry &entry) { return entry.gained == gained; }));
    }
    /// (gained lost)*, each lost of the term just gained; tokens grow.
    [[nodiscard]] bool followsGrammar() const
    {
        const auto all = entries();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].gained != (i % 2 == 0))
                return false;
            if (i % 2 == 1 && !(all[i].term == all[i - 1].term))
                return false;
            if (i >= 2 && i % 2 == 0 && all[i].term.token <= all[i - 2].term.token)
                return false;
        }
        return true;
    }

private:
    mutable std::mutex m_mutex;
    std::vector<Entry> m_entries;
};

/// A door that handlers wait at. Opens when destroyed.
class Gate
{
public:
    ~Gate() { open(); }
    void open()
    {
        m_open = true;
        m_open.notify_all();
    }
    void pass()
    {
        ++m_waiting;
        m_open.wait(false);
    }
    [[nodiscard]] int arrived() const { return m_waiting; }

private:
    std::atomic<bool> m_open = false;
    std::atomic<int> m_waiting = 0;
};

/// What else a candidate's handlers do.
struct Extras {
    std::function<void(Elector &)> inGained, inLost, inChange;
    Duration drainLimit = kDefaultDrainLimit;
};

/// One process, so to speak: a connection with faults, a host, an elector with a diary.
class Candidate
{
public:
    Candidate(const std::shared_ptr<const Backend> &backend, const char *name, Milliseconds ttl, Extras extras = {},
        const char *lease = "billing/scheduler")
        : host(makeFaultyBackend(backend, faults, SystemClock::instance()))
        , m_extras(std::move(extras))
        , elector(host, LeaseId::observed(lease), *HolderId::parse(name), timingOf(ttl), callbacks(),
              m_extras.drainLimit)
    {
    }

    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    Diary diary;
    ElectorHost host;

private:
    void note(bool gained, const Term &term, LossReason reason)
    {
        diary.add({gained, term, reason, BootClock::now(), elector.report().validUntil});
    }
    ElectorCallbacks callbacks()
    {
        ElectorCallbacks out;
        out.onGained = [this](const Term &term) {
            note(true, term, LossReason::GivenBack);
            if (m_extras.inGained)
                m_extras.inGained(elector);
        };
        out.onLost = [this](const Term &term, LossReason reason) {
            note(false, term, reason);
            if (m_extras.inLost)
                m_extras.inLost(elector);
        };
        if (m_extras.inChange)
            out.onChange = [this](const ElectorReport &) { m_extras.inChange(elector); };
        return out;
    }
    const Extras m_extras;

public:
    Elector elector; ///< last: it ends first
};

/// Asks all electors every millisecond whether they lead, and remembers when two did at once.
class BelieverWatch
{
public:
    explicit BelieverWatch(std::vector<const Elector *> electors)
        : m_electors(std::move(electors))
        , m_thread([this](const std::stop_token &stop) {
            while (!stop.stop_requested()) {
                look();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        })
    {
    }
    [[nodiscard]] int overlaps() const { return m_overlaps; }
    [[nodiscard]] int looks() const { return m_looks; }

private:
    void look()
    {
        // The electors cannot be asked at one instant: two led at once for certain when the first
        // still leads by the same token after the second was seen to lead.
        std::vector<std::pair<const Elector *, FencingToken>> before;
        for (const Elector *elector : m_electors) {
            const FencingToken token = elector->token();
            if (!elector->isLeader())
                continue;
            for (const auto &[other, otherToken] : before) {
                if (LeadershipGuard(*other, otherToken).stillLeader())
                    ++m_overlaps;
            }
            before.emplace_back(elector, token);
        }
        ++m_looks;
    }
    const std::vector<const Elector *> m_electors;
    std::atomic<int> m_overlaps = 0;
    std::atomic<int> m_looks = 0;
    std::jthread m_thread;
};

/// A backend whose every batch passes through `around` (which may call the real store, or not).
class HookedBackend final : public Backend
{
public:
    using Around = std::function<std::vector<Result<Reply>>(
        LeaseStore &real, std::span<const Command> commands, Instant deadline)>;
    HookedBackend(std::shared_ptr<const Backend> real, Around around)
        : m_real(std::move(real)), m_around(std::move(around))
    {
    }
    [[nodiscard]] const StoreTraits &traits() const override { return m_real->traits(); }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override { return m_real->makeFeed(); }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<Store>(m_real->makeStore(), m_around);
    }

private:
    class Store final : public LeaseStore
    {
    public:
        Store(std::unique_ptr<LeaseStore> real, Around around) : m_real(std::move(real)), m_around(std::move(around)) { }
        [[nodiscard]] const StoreTraits &traits() const override { return m_real->traits(); }
        [[nodiscard]] std::vector<Result<Reply>> execute(std::span<const Command> commands, Instant deadline) override
        {
            return m_around(*m_real, commands, deadline);
        }
        [[nodiscard]] Result<StoreFacts> probe(Instant deadline) override { return m_real->probe(deadline); }
        [[nodiscard]] Result<std::string> init(bool dryRun, Instant deadline) override
        {
            return m_real->init(dryRun, deadline);
        }

    private:
        const std::unique_ptr<LeaseStore> m_real;
        const Around m_around;
    };
    const std::shared_ptr<const Backend> m_real;
    const Around m_around;
};

} // namespace tenure::test
