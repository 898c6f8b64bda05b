// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/kubernetes/kube_api.h"
#include "core/backend/kubernetes/kube_view.h"

namespace tenure::kube
{

/// Where a lease lives.
struct LeasePlace {
    std::string nameSpace;
    std::string name;
    [[nodiscard]] std::string key() const { return nameSpace + "/" + name; }
};

/// BadConfig: no name of a Lease, or no namespace where one is needed.
[[nodiscard]] Result<LeasePlace> placeOf(const LeaseId &lease, const Settings &settings);
/// Nothing for a Lease outside the URL's namespace.
[[nodiscard]] LeaseId idOf(const LeaseObject &object, const Settings &settings);
[[nodiscard]] bool isShown(const LeaseObject &object, const Settings &settings);
/// "/apis/coordination.k8s.io/v1/namespaces/NS/leases/NAME", without the parts that are empty.
[[nodiscard]] std::string leasesPath(const std::string &nameSpace, const std::string &name = {});

/// One command under way: asks for one request after the other until it has a result. Pure but for the
/// View and the clock: it sends nothing itself.
class Work
{
public:
    Work(const Command &command, const Settings &settings, View &view);
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    /// The next request, or nothing when `result` is there.
    [[nodiscard]] std::optional<HttpRequest> next();
    /// What became of it.
    void answer(const Result<HttpResponse> &response);
    [[nodiscard]] const std::string &key() const { return m_key; }
    /// Of the time until now: what new connections took.
    [[nodiscard]] Duration settingUp() const { return m_settingUp; }
    std::optional<Result<Reply>> result;

private:
    enum class Stage { Decide, Look, Create, Put, Patch };

    void decide(); ///< by what the view knows: a result, or the next stage
    void decideAcquire(const Acquire &acquire, const std::optional<Seen> &seen);
    void decideRenew(const Renew &renew, const std::optional<Seen> &seen);
    void decideRelease(const Release &release, const std::optional<Seen> &seen);
    void decideRead(const Read &read, const std::optional<Seen> &seen);
    void decideOperate(const Operate &operate, const std::optional<Seen> &seen);
    void put(std::string body, WallTime stamp);
    void afterLook(const HttpResponse &response);
    void afterCreate(const HttpResponse &response);
    void afterWrite(const HttpResponse &response);
    [[nodiscard]] bool noteObject(const HttpResponse &response);
    [[nodiscard]] Result<Reply> reply(Outcome outcome, ReadDepth depth) const;
    [[nodiscard]] Reply refused(const Seen &seen, Instant until, Instant now) const;
    [[nodiscard]] NewTerm newTerm(const Acquire &acquire, const Seen &seen) const;
    void done(Outcome outcome, ReadDepth depth = ReadDepth::Full) { result = reply(outcome, depth); }
    void failed(Error error) { result = fail(std::move(error)); }
    void lookAgain();

    const Command &m_command;
    const Settings &m_settings;
    View &m_view;
    LeasePlace m_place;
    std::string m_key;
    Stage m_stage = Stage::Decide;
    std::string m_body; ///< of the next write
    bool m_looked = false; ///< asked the server within this command
    bool m_wrote = false; ///< the write that decides the outcome was carried out
    /// The renewTime last sent. A write whose answer was lost is refused when curl repeats it on a new
    /// connection; a Lease that carries this very time says that the first one had been carried out.
    std::optional<WallTime> m_put;
    bool m_created = false; ///< the object is ours, made a moment ago
    int m_tries = 0;
    Duration m_settingUp{};
};

} // namespace tenure::kube
