// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/random.h"
#include "core/base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure
{

/// The name of a lease within its backend. Any UTF-8 without NUL, 1 to 512 bytes; spaces, newlines
/// and emoji are honest names and are only escaped for display.
class LeaseId
{
public:
    static constexpr std::size_t kMaxBytes = 512;
    LeaseId() = default;
    /// BadConfig: empty, too long, NUL or not UTF-8.
    [[nodiscard]] static Result<LeaseId> parse(std::string_view name);
    /// For names that a backend reported: kept as they are, also when we would refuse to create them.
    [[nodiscard]] static LeaseId observed(std::string name);
    [[nodiscard]] const std::string &name() const { return m_name; }
    auto operator<=>(const LeaseId &) const = default;

private:
    explicit LeaseId(std::string name) : m_name(std::move(name)) { }
    std::string m_name;
};

/// Who holds or competes: the configured identity of one candidate. 1 to 255 bytes of UTF-8 without
/// control characters (it travels through other people's tools).
class HolderId
{
public:
    static constexpr std::size_t kMaxBytes = 255;
    HolderId() = default;
    [[nodiscard]] static Result<HolderId> parse(std::string_view name);
    /// "<base>_<host>-<pid>-<64 random bits>": two processes with one configured name stay apart.
    [[nodiscard]] static HolderId unique(std::string_view base);
    [[nodiscard]] const std::string &name() const { return m_name; }
    auto operator<=>(const HolderId &) const = default;

private:
    explicit HolderId(std::string name) : m_name(std::move(name)) { }
    std::string m_name;
};

/// Grows strictly with each new term of a lease and is never reused. Resources refuse a token that
/// is smaller than the largest they have seen (Kleppmann 2016). 0 means "none".
struct FencingToken {
    std::uint64_t value = 0;
    auto operator<=>(const FencingToken &) const = default;
    [[nodiscard]] explicit operator bool() const { return value != 0; }
};

/// 128 random bits, new for every term: what makes two terms of one holder different, and a retried
/// acquire the same as its first try. All zero means "none".
class Nonce
{
public:
    Nonce() = default;
    Nonce(std::uint64_t high, std::uint64_t low) : m_high(high), m_low(low) { }
    [[nodiscard]] static Nonce random(); ///< from the kernel
    /// 32 lower-case hex digits, or nothing.
    [[nodiscard]] static std::optional<Nonce> parse(std::string_view hex);
    [[nodiscard]] std::string hex() const { return hex64(m_high) + hex64(m_low); }
    [[nodiscard]] explicit operator bool() const { return m_high != 0 || m_low != 0; }
    auto operator<=>(const Nonce &) const = default;

private:
    std::uint64_t m_high = 0;
    std::uint64_t m_low = 0;
};

/// One reign: who, by which grant, under which token. All three are compared by every write (P4).
struct Term {
    HolderId holder;
    Nonce nonce;
    FencingToken token;
    bool operator==(const Term &) const = default;
};

} // namespace tenure
