// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/tokens.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenure::ui
{
namespace
{

struct Row {
    Token token;
    QRgb light, dark, high;
};

// The one table of colours. Order is the order of Token.
constexpr std::array<Row, static_cast<std::size_t>(Token::Count_)> kTable{{
    {Token::Bg, 0xFFFFFFFF, 0xFF15191E, 0xFF000000},
    {Token::Surface, 0xFFF3F4F6, 0xFF1D232A, 0xFF000000},
    {Token::Alt, 0xFFE9ECEF, 0xFF262D36, 0xFF1A1A1A},
    {Token::Selection, 0xFFCFE3F7, 0xFF20405F, 0xFF00386B},
    {Token::Hairline, 0xFFDDE1E6, 0xFF2E3640, 0xFF8A8A8A},
    {Token::Line, 0xFF6E7781, 0xFF8792A0, 0xFFFFFFFF},
    {Token::Text, 0xFF1B1F24, 0xFFE6EAEE, 0xFFFFFFFF},
    {Token::Muted, 0xFF57606A, 0xFFA3ADB8, 0xFFE4E4E4},
    {Token::Warn, 0xFF7A5C00, 0xFFF0BA43, 0xFFFFD866},
    {Token::Crit, 0xFF8A0E12, 0xFFFF8A80, 0xFFFFB3AB},
    {Token::Stale, 0xFF5B2BD6, 0xFFC9A0FF, 0xFFDFC6FF},
    {Token::Info, 0xFF0550AE, 0xFF79B8FF, 0xFF9CD0FF},
    {Token::Sim, 0xFF7A0E6B, 0xFFF39AE0, 0xFFFFB3EC},
    {Token::WarnChip, 0xFFFFD866, 0xFFF0BA43, 0xFFFFD866},
    {Token::OnWarnChip, 0xFF1B1F24, 0xFF15191E, 0xFF000000},
    {Token::CritChip, 0xFFA31515, 0xFFFF8A80, 0xFFFFB3AB},
    {Token::OnCritChip, 0xFFFFFFFF, 0xFF15191E, 0xFF000000},
    {Token::StaleChip, 0xFFEEE8FB, 0xFF3A2A5C, 0xFF2A1A4C},
    {Token::OnStaleChip, 0xFF3D1A99, 0xFFE4D4FF, 0xFFFFFFFF},
    {Token::SimBand, 0xFF7A0E6B, 0xFFF39AE0, 0xFFFFB3EC},
    {Token::OnSimBand, 0xFFFFFFFF, 0xFF15191E, 0xFF000000},
    {Token::ProdBand, 0xFF8C1D18, 0xFFC62828, 0xFFFFFFFF},
    {Token::OnProdBand, 0xFFFFFFFF, 0xFFFFFFFF, 0xFF8C1D18},
    {Token::StageBand, 0xFFFFD866, 0xFFFFD866, 0xFFFFD866},
    {Token::OnStageBand, 0xFF1B1F24, 0xFF1B1F24, 0xFF000000},
    {Token::DevBand, 0xFFD0D7DE, 0xFF39424D, 0xFF000000},
    {Token::OnDevBand, 0xFF1B1F24, 0xFFE6EAEE, 0xFFFFFFFF},
    {Token::Bar, 0xFF6B7886, 0xFF8D9BAA, 0xFFFFFFFF},
}};

constexpr double kTextContrast = 4.5;
constexpr double kShapeContrast = 3.0;

// Text tokens stand on all four surfaces; chips and bands only on their own ground.
constexpr auto makePairs()
{
    constexpr std::array texts{Token::Text, Token::Muted, Token::Warn, Token::Crit, Token::Stale,
        Token::Info, Token::Sim};
    constexpr std::array grounds{Token::Bg, Token::Surface, Token::Alt, Token::Selection};
    constexpr std::array shapes{Token::Line, Token::Bar};
    constexpr std::array<std::pair<Token, Token>, 7> chips{{{Token::OnWarnChip, Token::WarnChip},
        {Token::OnCritChip, Token::CritChip}, {Token::OnStaleChip, Token::StaleChip},
        {Token::OnSimBand, Token::SimBand}, {Token::OnProdBand, Token::ProdBand},
        {Token::OnStageBand, Token::StageBand}, {Token::OnDevBand, Token::DevBand}}};
    std::array<TokenPair,
        texts.size() * grounds.size() + shapes.size() * grounds.size() + chips.size()>
        pairs{};
    std::size_t at = 0;
    for (const Token ground : grounds) {
        for (const Token text : texts)
            pairs[at++] = {text, ground, kTextContrast};
        for (const Token shape : shapes)
            pairs[at++] = {shape, ground, kShapeContrast};
    }
    for (const auto &[front, back] : chips)
        pairs[at++] = {front, back, kTextContrast};
    return pairs;
}

constexpr auto kPairs = makePairs();

double luminance(const QColor &color)
{
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF())
        + 0.0722 * linear(color.blueF());
}

} // namespace

QColor tokenColor(Scheme scheme, Token token)
{
    const Row &row = kTable[static_cast<std::size_t>(token)];
    switch (scheme) {
    case Scheme::Light:
        return QColor::fromRgb(row.light);
    case Scheme::Dark:
        return QColor::fromRgb(row.dark);
    case Scheme::HighContrast:
        break;
    }
    return QColor::fromRgb(row.high);
}

std::span<const TokenPair> tokenPairs()
{
    return kPairs;
}

double contrast(const QColor &a, const QColor &b)
{
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

} // namespace tenure::ui
