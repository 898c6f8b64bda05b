// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::ctl
{

/// Meanings that have a colour; a glyph or a word always says the same (UX.md R3).
enum class Ink { Normal, Muted, Warning, Critical, Unknown, Good, Strong };

[[nodiscard]] Ink inkOf(LeaseState state);

/// Standard output: text or JSON lines, colours only for a terminal that wants them, and a quiet end
/// when the reader has gone (`tenurectl list ... | head`). Write from one thread at a time.
class Output
{
public:
    Output();

    /// Standard output is a terminal.
    [[nodiscard]] bool isTerminal() const { return m_terminal; }
    /// A person can be asked: standard input is a terminal too.
    [[nodiscard]] bool canAsk() const { return m_canAsk; }
    [[nodiscard]] bool hasColours() const { return m_colours; }
    /// Columns and rows of the terminal now; 0 when it is none.
    struct Size {
        std::size_t columns = 0;
        std::size_t rows = 0;
    };
    [[nodiscard]] Size size() const;

    /// Writes all of `text` at once. False when nobody reads any more: end quietly.
    bool write(std::string_view text);
    bool line(std::string_view text);
    [[nodiscard]] bool isOpen() const { return m_open; }

    /// `text` in that colour, or as it is.
    [[nodiscard]] std::string painted(Ink ink, std::string_view text) const;

private:
    bool m_terminal = false;
    bool m_canAsk = false;
    bool m_colours = false;
    bool m_open = true;
};

} // namespace tenure::ctl
