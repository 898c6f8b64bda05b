// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random.h"

#include <random>

namespace tenure
{

std::uint64_t systemEntropy()
{
    std::random_device device; // libstdc++ asks the kernel or the processor, never a fixed seed
    return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

std::string hex64(std::uint64_t value)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out(16, '0');
    for (std::size_t i = 16; i-- > 0; value >>= 4U)
        out[i] = kDigits[value & 0xFU];
    return out;
}

} // namespace tenure
