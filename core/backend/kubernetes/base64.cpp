// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/base64.h"

#include <cstdint>

namespace tenure::kube
{
namespace
{

constexpr std::string_view kAlphabet
    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::optional<std::string> base64Decoded(std::string_view text)
{
    std::string out;
    std::uint32_t bits = 0;
    unsigned held = 0; // bits in `bits`
    std::size_t symbols = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            continue;
        ++symbols;
        if (c == '=') {
            ++padding;
            continue;
        }
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos || padding > 0)
            return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out += static_cast<char>((bits >> held) & 0xFFU);
        }
    }
    if (symbols % 4 != 0 || padding > 2)
        return std::nullopt;
    return out;
}

std::string base64Encoded(std::string_view bytes)
{
    std::string out;
    std::size_t i = 0;
    const auto at = [&](std::size_t n) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[n])); };
    for (; i + 2 < bytes.size(); i += 3) {
        const std::uint32_t three = (at(i) << 16U) | (at(i + 1) << 8U) | at(i + 2);
        for (unsigned shift : {18U, 12U, 6U, 0U})
            out += kAlphabet[(three >> shift) & 63U];
    }
    if (i + 1 == bytes.size()) {
        out += kAlphabet[at(i) >> 2U];
        out += kAlphabet[(at(i) & 3U) << 4U];
        out += "==";
    } else if (i + 2 == bytes.size()) {
        const std::uint32_t two = (at(i) << 8U) | at(i + 1);
        out += kAlphabet[two >> 10U];
        out += kAlphabet[(two >> 4U) & 63U];
        out += kAlphabet[(two & 15U) << 2U];
        out += '=';
    }
    return out;
}

} // namespace tenure::kube
