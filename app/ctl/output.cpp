// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/output.h"

#include <cerrno>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

const char *codeOf(Ink ink)
{
    switch (ink) {
    case Ink::Normal:
        return "";
    case Ink::Muted:
        return "\x1b[2m";
    case Ink::Warning:
        return "\x1b[33m";
    case Ink::Critical:
        return "\x1b[1;31m";
    case Ink::Unknown:
        return "\x1b[35m";
    case Ink::Good:
        return "\x1b[32m";
    case Ink::Strong:
        return "\x1b[1m";
    }
    return "";
}

bool wantsColours()
{
    const char *noColour = std::getenv("NO_COLOR");
    const char *term = std::getenv("TERM");
    return (noColour == nullptr || *noColour == '\0')
        && (term == nullptr || std::string_view(term) != "dumb");
}

} // namespace

Ink inkOf(LeaseState state)
{
    switch (state) {
    case LeaseState::Held:
        return Ink::Normal;
    case LeaseState::Late:
    case LeaseState::Overdue:
    case LeaseState::OperatorHold:
        return Ink::Warning;
    case LeaseState::Expired:
    case LeaseState::Vacant:
        return Ink::Critical;
    case LeaseState::Unknown:
        return Ink::Unknown;
    }
    return Ink::Normal;
}

Output::Output()
    : m_terminal(isatty(STDOUT_FILENO) == 1),
      m_canAsk(m_terminal && isatty(STDIN_FILENO) == 1),
      m_colours(m_terminal && wantsColours())
{
}

Output::Size Output::size() const
{
    winsize window{};
    if (!m_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return {};
    return {window.ws_col, window.ws_row};
}

bool Output::write(std::string_view text)
{
    while (m_open && !text.empty()) {
        const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n > 0)
            text.remove_prefix(static_cast<std::size_t>(n));
        else if (n < 0 && errno != EINTR)
            m_open = false;
    }
    return m_open;
}

bool Output::line(std::string_view text)
{
    std::string all(text);
    all += '\n';
    return write(all);
}

std::string Output::painted(Ink ink, std::string_view text) const
{
    const char *code = codeOf(ink);
    if (!m_colours || *code == '\0')
        return std::string(text);
    return code + std::string(text) + "\x1b[0m";
}

} // namespace tenure::ctl
