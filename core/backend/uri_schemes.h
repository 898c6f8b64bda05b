// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenure
{

/// How the URLs of a scheme are built.
enum class Shape {
    Name, ///< scheme:name
    File, ///< scheme:relative or scheme:///absolute
    Socket, ///< scheme://[user:password@]/file
    Hosts, ///< scheme://[user:password@]host[:port][,...][/path]
    Context, ///< scheme://context/namespace
};

struct Scheme {
    std::string_view name;
    Shape shape;
    std::string_view example;
    std::vector<std::string_view> parameters;
    bool anyParameter = false;
};

/// Nothing when there is no such scheme.
[[nodiscard]] const Scheme *schemeNamed(std::string_view name);
/// By what a person typed: any case, "postgres" too. BadConfig with the known ones and a near miss.
[[nodiscard]] Result<const Scheme *> schemeOf(std::string_view typed);
/// The name of `names` that `wrong` was probably meant to be, or an empty text.
[[nodiscard]] std::string nearMiss(std::string_view wrong, const std::vector<std::string_view> &names);
[[nodiscard]] std::string joined(const std::vector<std::string_view> &names);

} // namespace tenure
