// SPDX-License-Identifier: GPL-3.0-or-later
// What a Kubernetes API server cannot do, and why the suite leaves it out:
//   - names: a Lease is called by a DNS name, so blanks, capitals and the like are refused (tested in
//     tst_kube_lease); the suite's other tests use DNS names;
//   - candidates: Leases name no waiting candidates (LeaseCandidate objects are a feature of newer servers);
//   - losing everything: a restarted store is tested in tst_kube_faults, with processes of its own;
//   - ttls below a second: spec.leaseDurationSeconds is a whole number.
#include "core/backend/kubernetes/kubernetes_backend.h"
#include "kube_server.h"
#include "store_contract.h"

#include <QTest>

using namespace tenure;

namespace
{

class KubernetesFixture final : public ContractFixture
{
public:
    [[nodiscard]] std::shared_ptr<const Backend> backend() override
    {
        KubeServer &server = sharedKubeServer();
        return makeKubernetesBackend(server.uri(server.makeNamespace())).value();
    }
    [[nodiscard]] Milliseconds shortTtl() const override { return std::chrono::seconds(1); }
    [[nodiscard]] std::string whyNot(std::string_view test) const override
    {
        const bool names = test == "namesAreKeptAsTheyAre" || test == "prefixesAreApart";
        return names ? "a Lease is called by a DNS name" : "";
    }
};

} // namespace

class TstContractKubernetes : public StoreContract
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const std::string missing = KubeServer::missing();
        if (missing.empty())
            return;
        if (KubeServer::required())
            QFAIL(missing.c_str());
        QSKIP(missing.c_str());
    }

protected:
    [[nodiscard]] std::unique_ptr<ContractFixture> makeFixture() override
    {
        return std::make_unique<KubernetesFixture>();
    }
};

QTEST_GUILESS_MAIN(TstContractKubernetes)
#include "tst_contract_kubernetes.moc"
