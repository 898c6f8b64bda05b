// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/store.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace tenure::kube
{

/// What a Lease object is for.
enum class LeaseClass {
    Election, ///< candidates compete for it
    NodeHeartbeat, ///< kube-node-lease: a kubelet's sign of life
    ApiServer, ///< an API server's identity
    Endpoints, ///< no Lease at all: an election kept in an annotation, see kube_legacy.h
    ConfigMap, ///< the same
};

/// Annotations of ours. A term's annotations count only while `acquired` equals spec.acquireTime: other
/// candidates carry foreign annotations along when they take a lease over.
namespace note
{
inline constexpr const char *kNonce = "tenure-project.github.io/nonce";
inline constexpr const char *kToken = "tenure-project.github.io/token"; ///< the last one granted
inline constexpr const char *kHolder = "tenure-project.github.io/holder";
inline constexpr const char *kAcquired = "tenure-project.github.io/acquired";
/// "<nonce> <milliseconds>": that term is asked to step down and to stay out so long.
inline constexpr const char *kAsk = "tenure-project.github.io/ask";
inline constexpr const char *kCleared = "tenure-project.github.io/cleared"; ///< spec.acquireTime of a clear
} // namespace note

/// A coordination.k8s.io/v1 Lease as the server told it. Every field of spec may be absent, and none of
/// them is believed further than it is shown.
struct LeaseObject {
    std::string nameSpace, name, uid, resourceVersion;
    std::uint64_t version = 0; ///< resourceVersion as a number; 0 when it is none
    std::string text; ///< the whole object as JSON, without managedFields
    std::string yaml; ///< the same for a person; only the beginning of a huge one
    LeaseClass leaseClass = LeaseClass::Election;
    std::optional<std::string> holder;
    std::optional<std::int64_t> durationSeconds;
    std::optional<std::int64_t> transitions;
    std::string acquireTime, renewTime; ///< as they stand there; empty when absent
    std::string strategy, preferredHolder;
    std::string owner; ///< "Node worker-1", of the first owner reference
    std::string writer; ///< field manager of the last write of renewTime
    std::optional<WallTime> writtenAt; ///< of that write, by the server's clock, whole seconds

    // Annotations of ours, as they stand there:
    Nonce nonce;
    FencingToken token;
    std::string termHolder, termAcquired, cleared;
    Nonce askNonce;
    Milliseconds askedFor{};

    [[nodiscard]] bool held() const { return holder && !holder->empty(); }
    /// The present (or, when vacant, the last) term is one of ours.
    [[nodiscard]] bool ours() const;
    [[nodiscard]] bool isTerm(const Term &term) const; ///< token 0 is not compared
    [[nodiscard]] bool asked() const { return ours() && nonce && askNonce == nonce; }
    [[nodiscard]] std::optional<Duration> duration() const; ///< nothing when absent or not positive
};

inline constexpr std::string_view kHoldPrefix = "hold:";

/// Corrupt when it is no Lease.
[[nodiscard]] Result<LeaseObject> leaseOf(const nlohmann::json &json, const std::string &where);
[[nodiscard]] Result<LeaseObject> leaseOf(const std::string &body, const std::string &where);

/// Who takes a lease, and how.
struct NewTerm {
    std::string holder;
    Nonce nonce; ///< none for an operator's hold
    FencingToken token;
    Milliseconds ttl{};
    bool fresh = false; ///< the object was made for this term: no transition yet
};

// Bodies for PUT, each the object with everything unknown kept; `now` is this machine's wall clock, as
// client-go writes it.
[[nodiscard]] std::string newTermBody(const LeaseObject &object, const NewTerm &term, WallTime now);
[[nodiscard]] std::string renewBody(const LeaseObject &object, Milliseconds ttl, WallTime now);
/// As client-go gives a lease up: nobody, for one second.
[[nodiscard]] std::string releaseBody(const LeaseObject &object, WallTime now);
/// A Lease that nobody holds.
[[nodiscard]] std::string vacantBody(const std::string &nameSpace, const std::string &name);
[[nodiscard]] std::int64_t transitionsAfter(const LeaseObject &object, const NewTerm &term);

/// A JSON-Patch that changes the object only while uid, holder, transitions and acquireTime are as they
/// were seen (a failed test is 422), because a healthy leader renews too often for a resourceVersion.
[[nodiscard]] std::string askPatch(const LeaseObject &seen, Milliseconds duration);
[[nodiscard]] std::string holdPatch(const LeaseObject &seen, const NewTerm &hold, WallTime now);
[[nodiscard]] std::string clearPatch(const LeaseObject &seen, WallTime now);

} // namespace tenure::kube
