// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/journal/writer_claims.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tenure
{
namespace
{

struct flock byteOf(std::int64_t connection, short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = connection;
    lock.l_len = 1;
    return lock;
}

} // namespace

WriterClaims::WriterClaims(const std::string& journalPath)
    : m_file(::open((journalPath + "-claims").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))
{
}

WriterClaims::~WriterClaims()
{
    if (m_file >= 0)
        ::close(m_file);
}

bool WriterClaims::claim(std::int64_t connection)
{
    if (m_file < 0)
        return true;
    // Of the open file, not of the process: two journals within one process are two as well.
    struct flock lock = byteOf(connection, F_WRLCK);
    return ::fcntl(m_file, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

void WriterClaims::giveUp(std::int64_t connection)
{
    if (m_file < 0)
        return;
    struct flock lock = byteOf(connection, F_UNLCK);
    ::fcntl(m_file, F_OFD_SETLK, &lock);
}

} // namespace tenure
