// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace tenure
{
namespace
{

struct Decoded {
    char32_t code = 0;
    std::size_t length = 0;
};

/// The character at the front of `bytes`, or nothing when it is not well-formed UTF-8.
std::optional<Decoded> decodeFront(std::string_view bytes)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char lead = at(0);
    if (lead < 0x80)
        return Decoded{lead, 1};
    std::size_t length = 0;
    char32_t code = 0;
    char32_t least = 0;
    if ((lead & 0xE0U) == 0xC0U) {
        length = 2;
        code = lead & 0x1FU;
        least = 0x80;
    } else if ((lead & 0xF0U) == 0xE0U) {
        length = 3;
        code = lead & 0x0FU;
        least = 0x800;
    } else if ((lead & 0xF8U) == 0xF0U) {
        length = 4;
        code = lead & 0x07U;
        least = 0x10000;
    } else {
        return std::nullopt;
    }
    if (bytes.size() < length)
        return std::nullopt;
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xC0U) != 0x80U)
            return std::nullopt;
        code = (code << 6U) | (at(i) & 0x3FU);
    }
    if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return std::nullopt;
    return Decoded{code, length};
}

/// Characters that would break a line, hide text or turn its direction around.
bool isUnprintable(char32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F)
        || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
}

std::string hex(std::uint32_t value, std::size_t width)
{
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string out;
    do {
        out.insert(out.begin(), kDigits[value & 0xFU]);
        value >>= 4U;
    } while (value != 0);
    return std::string(width > out.size() ? width - out.size() : 0, '0') + out;
}

std::string escaped(char32_t code)
{
    switch (code) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return code < 0x80 ? "\\x" + hex(code, 2) : "\\u{" + hex(code, 4) + "}";
    }
}

} // namespace

bool isUtf8(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto front = decodeFront(bytes);
        if (!front)
            return false;
        bytes.remove_prefix(front->length);
    }
    return true;
}

std::string printable(std::string_view bytes, std::size_t maxBytes)
{
    std::string out;
    out.reserve(std::min(bytes.size(), maxBytes));
    while (!bytes.empty()) {
        if (out.size() >= maxBytes)
            return out + "...";
        const auto front = decodeFront(bytes);
        if (!front)
            out += "\\x" + hex(static_cast<unsigned char>(bytes[0]), 2);
        else if (isUnprintable(front->code))
            out += escaped(front->code);
        else
            out.append(bytes.substr(0, front->length));
        bytes.remove_prefix(front ? front->length : 1);
    }
    return out;
}

bool globMatch(std::string_view pattern, std::string_view text)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t retry = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string shellQuoted(std::string_view text)
{
    static constexpr std::string_view kSafe
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
    if (!text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos)
        return std::string(text);
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

} // namespace tenure
