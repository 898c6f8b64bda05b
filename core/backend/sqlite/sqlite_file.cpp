// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/sqlite/sqlite_db.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <sys/vfs.h>

namespace tenure
{
namespace
{

/// The type that /proc tells for the mount that `path` lies on ("fuse.sshfs").
std::string mountType(const std::string &path)
{
    std::ifstream mounts("/proc/self/mounts");
    std::string line;
    std::string best;
    std::size_t longest = 0;
    while (std::getline(mounts, line)) {
        std::istringstream words(line);
        std::string device;
        std::string where;
        std::string type;
        words >> device >> where >> type;
        const bool below = where == "/" || path == where || path.starts_with(where + "/");
        if (below && where.size() >= longest) {
            longest = where.size();
            best = type;
        }
    }
    return best;
}

} // namespace

std::optional<FileIdentity> identityOf(const std::string &path)
{
    struct stat info {};
    if (stat(path.c_str(), &info) != 0)
        return std::nullopt;
    return FileIdentity{info.st_dev, info.st_ino};
}

std::optional<std::string> networkFileSystem(const std::string &path)
{
    struct Known {
        unsigned long magic;
        const char *name;
    };
    static constexpr std::array<Known, 8> kKnown{{{0x6969, "NFS"}, {0x517B, "SMB"},
        {0xFE534D42, "SMB"}, {0xFF534D42, "CIFS"}, {0x5346414F, "AFS"}, {0x73757245, "Coda"},
        {0x00C36400, "Ceph"}, {0x0BD00BD0, "Lustre"}}};
    static constexpr unsigned long kFuse = 0x65735546;
    struct statfs info {};
    const std::string parent = std::filesystem::path(path).parent_path();
    if (statfs(path.c_str(), &info) != 0 && statfs(parent.c_str(), &info) != 0)
        return std::nullopt;
    const auto magic = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
    for (const Known &known : kKnown) {
        if (known.magic == magic)
            return known.name;
    }
    if (magic != kFuse)
        return std::nullopt;
    std::error_code ignored;
    const std::string type = mountType(std::filesystem::weakly_canonical(path, ignored));
    for (const char *name : {"sshfs", "s3fs", "rclone", "glusterfs", "curlftpfs", "davfs"}) {
        if (type.find(name) != std::string::npos)
            return name;
    }
    return std::nullopt;
}

const std::string &bootId()
{
    static const std::string id = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string text;
        std::getline(file, text);
        return text;
    }();
    return id;
}

} // namespace tenure
