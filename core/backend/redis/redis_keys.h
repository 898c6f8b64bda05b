// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::redis
{

/// How names become keys. `key` = prefix + name; beside it, in the same cluster slot, the companion
/// hash `{key}:tenure` and the channel `{key}:tenure:events`. A key that carries a hash tag of its
/// own
/// ("jobs{eu}x") keeps it: companion `key:tenure:term`, channel `key:tenure:term:events`. Only a
/// key with a '}' and no tag ("a}b") cannot have both in one slot; stand-alone servers do not mind.
class Keys
{
public:
    explicit Keys(std::string prefix) : m_prefix(std::move(prefix)) { }
    [[nodiscard]] const std::string &prefix() const { return m_prefix; }
    [[nodiscard]] std::string key(std::string_view name) const
    {
        return m_prefix + std::string(name);
    }
    [[nodiscard]] static std::string companion(std::string_view key);
    [[nodiscard]] static std::string channel(std::string_view key)
    {
        return companion(key) + ":events";
    }

    /// The name within the prefix, or nothing.
    [[nodiscard]] std::optional<std::string> nameOf(std::string_view key) const;
    /// The key that `companion` belongs to, or nothing when it is no companion's name.
    [[nodiscard]] static std::optional<std::string> keyOfCompanion(std::string_view companion);

private:
    std::string m_prefix;
};

/// `text` as a Redis glob that matches just it.
[[nodiscard]] std::string globEscaped(std::string_view text);

} // namespace tenure::redis
