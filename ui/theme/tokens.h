// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

#include <span>

namespace tenure::ui
{

enum class Scheme { Light, Dark, HighContrast };

/// Every colour of the console by its meaning (UX.md section 11). Nothing else names a colour.
enum class Token {
    Bg, ///< tables, cards
    Surface, ///< windows behind them
    Alt, ///< headers, hovered rows, tracks
    Selection,
    Hairline, ///< separators that carry no meaning; the only token without a contrast promise
    Line, ///< axes, borders of things that act, >= 3:1
    Text,
    Muted,
    Warn,
    Crit,
    Stale,
    Info, ///< links, focus ring, operator's doing
    Sim,
    WarnChip,
    OnWarnChip,
    CritChip,
    OnCritChip,
    StaleChip,
    OnStaleChip,
    SimBand,
    OnSimBand,
    ProdBand,
    OnProdBand,
    StageBand,
    OnStageBand,
    DevBand,
    OnDevBand,
    Bar, ///< bars and ticks of charts in the normal state, >= 3:1
    Count_
};

[[nodiscard]] QColor tokenColor(Scheme scheme, Token token);

/// Foreground and background that are put on each other, and the contrast promised for them.
struct TokenPair {
    Token front;
    Token back;
    double least;
};
[[nodiscard]] std::span<const TokenPair> tokenPairs();

/// WCAG 2.1 contrast of two opaque colours, 1 to 21.
[[nodiscard]] double contrast(const QColor &a, const QColor &b);

} // namespace tenure::ui
