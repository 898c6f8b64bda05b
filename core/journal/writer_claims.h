// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace tenure
{

/// Who keeps which connection, when several processes write to one journal: a lock of the kernel on
/// one byte a connection of a file beside the journal. It ends with its process, however that ends.
/// One owner, one thread.
class WriterClaims
{
public:
    explicit WriterClaims(const std::string& journalPath);
    ~WriterClaims();
    WriterClaims(const WriterClaims&) = delete;
    WriterClaims& operator=(const WriterClaims&) = delete;

    /// False: another process keeps this connection. True also where no lock can be had at all.
    [[nodiscard]] bool claim(std::int64_t connection);
    void giveUp(std::int64_t connection);

private:
    int m_file = -1;
};

} // namespace tenure
