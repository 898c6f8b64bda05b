// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/work/work_queue.h"

namespace tenure
{

/// The newest layout that this program understands.
inline constexpr int kQueueVersion = 1;

/// What makes a call impossible whatever is stored. Nothing: it may be tried.
[[nodiscard]] std::optional<Error> problemOf(std::span<const NewItem> items, const std::string &where);
[[nodiscard]] std::optional<Error> claimProblem(
    std::size_t limit, Milliseconds timeout, const std::string &where);
[[nodiscard]] std::optional<Error> problemOf(
    std::span<const Settlement> settlements, const std::string &where);
[[nodiscard]] std::optional<Error> queueNameProblem(const std::string &name, const std::string &where);
[[nodiscard]] std::optional<Error> versionProblem(int version, const std::string &where);
[[nodiscard]] Error staleFence(FencingToken seen, FencingToken given, const std::string &where);

} // namespace tenure
