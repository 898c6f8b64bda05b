// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_work.h"

#include "core/backend/foreign_verbs.h"
#include "core/backend/kubernetes/kube_legacy.h"
#include "core/backend/kubernetes/kube_time.h"
#include "core/backend/lease_row.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenure::kube
{
namespace
{

constexpr int kMostTries = 5; ///< rounds of "look, write, 409" within one command

WallTime wallNow()
{
    return SystemClock::instance().wall();
}

std::optional<Error> wholeSeconds(Milliseconds ttl, const std::string &where)
{
    if (ttl.count() % 1000 == 0)
        return std::nullopt;
    return fail(ErrorKind::BadConfig,
        "A Lease lasts whole seconds, not " + std::to_string(ttl.count()) + " ms", where)
        .value();
}

/// What makes a command impossible whatever the server says.
std::optional<Error> problemOf(const Command &command, const Settings &settings)
{
    TimingLimits limits;
    limits.floor = std::chrono::seconds(1);
    Command checked = command;
    if (auto *operate = std::get_if<Operate>(&checked)) {
        LeaseRecord record;
        record.kind = operate->kind;
        if (std::string why = whyNotReleased(record, operate->verb); operate->kind == "endpoints" || operate->kind == "configmap")
            return fail(ErrorKind::Unsupported, std::move(why), settings.display).value();
        if (operate->kind != "tenure" && operate->kind != "client-go") {
            return fail(ErrorKind::Unsupported,
                "This Lease is a sign of life (" + operate->kind + "), not an election",
                settings.display, "Leave it alone")
                .value();
        }
        operate->kind = "tenure";
    }
    if (auto problem = tenure::problemOf(checked, limits, settings.display))
        return problem;
    if (const auto *acquire = std::get_if<Acquire>(&command))
        return wholeSeconds(acquire->ttl, settings.display);
    if (const auto *renew = std::get_if<Renew>(&command))
        return wholeSeconds(renew->ttl, settings.display);
    return std::nullopt;
}

} // namespace

Result<LeasePlace> placeOf(const LeaseId &lease, const Settings &settings)
{
    const std::string &id = lease.name();
    LeasePlace place;
    if (settings.bareNames) {
        place = {settings.namespaces.front(), id};
    } else {
        const std::size_t slash = id.find('/');
        if (slash == std::string::npos) {
            return fail(ErrorKind::BadConfig,
                "The lease \"" + printable(id, 80) + "\" does not say in which namespace it is",
                settings.display,
                "Write NAMESPACE/NAME, or put the namespace into the URL: kubernetes:///NAMESPACE");
        }
        place = {id.substr(0, slash), id.substr(slash + 1)};
    }
    const bool legacy = isLegacy(legacyClassOf(place.name));
    const std::string name = legacy ? place.name.substr(place.name.find('/') + 1) : place.name;
    if (isNamespaceName(place.nameSpace) && isLeaseName(name))
        return place;
    return fail(ErrorKind::BadConfig, "\"" + printable(id, 80) + "\" cannot be the name of a Lease",
        settings.display,
        "Names have lower-case letters, digits, '-' and '.', and begin and end with a letter or digit");
}

LeaseId idOf(const LeaseObject &object, const Settings &settings)
{
    return LeaseId::observed(settings.bareNames ? object.name : keyOf(object));
}

bool isShown(const LeaseObject &object, const Settings &settings)
{
    if (settings.bareNames || settings.show == Show::All)
        return true;
    return object.leaseClass == LeaseClass::Election || isLegacy(object.leaseClass);
}

std::string leasesPath(const std::string &nameSpace, const std::string &name)
{
    std::string path = "/apis/coordination.k8s.io/v1";
    if (!nameSpace.empty())
        path += "/namespaces/" + percentEncoded(nameSpace);
    path += "/leases";
    return name.empty() ? path : path + "/" + percentEncoded(name);
}

Work::Work(const Command &command, const Settings &settings, View &view)
    : m_command(command), m_settings(settings), m_view(view)
{
    const LeaseId &lease = *tenure::leaseOf(command);
    auto place = placeOf(lease, settings);
    // Looking is easy-going: a bare name means the context's namespace.
    if (!place && std::holds_alternative<Read>(command) && isLeaseName(lease.name()))
        place = LeasePlace{settings.contextNamespace, lease.name()};
    if (auto problem = problemOf(command, settings)) {
        failed(*std::move(problem));
    } else if (!place) {
        failed(std::move(place.error()));
    } else if (isLegacy(legacyClassOf(place->name)) && !std::holds_alternative<Read>(command)) {
        failed(fail(ErrorKind::Unsupported, "An election in an annotation is looked at only", settings.display,
            "Compete for a Lease")
                   .value());
    } else {
        m_place = *std::move(place);
        m_key = m_place.key();
    }
}

std::optional<HttpRequest> Work::next()
{
    if (!result && m_stage == Stage::Decide)
        decide();
    if (result)
        return std::nullopt;
    switch (m_stage) {
    case Stage::Create:
        return jsonRequest("POST", leasesPath(m_place.nameSpace), vacantBody(m_place.nameSpace, m_place.name));
    case Stage::Put:
        return jsonRequest("PUT", leasesPath(m_place.nameSpace, m_place.name), std::move(m_body));
    case Stage::Patch: {
        HttpRequest request = jsonRequest("PATCH", leasesPath(m_place.nameSpace, m_place.name));
        request.headers.emplace_back("Content-Type", "application/json-patch+json");
        request.body = std::move(m_body);
        return request;
    }
    case Stage::Decide:
    case Stage::Look:
        break;
    }
    if (isLegacy(legacyClassOf(m_place.name)))
        return legacyRequest(m_place);
    return jsonRequest("GET", leasesPath(m_place.nameSpace, m_place.name));
}

void Work::decide()
{
    const auto seen = m_view.find(m_key);
    const bool written = m_put && seen && seen->object && parseTime(seen->object->renewTime) == m_put;
    m_wrote = m_wrote || (m_looked && written);
    m_stage = Stage::Look; // unless somebody decides otherwise
    if (const auto *acquire = std::get_if<Acquire>(&m_command))
        decideAcquire(*acquire, seen);
    else if (const auto *renew = std::get_if<Renew>(&m_command))
        decideRenew(*renew, seen);
    else if (const auto *release = std::get_if<Release>(&m_command))
        decideRelease(*release, seen);
    else if (const auto *read = std::get_if<Read>(&m_command))
        decideRead(*read, seen);
    else if (const auto *operate = std::get_if<Operate>(&m_command))
        decideOperate(*operate, seen);
}

void Work::put(std::string body, WallTime stamp)
{
    m_body = std::move(body);
    m_put = stamp;
    m_stage = Stage::Put;
}

NewTerm Work::newTerm(const Acquire &acquire, const Seen &seen) const
{
    NewTerm term;
    term.holder = acquire.holder.name();
    term.nonce = acquire.nonce;
    term.ttl = acquire.ttl;
    term.fresh = m_created;
    // The write that carries this token gets a larger resourceVersion still, so that tokens grow also
    // over a Lease that was deleted and made again.
    term.token.value = std::max({seen.highest.value, seen.object->token.value, seen.object->version}) + 1;
    return term;
}

void Work::decideAcquire(const Acquire &acquire, const std::optional<Seen> &seen)
{
    const Instant now = BootClock::now();
    if (!seen || (!seen->object && !m_looked))
        return;
    if (seen->notBefore > now && (!seen->object || !seen->object->held())) {
        Reply barred = refused(*seen, seen->notBefore, now);
        barred.epochBarrier = true;
        result = std::move(barred);
        return;
    }
    if (!seen->object) {
        m_stage = Stage::Create;
        return;
    }
    const WallTime stamp = wallNow();
    const LeaseObject &object = *seen->object;
    const auto expiry = seen->expiry(acquire.ttl);
    const bool held = expiry && *expiry > now;
    if (held && object.isTerm({acquire.holder, acquire.nonce, {}})) {
        if (m_wrote)
            return done(Outcome::Done);
        return put(renewBody(object, acquire.ttl, stamp), stamp);
    }
    Instant until = held ? *expiry : Instant();
    // Whoever was asked to step down stays out for a while after its term's end.
    if (!held && object.asked() && object.termHolder == acquire.holder.name()
        && object.nonce != acquire.nonce)
        until = expiry.value_or(seen->changedAt) + object.askedFor;
    if (until > now) {
        if (!m_looked)
            return; // a refusal is told by the server's own word
        result = refused(*seen, until, now);
        return;
    }
    put(newTermBody(object, newTerm(acquire, *seen), stamp), stamp);
}

Reply Work::refused(const Seen &seen, Instant until, Instant now) const
{
    Reply out;
    out.outcome = Outcome::Refused;
    out.record = recordOf(*tenure::leaseOf(m_command), seen, now, Judge::ByOurClock, ReadDepth::Full);
    out.retryIn = until - now;
    out.serverTime = m_view.serverTime(now);
    return out;
}

void Work::decideRenew(const Renew &renew, const std::optional<Seen> &seen)
{
    if (!renew.term.token)
        return m_looked ? done(Outcome::Lost) : void();
    const Instant now = BootClock::now();
    const bool mine = seen && seen->object && seen->object->isTerm(renew.term);
    if (m_wrote && mine) {
        done(Outcome::Done, ReadDepth::Remaining);
        if (*result && seen->object->asked())
            (*result)->stepDown = seen->object->askedFor;
        return;
    }
    const WallTime stamp = wallNow();
    const auto expiry = mine ? seen->expiry(renew.ttl) : std::nullopt;
    if (mine && *expiry > now)
        return put(renewBody(*seen->object, renew.ttl, stamp), stamp);
    if (m_looked)
        done(Outcome::Lost);
}

void Work::decideRelease(const Release &release, const std::optional<Seen> &seen)
{
    if (m_wrote)
        return done(Outcome::Done);
    const Instant now = BootClock::now();
    const bool mine = seen && seen->object && seen->object->isTerm(release.term);
    const WallTime stamp = wallNow();
    const auto expiry = mine ? seen->expiry(Duration::zero()) : std::nullopt;
    if (mine && *expiry > now)
        return put(releaseBody(*seen->object, stamp), stamp);
    if (m_looked)
        done(Outcome::Lost);
}

void Work::decideRead(const Read &read, const std::optional<Seen> &seen)
{
    // While the watch stands, a standby's looks cost the server nothing.
    const bool watched = m_view.live(BootClock::now()) && !isLegacy(legacyClassOf(m_place.name));
    if (m_looked || (seen && watched))
        done(Outcome::Done, read.depth);
}

void Work::decideOperate(const Operate &operate, const std::optional<Seen> &seen)
{
    if (m_wrote)
        return done(Outcome::Done);
    if (!m_looked || !seen)
        return;
    const Instant now = BootClock::now();
    const LeaseRecord record = recordOf(operate.lease, *seen, now, Judge::ByAnyClue, ReadDepth::Full);
    if (record.seen() != operate.expected)
        return done(Outcome::Conflict);
    if (!seen->object)
        return failed(fail(ErrorKind::NotFound, "There is no such Lease", m_settings.display).value());
    const LeaseObject &object = *seen->object;
    if (operate.verb != OperatorVerb::Hold && !object.held()) {
        return failed(fail(ErrorKind::NotFound, "Nobody holds this lease", m_settings.display,
            "There is nothing to give back")
                          .value());
    }
    if (operate.verb == OperatorVerb::Ask && !object.ours() && object.strategy.empty()) {
        return failed(fail(ErrorKind::Unsupported,
            "Its holder is not one of Tenure's and takes no part in coordinated election: it cannot be asked",
            m_settings.display, "Hold the lease instead")
                          .value());
    }
    if (operate.verb == OperatorVerb::Ask) {
        m_body = askPatch(object, operate.duration);
    } else if (operate.verb == OperatorVerb::Clear) {
        m_body = clearPatch(object, wallNow());
    } else {
        NewTerm hold;
        hold.holder = std::string(kHoldPrefix) + operate.by;
        hold.ttl = operate.duration;
        hold.token.value = std::max({seen->highest.value, object.token.value, object.version}) + 1;
        m_body = holdPatch(object, hold, wallNow());
    }
    m_stage = Stage::Patch;
}

void Work::lookAgain()
{
    m_looked = false;
    m_stage = Stage::Look;
    if (++m_tries >= kMostTries) {
        Error error = fail(ErrorKind::Conflict, "Others changed this Lease again and again meanwhile",
            m_settings.display)
                          .value();
        failed(std::move(error));
    }
}

bool Work::noteObject(const HttpResponse &response)
{
    const LeaseClass legacy = legacyClassOf(m_place.name);
    auto object = isLegacy(legacy) ? legacyOf(response.body, legacy, m_settings.display)
                                   : leaseOf(response.body, m_settings.display);
    if (!object && object.error().kind == ErrorKind::NotFound) {
        m_view.noteAbsent(m_key, Heard::of(response));
        return true;
    }
    if (!object) {
        failed(std::move(object.error()));
        return false;
    }
    m_view.note(*std::move(object), Heard::of(response));
    return true;
}

void Work::answer(const Result<HttpResponse> &response)
{
    if (!response)
        return failed(response.error());
    m_settingUp += response->settingUp;
    switch (m_stage) {
    case Stage::Decide:
    case Stage::Look:
        return afterLook(*response);
    case Stage::Create:
        return afterCreate(*response);
    case Stage::Put:
    case Stage::Patch:
        return afterWrite(*response);
    }
}

void Work::afterLook(const HttpResponse &response)
{
    if (response.status == 404) {
        m_view.noteAbsent(m_key, Heard::of(response));
    } else if (response.status != 200) {
        return failed(errorOf(response, {"get", "leases", m_place.nameSpace}, m_settings));
    } else if (!noteObject(response)) {
        return;
    }
    m_looked = true;
    m_stage = Stage::Decide;
}

void Work::afterCreate(const HttpResponse &response)
{
    if (response.status == 409)
        return lookAgain(); // somebody else was faster
    if (response.status != 200 && response.status != 201)
        return failed(errorOf(response, {"create", "leases", m_place.nameSpace}, m_settings));
    if (!noteObject(response))
        return;
    m_created = true;
    m_stage = Stage::Decide;
}

void Work::afterWrite(const HttpResponse &response)
{
    const bool patch = m_stage == Stage::Patch;
    // A failed test of a JSON-Patch is 422; what it is now, the server tells.
    const bool changed = response.status == 409 || response.status == 404
        || (patch && response.status == 422);
    if (changed)
        return lookAgain();
    if (response.status != 200 && response.status != 201)
        return failed(errorOf(response, {patch ? "patch" : "update", "leases", m_place.nameSpace}, m_settings));
    if (!noteObject(response))
        return;
    m_wrote = m_looked = true;
    m_stage = Stage::Decide;
}

Result<Reply> Work::reply(Outcome outcome, ReadDepth depth) const
{
    const Instant now = BootClock::now();
    const auto seen = m_view.find(m_key);
    const bool show = depth == ReadDepth::Full && !std::holds_alternative<Acquire>(m_command);
    Reply out;
    out.outcome = outcome;
    const LeaseId &lease = *tenure::leaseOf(m_command);
    out.record = recordOf(lease, seen.value_or(Seen()), now, show ? Judge::ByAnyClue : Judge::ByOurClock, depth);
    out.serverTime = m_view.serverTime(now);
    return out;
}

} // namespace tenure::kube
