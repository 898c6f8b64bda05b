// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/display_text.h"

#include <array>

namespace tenure::ctl
{
namespace
{

struct Character {
    char32_t code = 0;
    std::size_t bytes = 1;
};

/// The character at the front; anything malformed counts as one byte, one cell.
Character front(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (bytes == 1 || text.size() < bytes)
        return {lead, 1};
    char32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i)
        code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    return {code, bytes};
}

std::size_t cellsOf(char32_t code)
{
    struct Range {
        char32_t first, last;
    };
    static constexpr std::array<Range, 4> kNone{
        {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
    static constexpr std::array<Range, 9> kTwo{{{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF}, {0xFE30, 0xFE4F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF},
        {0x20000, 0x3FFFD}}};
    for (const Range &range : kNone) {
        if (code >= range.first && code <= range.last)
            return 0;
    }
    for (const Range &range : kTwo) {
        if (code >= range.first && code <= range.last)
            return 2;
    }
    return 1;
}

} // namespace

std::size_t displayWidth(std::string_view text)
{
    std::size_t cells = 0;
    while (!text.empty()) {
        const Character character = front(text);
        cells += character.code < 0x80 ? 1 : cellsOf(character.code);
        text.remove_prefix(character.bytes);
    }
    return cells;
}

std::string cut(std::string_view text, std::size_t width)
{
    if (displayWidth(text) <= width)
        return std::string(text);
    if (width == 0)
        return {};
    std::size_t cells = 0;
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const Character character = front(text.substr(bytes));
        const std::size_t more = cellsOf(character.code);
        if (cells + more > width - 1)
            break;
        cells += more;
        bytes += character.bytes;
    }
    return std::string(text.substr(0, bytes)) + "\u2026";
}

std::string fitted(std::string_view text, std::size_t width, Align align)
{
    std::string out = cut(text, width);
    const std::string padding(width - displayWidth(out), ' ');
    return align == Align::Left ? out + padding : padding + out;
}

} // namespace tenure::ctl
