// SPDX-License-Identifier: GPL-3.0-or-later
// A worker of a queue, to be killed and stopped: work_worker URL QUEUE EFFECTS.db LOG. Each item's effect is
// a write to a resource that refuses older tokens (resources/examples/fenced_write.sql); a completion that
// was confirmed is logged as "ID TOKEN".
#include "core/work/open_work_queue.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

using namespace tenure;
using namespace std::chrono_literals;

namespace
{

class Effects
{
public:
    Effects(const char *path, const char *statement)
    {
        std::ifstream file(statement);
        std::ostringstream text;
        text << file.rdbuf();
        sqlite3_open(path, &m_db);
        sqlite3_busy_timeout(m_db, 20'000);
        if (sqlite3_prepare_v2(m_db, text.str().c_str(), -1, &m_write, nullptr) != SQLITE_OK)
            std::fprintf(stderr, "%s\n", sqlite3_errmsg(m_db));
    }
    ~Effects()
    {
        sqlite3_finalize(m_write);
        sqlite3_close(m_db);
    }
    Effects(const Effects &) = delete;
    Effects &operator=(const Effects &) = delete;
    /// False: refused.
    bool write(const Claim &claim)
    {
        const std::string name = std::to_string(claim.ticket.id);
        sqlite3_bind_text(m_write, 1, name.c_str(), -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(m_write, 2, static_cast<std::int64_t>(claim.ticket.token.value));
        sqlite3_bind_text(m_write, 3, claim.payload.c_str(), -1, SQLITE_TRANSIENT);
        const int code = sqlite3_step(m_write);
        const bool committed = sqlite3_reset(m_write) == SQLITE_OK;
        return code == SQLITE_ROW && committed;
    }

private:
    sqlite3 *m_db = nullptr;
    sqlite3_stmt *m_write = nullptr;
};

void work(WorkQueue &queue, const Worker &self, const Claim &claim, Effects &effects, int log)
{
    if (!effects.write(claim))
        return;
    std::this_thread::sleep_for(1ms);
    const std::array<Settlement, 1> done{Settlement{Settlement::Kind::Complete, claim.ticket, {}, {}, {}}};
    for (int tries = 0; tries < 5; ++tries) {
        const auto settled = queue.settle(self, done, BootClock::now() + 2s);
        if (!settled) { // repeat: the same answer comes, whether it was carried out or not
            std::this_thread::sleep_for(20ms);
            continue;
        }
        if (settled->front() == Settled::Done) {
            const std::string line
                = std::to_string(claim.ticket.id) + " " + std::to_string(claim.ticket.token.value) + "\n";
            (void)!write(log, line.data(), line.size());
        }
        return;
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    const auto uri = StoreUri::parse(argv[1]);
    auto queue = uri ? openWorkQueue(*uri, argv[2]) : fail(uri.error());
    if (!queue)
        return 3;
    Effects effects(argv[3], argv[5]);
    const int log = open(argv[4], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const Worker self{HolderId::unique("worker"), {}};
    for (;;) {
        const auto claims = (*queue)->claim(self, 3, 400ms, BootClock::now() + 2s);
        if (!claims || claims->empty()) {
            std::this_thread::sleep_for(20ms);
            continue;
        }
        for (const Claim &claim : *claims)
            work(**queue, self, claim, effects, log);
    }
}
