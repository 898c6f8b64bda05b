// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace tenure::kube
{

/// What a child process printed and how it ended.
struct ChildOutput {
    std::string out; ///< at most kChildOutput bytes
    std::string err; ///< the last few lines
    int exitCode = -1; ///< 128 + n when a signal ended it
    bool tooLong = false; ///< it printed more and was killed
    bool timedOut = false; ///< it was killed at the deadline
    bool cancelled = false; ///< it was killed because `cancel` became readable
};
inline constexpr std::size_t kChildOutput = std::size_t{1} * 1024 * 1024;

enum class ChildInput { Nothing, Terminal };

/// Runs a program without a shell, in a process group of its own that is killed when the call ends.
/// `environment` is added to ours. Blocks until it ended, the deadline, or `cancel` (a file
/// descriptor) became readable. NotFound: no such program.
[[nodiscard]] Result<ChildOutput> runChild(const std::vector<std::string> &words,
    const std::vector<std::pair<std::string, std::string>> &environment, ChildInput input,
    Instant deadline, int cancel);

} // namespace tenure::kube
