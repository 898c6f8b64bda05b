// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kube_store.h"

#include "core/backend/kubernetes/kube_aside.h"
#include "core/backend/kubernetes/kube_legacy.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace tenure::kube
{
namespace
{

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr std::size_t kPage = 500; ///< as kubectl asks for
constexpr Duration kScopesFresh = 1min;
constexpr Duration kLegacyEvery = 5min; ///< to find new ones, all objects are gone through
constexpr std::size_t kMostLegacy = 200; ///< re-read one by one in between
constexpr Duration kRightsFresh = 5min;
constexpr Duration kEpochFresh = 30s;
constexpr Duration kConnectWithin = 3s;

} // namespace

/// "2|token": the third place to look, from the server's token on. First come the scopes' Leases, then,
/// when they are to be searched, their Endpoints and their ConfigMaps.
struct KubeStore::Cursor {
    std::size_t place = 0;
    std::string next;
    static Cursor parse(const std::string &text)
    {
        Cursor out;
        const std::size_t bar = text.find('|');
        if (bar == std::string::npos)
            return out;
        std::from_chars(text.data(), text.data() + bar, out.place);
        out.next = text.substr(bar + 1);
        return out;
    }
    void step()
    {
        if (next.empty())
            ++place;
    }
    [[nodiscard]] std::string text() const { return std::to_string(place) + "|" + next; }
};

std::vector<Result<Reply>> KubeStore::execute(std::span<const Command> commands, Instant deadline)
{
    std::vector<std::unique_ptr<Work>> works(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (!std::holds_alternative<List>(commands[i]))
            works[i] = std::make_unique<Work>(commands[i], *m_settings, *m_view);
    }
    carryOut(works, deadline);
    std::vector<Result<Reply>> out;
    out.reserve(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (const auto *listing = std::get_if<List>(&commands[i]))
            out.push_back(list(*listing, deadline));
        else
            out.push_back(*std::move(works[i]->result));
        if (works[i] && out.back())
            out.back()->settingUp = works[i]->settingUp();
        const bool competes = std::holds_alternative<Acquire>(commands[i]) || std::holds_alternative<Renew>(commands[i]);
        const bool silent = !out.back() && (out.back().error().kind == ErrorKind::Unavailable || out.back().error().kind == ErrorKind::OutcomeUnknown);
        m_cutOff = m_cutOff || (competes && silent);
    }
    return out;
}

/// An attempt has less time than a new connection may take over a slow line (four round trips with TLS):
/// this one stays in the pool for the next.
bool KubeStore::idle(Instant deadline, const std::atomic<bool> &cancelled)
{
    if (!m_cutOff || cancelled)
        return false;
    const Instant within = std::min<Instant>(deadline, BootClock::now() + kConnectWithin);
    m_cutOff = !m_api.send(jsonRequest("GET", "/version"), within);
    return false;
}

/// Rounds of parallel requests: in each, every lease's first unfinished command takes one step.
void KubeStore::carryOut(std::vector<std::unique_ptr<Work>> &works, Instant deadline)
{
    while (true) {
        std::set<std::string_view> busy;
        std::vector<HttpRequest> requests;
        std::vector<Work *> askers;
        for (const auto &work : works) {
            if (!work || work->result || busy.count(work->key()) != 0)
                continue;
            if (auto request = work->next()) {
                busy.insert(work->key());
                requests.push_back(*std::move(request));
                askers.push_back(work.get());
            }
        }
        if (requests.empty())
            return;
        const auto responses = m_api.sendAll(requests, deadline);
        for (std::size_t i = 0; i < askers.size(); ++i)
            askers[i]->answer(responses[i]);
    }
}

Result<void> KubeStore::knowScopes(Instant deadline)
{
    if (m_scopes && BootClock::now() <= m_scopesUntil)
        return {};
    auto scopes = scopesOf(m_api, deadline);
    if (!scopes)
        return fail(std::move(scopes.error()));
    m_scopes = *std::move(scopes);
    m_scopesUntil = BootClock::now() + kScopesFresh;
    return {};
}

Result<std::vector<std::string>> KubeStore::leaseKeys(Cursor &cursor, std::size_t limit, Instant deadline)
{
    const auto page = leasePage(m_api, *m_view, (*m_scopes)[cursor.place], cursor.next, limit, deadline);
    if (!page) {
        if (page.error().kind == ErrorKind::Denied)
            m_scopes.reset();
        return fail(page.error());
    }
    std::vector<std::string> keys;
    for (const LeasePage::Row &row : page->rows)
        keys.push_back(row.key);
    cursor.next = page->next;
    cursor.step();
    return keys;
}

/// One page of Endpoints or ConfigMaps. Not to be allowed to look is no error here: rights on Leases
/// are all that this needs.
std::vector<std::string> KubeStore::legacyKeys(Cursor &cursor, Instant deadline)
{
    const std::size_t places = m_scopes->size();
    const LeaseClass kind = cursor.place < 2 * places ? LeaseClass::Endpoints : LeaseClass::ConfigMap;
    const auto response
        = m_api.send(legacyListRequest(kind, (*m_scopes)[cursor.place % places], cursor.next, kPage), deadline);
    LegacyPage page;
    if (response)
        page = takeLegacyPage(*response, kind, *m_view, m_settings->display);
    cursor.next = page.next;
    cursor.step();
    return page.keys;
}

/// Those that are known, between two searches.
void KubeStore::rereadLegacy(Instant deadline)
{
    std::vector<LeasePlace> places;
    std::vector<HttpRequest> requests;
    for (const std::string &key : m_view->present()) {
        const std::size_t slash = key.find('/');
        LeasePlace place{key.substr(0, slash), key.substr(slash + 1)};
        if (!isLegacy(legacyClassOf(place.name)) || requests.size() >= kMostLegacy)
            continue;
        requests.push_back(legacyRequest(place));
        places.push_back(std::move(place));
    }
    const auto responses = m_api.sendAll(requests, deadline);
    for (std::size_t i = 0; i < responses.size(); ++i) {
        if (!responses[i] || (responses[i]->status != 200 && responses[i]->status != 404))
            continue;
        auto object = legacyOf(responses[i]->body, legacyClassOf(places[i].name), m_settings->display);
        const bool gone = responses[i]->status == 404 || (!object && object.error().kind == ErrorKind::NotFound);
        if (gone)
            (void)m_view->noteAbsent(places[i].key(), Heard::of(*responses[i]));
        else if (object)
            (void)m_view->note(*std::move(object), Heard::of(*responses[i]));
    }
}

Result<Reply> KubeStore::list(const List &list, Instant deadline)
{
    if (auto known = knowScopes(deadline); !known)
        return fail(std::move(known.error()));
    Cursor cursor = Cursor::parse(list.cursor);
    const std::size_t places = m_scopes->size();
    if (list.cursor.empty())
        m_candidates.refresh(m_api, *m_view, *m_scopes, deadline);
    Reply reply;
    std::vector<std::string> keys;
    if (cursor.place < places) {
        auto leases = leaseKeys(cursor, std::clamp<std::size_t>(list.pageSize, 1, kPage), deadline);
        if (!leases)
            return fail(std::move(leases.error()));
        keys = *std::move(leases);
    } else if (cursor.place < 3 * places) {
        keys = legacyKeys(cursor, deadline);
    }
    const bool search = BootClock::now() >= m_legacyAt;
    if (cursor.place == places && cursor.next.empty() && !search) {
        rereadLegacy(deadline);
        for (std::string &key : m_view->present()) {
            if (isLegacy(legacyClassOf(std::string_view(key).substr(key.find('/') + 1))))
                keys.push_back(std::move(key));
        }
    }
    const std::size_t end = search ? 3 * places : places;
    if (search && cursor.place >= end)
        m_legacyAt = BootClock::now() + kLegacyEvery;
    const Instant now = BootClock::now();
    for (const std::string &key : keys) {
        const auto seen = m_view->find(key);
        if (!seen || !seen->object)
            continue;
        const LeaseId id = idOf(*seen->object, *m_settings);
        if (globMatch(list.glob, id.name()))
            reply.records.push_back(recordOf(id, *seen, now, Judge::ByAnyClue, ReadDepth::Full));
    }
    reply.serverTime = m_view->serverTime(now);
    if (!cursor.next.empty() || cursor.place < end)
        reply.cursor = cursor.text();
    return reply;
}

/// What one may not do is asked now and then, not at each proof of life.
void KubeStore::readRights(Instant deadline)
{
    const Instant now = BootClock::now();
    if (now < m_rightsUntil)
        return;
    const std::string where = m_settings->namespaces.empty() ? std::string() : m_settings->namespaces.front();
    const std::vector<Deed> deeds{{"list", "leases", where}, {"watch", "leases", where},
        {"create", "leases", where}, {"update", "leases", where}, {"patch", "leases", where}};
    static constexpr std::array<const char *, 5> kMeans{"the leases cannot be seen all at once",
        "changes are polled for, not pushed", "a candidate cannot make a Lease that is not there yet",
        "a candidate cannot acquire, renew or release", "a release by hand (ask, hold, clear) is refused"};
    const auto allowed = mayDo(m_api, deeds, deadline);
    if (!allowed)
        return;
    m_rights.clear();
    for (std::size_t i = 0; i < deeds.size(); ++i) {
        if (!(*allowed)[i]) {
            m_rights.push_back("You may not " + deeds[i].verb + " leases"
                + (where.empty() ? " in the whole cluster" : " in the namespace " + where) + ": " + kMeans[i] + ".");
        }
    }
    m_rightsUntil = now + kRightsFresh;
}

Result<StoreFacts> KubeStore::probe(Instant deadline)
{
    const Instant now = BootClock::now();
    std::vector<HttpRequest> requests{jsonRequest("GET", "/version")};
    if (now >= m_epochUntil)
        requests.push_back(jsonRequest("GET", "/api/v1/namespaces/kube-system"));
    const auto responses = m_api.sendAll(requests, deadline);
    const auto &version = responses.front();
    if (!version)
        return fail(version.error());
    if (version->status != 200)
        return fail(errorOf(*version, {"get", "version", ""}, *m_settings));
    m_view->noteClock(Heard::of(*version));
    StoreFacts facts;
    facts.roundTrip = version->receivedAt - version->sentAt;
    const Json root = Json::parse(version->body, nullptr, false);
    if (!root.is_object())
        return fail(ErrorKind::Corrupt, "The server does not answer as a Kubernetes API server", m_settings->display);
    facts.server = "Kubernetes " + printable(root.value("gitVersion", std::string("of unknown version")), 80);
    if (responses.size() > 1 && responses[1]) {
        const Json system = Json::parse(responses[1]->body, nullptr, false);
        const bool known = responses[1]->status == 200 && system.is_object() && system.contains("metadata");
        m_epoch = known ? system["metadata"].value("uid", "unknown") : "unknown";
        m_epochUntil = now + kEpochFresh;
    }
    facts.epoch = m_epoch.empty() ? "unknown" : m_epoch;
    facts.serverTime = m_view->serverTime(BootClock::now());
    readRights(deadline);
    facts.notes = m_rights;
    if (!m_settings->target.tls.verify)
        facts.notes.push_back("The server's certificate is not checked (insecure-skip-tls-verify): whoever is "
                              "in between can read the credentials and forge what is shown.");
    if (m_settings->show == Show::Elections && !m_settings->bareNames)
        facts.notes.emplace_back("Node heartbeats and API server identities are hidden; show=all shows them.");
    return facts;
}

Result<LeaseAside> KubeStore::aside(const LeaseId &lease, Instant deadline)
{
    const auto place = placeOf(lease, *m_settings);
    if (!place)
        return fail(place.error());
    if (knowScopes(deadline))
        m_candidates.refresh(m_api, *m_view, *m_scopes, deadline);
    return asideOf(m_api, *place, deadline);
}

Result<std::string> KubeStore::init(bool /*dryRun*/, Instant /*deadline*/)
{
    return "Nothing needs to be made: a Lease comes into being when a candidate acquires it. The namespace must exist.";
}

} // namespace tenure::kube
