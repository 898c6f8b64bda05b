// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/memory/memory_backend.h"
#include "store_contract.h"

#include <QTest>

using namespace tenure;

namespace
{

class MemoryFixture final : public ContractFixture
{
public:
    [[nodiscard]] std::shared_ptr<const Backend> backend() override
    {
        return makeMemoryBackend(m_server, "memory:");
    }
    void pass(Duration time) override { m_clock.advance(time); }
    bool restartEmpty() override
    {
        // Worse than losing everything: the server's wall clock went back as well.
        m_clock.stepWall(-std::chrono::hours(1));
        m_server->restartEmpty();
        return true;
    }
    [[nodiscard]] bool showsCandidates() const override { return true; }

private:
    ManualClock m_clock;
    std::shared_ptr<MemoryServer> m_server = std::make_shared<MemoryServer>(m_clock);
};

} // namespace

class TstContractMemory : public StoreContract
{
    Q_OBJECT

protected:
    [[nodiscard]] std::unique_ptr<ContractFixture> makeFixture() override
    {
        return std::make_unique<MemoryFixture>();
    }
};

QTEST_GUILESS_MAIN(TstContractMemory)
#include "tst_contract_memory.moc"
