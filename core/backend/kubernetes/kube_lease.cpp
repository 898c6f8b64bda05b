// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_lease.h"

#include "core/backend/kubernetes/kube_time.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;

constexpr std::int64_t kMostTransitions = 2'147'483'647;

const Json *child(const Json *map, const char *key)
{
    if (map == nullptr || !map->is_object())
        return nullptr;
    const auto found = map->find(key);
    return found == map->end() || found->is_null() ? nullptr : &*found;
}

std::string text(const Json *map, const char *key)
{
    const Json *value = child(map, key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::int64_t> integer(const Json *map, const char *key)
{
    const Json *value = child(map, key);
    if (value == nullptr || !value->is_number_integer())
        return std::nullopt;
    return value->get<std::int64_t>();
}

template <typename Number>
Number numberOf(std::string_view digits)
{
    Number value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return read.ec == std::errc() && read.ptr == digits.data() + digits.size() && !digits.empty() ? value : 0;
}

/// Of managedFields: the newest write that owns spec.renewTime.
void readWriter(const Json *metadata, LeaseObject &out)
{
    const Json *fields = child(metadata, "managedFields");
    if (fields == nullptr || !fields->is_array())
        return;
    for (const Json &entry : *fields) {
        const Json *v1 = child(&entry, "fieldsV1");
        const Json *spec = child(v1, "f:spec");
        if (spec == nullptr || spec->find("f:renewTime") == spec->end())
            continue;
        const auto at = parseTime(text(&entry, "time"));
        if (!at || (out.writtenAt && *at < *out.writtenAt))
            continue;
        out.writtenAt = at;
        out.writer = text(&entry, "manager");
    }
}

void readAnnotations(const Json *metadata, LeaseObject &out)
{
    const Json *notes = child(metadata, "annotations");
    out.nonce = Nonce::parse(text(notes, note::kNonce)).value_or(Nonce());
    out.token.value = numberOf<std::uint64_t>(text(notes, note::kToken));
    out.termHolder = text(notes, note::kHolder);
    out.termAcquired = text(notes, note::kAcquired);
    out.cleared = text(notes, note::kCleared);
    const std::string ask = text(notes, note::kAsk);
    const std::size_t space = ask.find(' ');
    if (space == std::string::npos)
        return;
    const auto ms = numberOf<std::int64_t>(std::string_view(ask).substr(space + 1));
    constexpr std::int64_t kLongestAsk = 24LL * 3600 * 1000;
    if (ms <= 0 || ms > kLongestAsk)
        return;
    out.askNonce = Nonce::parse(ask.substr(0, space)).value_or(Nonce());
    out.askedFor = Milliseconds(ms);
}

LeaseClass classOf(const Json *metadata, const LeaseObject &object)
{
    if (object.nameSpace == "kube-node-lease")
        return LeaseClass::NodeHeartbeat;
    const Json *labels = child(metadata, "labels");
    const bool identity = child(labels, "apiserver.kubernetes.io/identity") != nullptr
        || text(labels, "k8s.io/component") == "kube-apiserver";
    return object.nameSpace == "kube-system" && identity ? LeaseClass::ApiServer : LeaseClass::Election;
}

std::string dumped(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parsed(const LeaseObject &object)
{
    Json root = Json::parse(object.text, nullptr, false);
    if (!root["spec"].is_object())
        root["spec"] = Json::object();
    return root;
}

std::int64_t seconds(Milliseconds ttl)
{
    return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(ttl).count());
}

/// Only plain keys of ours and '/' in them stand in the paths below.
std::string annotationPath(const std::string &key)
{
    std::string out = "/metadata/annotations/";
    for (const char c : key)
        out += c == '/' ? std::string("~1") : c == '~' ? std::string("~0") : std::string(1, c);
    return out;
}

Json tests(const LeaseObject &seen)
{
    Json patch = Json::array();
    const auto test = [&](const char *path, Json value) {
        patch.push_back({{"op", "test"}, {"path", path}, {"value", std::move(value)}});
    };
    const auto orNull = [](const auto &value) { return value ? Json(*value) : Json(); };
    test("/metadata/uid", seen.uid);
    test("/spec/holderIdentity", orNull(seen.holder));
    test("/spec/leaseTransitions", orNull(seen.transitions));
    test("/spec/acquireTime", seen.acquireTime.empty() ? Json() : Json(seen.acquireTime));
    return patch;
}

void add(Json &patch, const std::string &path, Json value)
{
    patch.push_back({{"op", "add"}, {"path", path}, {"value", std::move(value)}});
}

void annotate(Json &patch, const LeaseObject &seen, const Json &notes)
{
    const Json root = Json::parse(seen.text, nullptr, false);
    const Json *metadata = child(&root, "metadata");
    if (child(metadata, "annotations") == nullptr) {
        patch.push_back({{"op", "test"}, {"path", "/metadata/annotations"}, {"value", Json()}});
        add(patch, "/metadata/annotations", notes);
        return;
    }
    for (const auto &[key, value] : notes.items())
        add(patch, annotationPath(key), value);
}

void emitYaml(const Json &json, const std::string &indent, std::string &out, std::size_t limit);

/// Plain where YAML reads it back as the same text, else as JSON's double-quoted form, which YAML shares.
std::string yamlScalar(const Json &json)
{
    if (!json.is_string())
        return dumped(json);
    const auto &value = json.get_ref<const std::string &>();
    static constexpr std::string_view kPlain
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./";
    const bool plain = !value.empty() && kPlain.find(value.front()) != std::string_view::npos
        && value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")
            == std::string::npos
        && value != "true" && value != "false" && value != "null" && value != "yes" && value != "no";
    return plain ? value : json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void emitEntry(
    const std::string &lead, const Json &value, const std::string &indent, std::string &out, std::size_t limit)
{
    if (value.is_structured() && !value.empty()) {
        out += lead + "\n";
        emitYaml(value, indent + "  ", out, limit);
    } else {
        out += lead + " " + yamlScalar(value) + "\n";
    }
}

void emitYaml(const Json &json, const std::string &indent, std::string &out, std::size_t limit)
{
    for (const auto &[key, value] : json.items()) {
        if (out.size() > limit)
            return;
        emitEntry(indent + (json.is_array() ? "-" : key + ":"), value, indent, out, limit);
    }
}

std::string yamlOf(const Json &json)
{
    constexpr std::size_t kMaxBytes = std::size_t{8} * 1024;
    std::string out;
    emitYaml(json, {}, out, kMaxBytes);
    if (out.size() > kMaxBytes) {
        out.resize(kMaxBytes);
        out += "...\n";
    }
    return out;
}

} // namespace

bool LeaseObject::ours() const
{
    return !termAcquired.empty() && termAcquired == acquireTime && (!held() || termHolder == *holder);
}

bool LeaseObject::isTerm(const Term &term) const
{
    return held() && ours() && *holder == term.holder.name() && nonce && nonce == term.nonce
        && (!term.token || token == term.token);
}

std::optional<Duration> LeaseObject::duration() const
{
    if (!durationSeconds || *durationSeconds <= 0)
        return std::nullopt;
    return std::chrono::seconds(std::min(*durationSeconds, kMostTransitions));
}

Result<LeaseObject> leaseOf(const Json &json, const std::string &where)
{
    LeaseObject out;
    const Json *metadata = child(&json, "metadata");
    out.name = text(metadata, "name");
    out.nameSpace = text(metadata, "namespace");
    out.uid = text(metadata, "uid");
    out.resourceVersion = text(metadata, "resourceVersion");
    if (out.name.empty() || out.resourceVersion.empty())
        return fail(ErrorKind::Corrupt, "The API server's answer is no Lease", where);
    out.version = numberOf<std::uint64_t>(out.resourceVersion);
    const Json *spec = child(&json, "spec");
    if (const Json *holder = child(spec, "holderIdentity"); holder != nullptr && holder->is_string())
        out.holder = holder->get<std::string>();
    out.durationSeconds = integer(spec, "leaseDurationSeconds");
    out.transitions = integer(spec, "leaseTransitions");
    out.acquireTime = text(spec, "acquireTime");
    out.renewTime = text(spec, "renewTime");
    out.strategy = text(spec, "strategy");
    out.preferredHolder = text(spec, "preferredHolder");
    const Json *owners = child(metadata, "ownerReferences");
    if (owners != nullptr && owners->is_array() && !owners->empty())
        out.owner = text(&owners->front(), "kind") + " " + text(&owners->front(), "name");
    readWriter(metadata, out);
    readAnnotations(metadata, out);
    out.leaseClass = classOf(metadata, out);
    Json kept = json;
    kept["metadata"].erase("managedFields"); // the server keeps them when a PUT does not name them
    if (!kept.contains("kind")) { // items of a list come without
        kept["apiVersion"] = "coordination.k8s.io/v1";
        kept["kind"] = "Lease";
    }
    out.text = dumped(kept);
    out.yaml = yamlOf(kept);
    return out;
}

Result<LeaseObject> leaseOf(const std::string &body, const std::string &where)
{
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_discarded())
        return fail(ErrorKind::Corrupt, "The API server's answer is no JSON", where);
    return leaseOf(json, where);
}

std::int64_t transitionsAfter(const LeaseObject &object, const NewTerm &term)
{
    const std::int64_t before = std::max<std::int64_t>(0, object.transitions.value_or(0));
    if (term.fresh || object.holder == term.holder)
        return before;
    return std::min(before + 1, kMostTransitions);
}

std::string newTermBody(const LeaseObject &object, const NewTerm &term, WallTime now)
{
    Json root = parsed(object);
    const std::string at = microTime(now);
    Json &spec = root["spec"];
    spec["holderIdentity"] = term.holder;
    spec["leaseDurationSeconds"] = seconds(term.ttl);
    spec["acquireTime"] = at;
    spec["renewTime"] = at;
    spec["leaseTransitions"] = transitionsAfter(object, term);
    Json &notes = root["metadata"]["annotations"];
    notes[note::kNonce] = term.nonce.hex();
    notes[note::kToken] = std::to_string(term.token.value);
    notes[note::kHolder] = term.holder;
    notes[note::kAcquired] = at;
    notes.erase(note::kAsk);
    notes.erase(note::kCleared);
    return dumped(root);
}

std::string renewBody(const LeaseObject &object, Milliseconds ttl, WallTime now)
{
    Json root = parsed(object);
    root["spec"]["leaseDurationSeconds"] = seconds(ttl);
    root["spec"]["renewTime"] = microTime(now);
    return dumped(root);
}

std::string releaseBody(const LeaseObject &object, WallTime now)
{
    Json root = parsed(object);
    const std::string at = microTime(now);
    Json &spec = root["spec"];
    spec["holderIdentity"] = "";
    spec["leaseDurationSeconds"] = 1;
    spec["acquireTime"] = at;
    spec["renewTime"] = at;
    // Still our last term: whoever was asked to step down is known to have obeyed.
    root["metadata"]["annotations"][note::kAcquired] = at;
    return dumped(root);
}

std::string vacantBody(const std::string &nameSpace, const std::string &name)
{
    return dumped({{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"},
        {"metadata", {{"namespace", nameSpace}, {"name", name}}}, {"spec", Json::object()}});
}

std::string askPatch(const LeaseObject &seen, Milliseconds duration)
{
    Json patch = tests(seen);
    if (seen.ours())
        annotate(patch, seen, {{note::kAsk, seen.nonce.hex() + " " + std::to_string(duration.count())}});
    else // coordinated leader election: a leader that is not preferred gives way
        add(patch, "/spec/preferredHolder", "somebody-else");
    return dumped(patch);
}

std::string holdPatch(const LeaseObject &seen, const NewTerm &hold, WallTime now)
{
    Json patch = tests(seen);
    const std::string at = microTime(now);
    const std::int64_t victim = seen.held() ? seen.durationSeconds.value_or(0) : 0;
    add(patch, "/spec/holderIdentity", hold.holder);
    add(patch, "/spec/leaseDurationSeconds",
        std::min(std::max(seconds(hold.ttl), victim), kMostTransitions));
    add(patch, "/spec/acquireTime", at);
    add(patch, "/spec/renewTime", at);
    add(patch, "/spec/leaseTransitions", transitionsAfter(seen, hold));
    annotate(patch, seen,
        {{note::kNonce, Nonce().hex()}, {note::kToken, std::to_string(hold.token.value)},
            {note::kHolder, hold.holder}, {note::kAcquired, at}});
    return dumped(patch);
}

std::string clearPatch(const LeaseObject &seen, WallTime now)
{
    Json patch = tests(seen);
    const std::string at = microTime(now);
    add(patch, "/spec/holderIdentity", "");
    add(patch, "/spec/leaseDurationSeconds", 1);
    add(patch, "/spec/acquireTime", at);
    add(patch, "/spec/renewTime", at);
    annotate(patch, seen, {{note::kCleared, at}});
    return dumped(patch);
}

} // namespace tenure::kube
