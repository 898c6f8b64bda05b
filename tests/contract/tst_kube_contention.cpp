// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates of ours and client-go's own contender, each a process with a line of its own, compete for
// one Lease of a real API server. Each side takes over from the other after a release, a crash, a cut
// and a stop; there are never two leaders by the boot clock, and every version of the record is as
// client-go would have written it. The contender waits for 60 s whatever the record says, and its own
// lease lasts as long: what is not given back takes a minute each between the sides, and is tried only
// with TENURE_KUBE_MINUTES=n, which goes on for at least so long.
#include "core/backend/kubernetes/kube_time.h"
#include "core/net/tcp_proxy.h"
#include "kube_history.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>

#include <algorithm>
#include <array>
#include <csignal>

using namespace tenure;
using namespace tenure::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace
{

constexpr int kWaitMs = 150'000; ///< a minute's lease on a busy machine
constexpr Duration kTheirLease = 60s;

enum class Side { Ours, Theirs };
enum class Fault {
    Terminate, ///< it gives the lease back
    Kill,
    Cut, ///< its line is dead, and stays so until another leads
    Stop, ///< SIGSTOP until another leads
};

const char *nameOf(Fault fault)
{
    static constexpr std::array kNames{"a request to end", "a kill", "a cut line", "a stop"};
    return kNames[static_cast<std::size_t>(fault)];
}

/// Who led from when to when, by the boot clock.
struct Claim {
    std::string who;
    Instant from, to;
};

std::string text(const Claim &claim)
{
    return claim.who + " " + std::to_string(claim.from.time_since_epoch().count()) + ".."
        + std::to_string(claim.to.time_since_epoch().count());
}

/// On the boot clock of this machine, which all clocks here are of.
Instant bootOf(WallTime wall)
{
    return BootClock::now() - std::chrono::duration_cast<Duration>(SystemClock::instance().wall() - wall);
}

/// One process of either side, with a proxy of its own.
class Contestant
{
public:
    Contestant(KubeServer &server, std::string nameSpace, Side side, const std::string &id)
        : m_side(side), m_id(id), m_proxy(server.port())
    {
        const std::string file = server.kubeconfigThrough(m_proxy.port());
        if (side == Side::Theirs) {
            m_theirs = std::make_unique<ClientGoContender>(server, nameSpace, "shared", id, file);
            return;
        }
        StoreUri uri = server.uri(nameSpace);
        uri.parameters["kubeconfig"] = file;
        m_ours.setProcessChannelMode(QProcess::MergedChannels);
        m_ours.start(QStringLiteral(KUBE_BELIEVER),
            {QString::fromStdString(uri.secretText()), QStringLiteral("shared"), QString::fromStdString(id), QStringLiteral("5")});
    }
    ~Contestant() { end(); }
    Contestant(const Contestant &) = delete;
    Contestant &operator=(const Contestant &) = delete;

    [[nodiscard]] Side side() const { return m_side; }
    [[nodiscard]] bool is(const std::string &holder) const { return holder == m_id || holder.starts_with(m_id + "-") || holder.starts_with(m_id + "#"); }
    [[nodiscard]] bool running() { return process().state() != QProcess::NotRunning; }
    void cutOff(bool off) { m_proxy.setMode(off ? TcpProxy::Mode::HalfOpen : TcpProxy::Mode::Pass); }
    void signal(int number) { ::kill(static_cast<pid_t>(process().processId()), number); }
    /// It is told to stop, or dead, from now on.
    void end(int number = SIGKILL)
    {
        if (!m_endedAt)
            m_endedAt = BootClock::now();
        if (running())
            signal(number);
    }
    void waitForEnd()
    {
        if (!process().waitForFinished(30'000))
            end();
        process().waitForFinished();
    }
    /// All that it claimed. Nothing may come after this.
    [[nodiscard]] std::vector<Claim> claims()
    {
        const std::string log = process().readAll().toStdString();
        return m_side == Side::Ours ? ourClaims(log) : theirClaims(log);
    }
    [[nodiscard]] const std::string &id() const { return m_id; }

private:
    [[nodiscard]] QProcess &process() { return m_theirs ? m_theirs->process() : m_ours; }
    [[nodiscard]] std::vector<Claim> ourClaims(const std::string &log) const;
    [[nodiscard]] std::vector<Claim> theirClaims(const std::string &log) const;

    const Side m_side;
    const std::string m_id;
    TcpProxy m_proxy;
    std::unique_ptr<ClientGoContender> m_theirs;
    QProcess m_ours;
    std::optional<Instant> m_endedAt;
};

template <typename Take>
void eachLine(const std::string &log, Take take)
{
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        take(log.substr(at, end - at));
        at = end + 1;
    }
}

std::vector<Claim> Contestant::ourClaims(const std::string &log) const
{
    std::vector<Claim> out;
    std::optional<Instant> open;
    eachLine(log, [&](const std::string &line) {
        long long from = 0;
        long long last = 0;
        if (std::sscanf(line.c_str(), "led %lld %lld", &from, &last) == 2) {
            out.push_back({m_id, Instant(Duration(from)), Instant(Duration(last))});
            open.reset();
        } else if (std::sscanf(line.c_str(), "lead %lld", &from) == 1) {
            open = Instant(Duration(from));
        }
    });
    if (open) // it died leading
        out.push_back({m_id, *open, m_endedAt.value_or(BootClock::now())});
    return out;
}

/// By its log: "I1130 05:02:03.123456 ...] successfully acquired lease ...". Whoever is told to stop
/// gives the lease back before it says that it stopped: from then on it does not count.
std::vector<Claim> Contestant::theirClaims(const std::string &log) const
{
    std::vector<Claim> out;
    const std::string year = kube::microTime(SystemClock::instance().wall()).substr(0, 5);
    eachLine(log, [&](const std::string &line) {
        if (line.size() < 22 || line[0] != 'I')
            return;
        const auto wall = kube::parseTime(year + line.substr(1, 2) + "-" + line.substr(3, 2) + "T" + line.substr(6, 15) + "Z");
        if (!wall)
            return;
        if (line.find("successfully acquired lease") != std::string::npos)
            out.push_back({m_id, bootOf(*wall), m_endedAt.value_or(BootClock::now())});
        else if (!out.empty() && (line.find("failed to renew lease") != std::string::npos || line.find("leader lost") != std::string::npos))
            out.back().to = std::min(out.back().to, bootOf(*wall));
    });
    return out;
}

} // namespace

class TstKubeContention : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void neverTwoLeaders();

private:
    static KubeServer &server() { return sharedKubeServer(); }
    void makeLease();
    void join(Side side);
    void leave(Contestant &gone, int number);
    void refill();
    void handOver(Side from, Fault fault, Side to);
    Contestant *leader();
    bool leads(Side side);
    void judgeClaims();
    void judgeRecord();

    std::string m_namespace;
    std::unique_ptr<LeaseHistory> m_history;
    std::vector<std::unique_ptr<Contestant>> m_crowd;
    std::vector<Claim> m_claims; ///< of those who are gone
    int m_joined = 0;
    int m_toOurs = 0, m_toTheirs = 0;
};

void TstKubeContention::initTestCase()
{
    std::string missing = KubeServer::missing();
    if (missing.empty() && !ClientGoContender::installed())
        missing = "no client-go-leader-election beside the kube-apiserver";
    if (missing.empty())
        return;
    if (KubeServer::required())
        QFAIL(missing.c_str());
    QSKIP(missing.c_str());
}

/// With what neither side knows, and both have to keep.
void TstKubeContention::makeLease()
{
    const std::string path = "/apis/coordination.k8s.io/v1/namespaces/" + m_namespace + "/leases";
    const Json lease{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"},
        {"metadata", {{"name", "shared"}, {"labels", {{"app", "billing"}}}, {"annotations", {{"example.com/owner", "team a"}}},
                         {"finalizers", {"example.com/keep"}},
                         {"ownerReferences", {{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "n"}, {"uid", "0b1c2d3e"}}}}}},
        {"spec", Json::object()}};
    const auto made = server().call("POST", path, lease.dump());
    QVERIFY2(made.status == 201, made.body.c_str());
    m_history = std::make_unique<LeaseHistory>(server(), path, Json::parse(made.body));
}

void TstKubeContention::join(Side side)
{
    const std::string id = (side == Side::Ours ? "ours-" : "theirs-") + std::to_string(++m_joined) + "x";
    m_crowd.push_back(std::make_unique<Contestant>(server(), m_namespace, side, id));
}

void TstKubeContention::leave(Contestant &gone, int number)
{
    gone.end(number);
    gone.waitForEnd();
    for (Claim &claim : gone.claims())
        m_claims.push_back(std::move(claim));
    std::erase_if(m_crowd, [&](const auto &one) { return one.get() == &gone; });
}

Contestant *TstKubeContention::leader()
{
    const std::string holder = m_history->holder();
    const auto found = std::ranges::find_if(m_crowd, [&](const auto &one) { return one->is(holder); });
    return found == m_crowd.end() ? nullptr : found->get();
}

bool TstKubeContention::leads(Side side)
{
    const Contestant *now = leader();
    return now != nullptr && now->side() == side;
}

/// The leader of one side meets `fault`, and somebody of `to` takes over; if that is the other side, the
/// rest of its own is cut off meanwhile.
void TstKubeContention::handOver(Side from, Fault fault, Side to)
{
    refill();
    QTRY_VERIFY2_WITH_TIMEOUT(leads(from), m_history->holder().c_str(), kWaitMs);
    Contestant *victim = leader();
    // It leads for real: it has renewed.
    QTRY_VERIFY2_WITH_TIMEOUT(m_history->renewed(), victim->id().c_str(), kWaitMs);
    qInfo("%s meets %s", victim->id().c_str(), nameOf(fault));
    const bool gone = fault == Fault::Terminate || fault == Fault::Kill;
    for (const auto &one : m_crowd)
        one->cutOff(from != to && one->side() == from && (one.get() != victim || fault == Fault::Cut));
    victim->cutOff(fault == Fault::Cut);
    if (gone) {
        leave(*victim, fault == Fault::Kill ? SIGKILL : SIGTERM);
        join(from);
        m_crowd.back()->cutOff(from != to);
        victim = nullptr;
    } else if (fault == Fault::Stop) {
        victim->signal(SIGSTOP);
    }
    QTRY_VERIFY2_WITH_TIMEOUT(leads(to) && leader() != victim, m_history->holder().c_str(), kWaitMs);
    if (from != to)
        (to == Side::Ours ? m_toOurs : m_toTheirs) += 1;
    if (fault == Fault::Stop)
        victim->signal(SIGCONT);
    for (const auto &one : m_crowd)
        one->cutOff(false);
}

/// client-go's contender ends when it has lost.
void TstKubeContention::refill()
{
    for (std::size_t i = m_crowd.size(); i-- > 0;) {
        if (m_crowd[i]->side() == Side::Ours || m_crowd[i]->running())
            continue;
        qInfo("%s has ended", m_crowd[i]->id().c_str());
        leave(*m_crowd[i], SIGKILL);
        join(Side::Theirs);
    }
}

void TstKubeContention::neverTwoLeaders()
{
    const int minutes = qEnvironmentVariableIntValue("TENURE_KUBE_MINUTES");
    const Instant until = BootClock::now() + std::chrono::minutes(minutes);
    m_namespace = server().makeNamespace();
    makeLease();
    join(Side::Theirs);
    QTRY_VERIFY_WITH_TIMEOUT(leads(Side::Theirs), kWaitMs);
    join(Side::Theirs);
    join(Side::Ours);
    join(Side::Ours);
    struct Step {
        Side from;
        Fault fault;
        Side to;
    };
    using enum Side;
    std::vector<Step> plan{{Theirs, Fault::Terminate, Ours}, {Ours, Fault::Kill, Ours}, {Ours, Fault::Terminate, Theirs},
        {Theirs, Fault::Terminate, Ours}, {Ours, Fault::Stop, Ours}, {Ours, Fault::Cut, Ours}};
    if (minutes > 0) {
        plan.insert(plan.end(), {{Ours, Fault::Kill, Theirs}, {Theirs, Fault::Kill, Ours}, {Ours, Fault::Stop, Theirs},
                                    {Theirs, Fault::Stop, Ours}, {Ours, Fault::Cut, Theirs}, {Theirs, Fault::Cut, Ours}});
    }
    for (std::size_t i = 0; (i < plan.size() || BootClock::now() < until) && !QTest::currentTestFailed(); ++i) {
        const Step &step = plan[i % plan.size()];
        handOver(step.from, step.fault, step.to);
    }
    while (!m_crowd.empty())
        leave(*m_crowd.front(), SIGTERM);
    judgeClaims();
    judgeRecord();
    qInfo("takeovers: %d by ours, %d by client-go; %zu claims, %zu versions", m_toOurs, m_toTheirs, m_claims.size(),
        m_history->versions().size());
}

void TstKubeContention::judgeClaims()
{
    QVERIFY(!m_claims.empty());
    const auto versions = m_history->versions();
    int beyond = 0;
    for (Claim &claim : m_claims) {
        if (!claim.who.starts_with("theirs"))
            continue;
        // client-go goes on claiming after a stop until it looks: its lease, not its belief, is what counts.
        Instant renewed = claim.from;
        for (const auto &version : versions) {
            const auto at = kube::parseTime(version.text("renewTime"));
            if (version.holder() == claim.who && at)
                renewed = std::max(renewed, bootOf(*at));
        }
        beyond += renewed + kTheirLease < claim.to ? 1 : 0;
        claim.to = std::min(claim.to, renewed + kTheirLease);
    }
    std::ranges::sort(m_claims, {}, &Claim::from);
    for (std::size_t i = 0; i + 1 < m_claims.size(); ++i) {
        for (std::size_t k = i + 1; k < m_claims.size(); ++k) {
            QVERIFY2(m_claims[k].from >= m_claims[i].to || m_claims[k].who == m_claims[i].who,
                ("two led: " + text(m_claims[i]) + " and " + text(m_claims[k])).c_str());
        }
    }
    // Nobody of ours believes once the record names another.
    for (const Claim &claim : m_claims) {
        for (const auto &version : versions) {
            const std::string holder = version.holder();
            const bool another = !holder.empty() && !holder.starts_with(claim.who);
            QVERIFY2(!claim.who.starts_with("ours") || !another || version.heardAt < claim.from || version.heardAt > claim.to,
                (text(claim) + " while the record named " + holder).c_str());
        }
    }
    qInfo("claims of client-go beyond its lease: %d", beyond);
}

void TstKubeContention::judgeRecord()
{
    const auto versions = m_history->versions();
    QVERIFY(versions.size() > 5);
    const Json &first = versions.front().object["metadata"];
    for (std::size_t i = 1; i < versions.size(); ++i) {
        const auto &before = versions[i - 1];
        const auto &now = versions[i];
        const std::string where = before.object["spec"].dump() + " -> " + now.object["spec"].dump();
        const bool taken = !now.holder().empty() && now.holder() != before.holder();
        QVERIFY2(now.transitions() == before.transitions() + (taken ? 1 : 0), where.c_str());
        if (taken)
            QVERIFY2(now.text("acquireTime") == now.text("renewTime"), where.c_str());
        else if (!now.holder().empty())
            QVERIFY2(now.text("acquireTime") == before.text("acquireTime"), where.c_str());
        else
            QVERIFY2(now.object["spec"]["leaseDurationSeconds"] == 1, where.c_str());
        for (const char *key : {"labels", "finalizers", "ownerReferences", "uid", "creationTimestamp"})
            QCOMPARE(now.object["metadata"][key].dump(), first[key].dump());
        QCOMPARE(now.object["metadata"]["annotations"]["example.com/owner"].dump(), std::string("\"team a\""));
    }
}

int main(int argc, char **argv)
{
    qputenv("QTEST_FUNCTION_TIMEOUT", "86400000"); // it lasts as long as it was asked to
    const QCoreApplication app(argc, argv);
    TstKubeContention test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_kube_contention.moc"
