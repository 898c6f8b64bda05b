// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/display_text.h"
#include "app/ctl/lease_page.h"
#include "app/ctl/lease_table.h"
#include "app/ctl/watch_view.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <termios.h>
#include <unistd.h>

namespace tenure::ctl
{
namespace
{

constexpr std::size_t kAlertLines = 3;
constexpr std::size_t kChangeLines = 6;

/// The alternate screen with keys one by one; the terminal is as before when this ends.
class AlternateScreen
{
public:
    explicit AlternateScreen(Output &output) : m_output(output)
    {
        m_saved = tcgetattr(STDIN_FILENO, &m_before) == 0;
        termios raw = m_before;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        raw.c_cc[VSUSP] = _POSIX_VDISABLE; // stopped now, it would leave the terminal like this
        if (m_saved)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        m_output.write("\x1b[?1049h\x1b[?25l");
    }
    ~AlternateScreen()
    {
        m_output.write("\x1b[?25h\x1b[?1049l");
        if (m_saved)
            tcsetattr(STDIN_FILENO, TCSANOW, &m_before);
    }
    AlternateScreen(const AlternateScreen &) = delete;
    AlternateScreen &operator=(const AlternateScreen &) = delete;

private:
    Output &m_output;
    termios m_before{};
    bool m_saved = false;
};

std::vector<std::string> linesOf(const std::string &text)
{
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

class ScreenView final : public WatchView
{
public:
    explicit ScreenView(Output &output) : m_output(output), m_screen(output) { }

    void show(const WatchState &, const FleetDelta &) override { }
    void tick(const WatchState &state) override { paint(state); }
    bool key(const WatchState &state) override;

private:
    using Lines = std::vector<std::string>;
    void paint(const WatchState &state);
    [[nodiscard]] std::string header(const WatchState &state, Instant now) const;
    [[nodiscard]] Lines alertLines(const WatchState &state) const;
    [[nodiscard]] Lines changeLines(const WatchState &state) const;
    /// At most `room` lines; sets what the footer says about rows.
    [[nodiscard]] Lines body(const WatchState &state, Instant now, std::size_t room);

    Output &m_output;
    AlternateScreen m_screen;
    Output::Size m_size;
    std::size_t m_first = 0; ///< first row shown
    std::size_t m_page = 1;
    std::size_t m_rows = 0;
};

bool ScreenView::key(const WatchState &state)
{
    std::array<char, 32> buffer{};
    const ssize_t n = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n <= 0)
        return false; // the terminal went away
    const std::string_view typed(buffer.data(), static_cast<std::size_t>(n));
    if (typed == "q" || typed == "Q" || typed == "\x1b")
        return false;
    const std::size_t last = m_rows > m_page ? m_rows - m_page : 0;
    if (typed == "j" || typed == "\x1b[B" || typed == "\x1bOB")
        m_first = std::min(m_first + 1, last);
    else if (typed == "k" || typed == "\x1b[A" || typed == "\x1bOA")
        m_first -= std::min<std::size_t>(m_first, 1);
    else if (typed == " " || typed == "\x1b[6~")
        m_first = std::min(m_first + m_page, last);
    else if (typed == "b" || typed == "\x1b[5~")
        m_first -= std::min(m_first, m_page);
    else if (typed == "g" || typed == "\x1b[H" || typed == "\x1b[1~")
        m_first = 0;
    else if (typed == "G" || typed == "\x1b[F" || typed == "\x1b[4~")
        m_first = last;
    paint(state);
    return true;
}

std::string ScreenView::header(const WatchState &state, Instant now) const
{
    const LinkState link = linkStateAt(state.link, now);
    std::string left = state.display + "  ";
    if (state.link.simulated)
        left += "\u25c7 SIM  ";
    left += linkText(state.link, now);
    if (link == LinkState::Polling && !state.link.pushHow.empty())
        left += " (" + state.link.pushHow + ")";
    const std::string right = clockStamp(SystemClock::instance().wall());
    const std::size_t width = m_size.columns > right.size() + 1 ? m_size.columns - right.size() - 1 : 1;
    return m_output.painted(isFresh(link) ? Ink::Strong : Ink::Unknown, fitted(printable(left), width))
        + " " + right;
}

ScreenView::Lines ScreenView::alertLines(const WatchState &state) const
{
    std::vector<const Alert *> alerts;
    for (const auto &[id, alert] : state.alerts) {
        if (alert.state == AlertState::Firing)
            alerts.push_back(&alert);
    }
    std::stable_sort(alerts.begin(), alerts.end(),
        [](const Alert *a, const Alert *b) { return a->priority < b->priority; });
    Lines lines;
    for (const Alert *alert : alerts) {
        if (lines.size() == kAlertLines) {
            lines.push_back("and " + std::to_string(alerts.size() - kAlertLines) + " more alerts");
            break;
        }
        const std::string name = alert->lease.name().empty() ? "" : printable(alert->lease.name()) + ": ";
        lines.push_back(m_output.painted(alert->priority == 1 ? Ink::Critical : Ink::Warning,
            cut("! P" + std::to_string(alert->priority) + " " + alert->rule + "  " + name + alert->text
                    + ". " + alert->action,
                m_size.columns)));
    }
    return lines;
}

ScreenView::Lines ScreenView::changeLines(const WatchState &state) const
{
    Lines lines;
    lines.push_back(m_output.painted(
        Ink::Muted, state.recent.empty() ? "No change seen yet" : "LAST CHANGES"));
    for (const Transition &transition : state.recent) {
        if (lines.size() > kChangeLines)
            break;
        const std::string name = state.only ? "" : printable(transition.lease.name()) + "  ";
        const WallTime at = transition.serverTime.value_or(transition.wall);
        lines.push_back(cut(clockStamp(at) + "  " + fitted(transitionWord(transition.kind), 14) + "  " + name
                + zoned(transition.explanation, at),
            m_size.columns));
    }
    return lines;
}

ScreenView::Lines ScreenView::body(const WatchState &state, Instant now, std::size_t room)
{
    const LinkState link = linkStateAt(state.link, now);
    if (state.only) {
        const auto found = state.leases.find(*state.only);
        if (found == state.leases.end())
            return {printable(state.only->name()) + (state.complete ? ": no such lease (yet)" : ": reading")};
        return linesOf(leasePage(m_output, state.display, found->second, link, now));
    }
    std::vector<const LeaseStatus *> leases;
    leases.reserve(state.leases.size());
    for (const auto &[lease, status] : state.leases)
        leases.push_back(&status);
    const LeaseTable table(leases, link, now);
    Lines lines{countsText(table.counts()) + (state.complete ? "" : ", still looking")
        + (state.capped ? ", there are more: narrow it with --filter" : "")};
    m_rows = table.size();
    m_page = room > 2 ? room - 2 : 1;
    m_first = std::min(m_first, m_rows > m_page ? m_rows - m_page : 0);
    for (std::string &line : linesOf(table.text(m_output, m_size.columns, m_first, m_page)))
        lines.push_back(std::move(line));
    return lines;
}

void ScreenView::paint(const WatchState &state)
{
    const Instant now = BootClock::now();
    m_size = m_output.size();
    m_size = {std::max<std::size_t>(m_size.columns, 20), std::max<std::size_t>(m_size.rows, 8)};
    Lines lines{header(state, now)};
    for (std::string &line : alertLines(state))
        lines.push_back(std::move(line));
    lines.emplace_back();
    Lines changes = changeLines(state);
    const std::size_t taken = lines.size() + changes.size() + 2;
    for (std::string &line : body(state, now, m_size.rows > taken ? m_size.rows - taken : 3))
        lines.push_back(std::move(line));
    lines.emplace_back();
    std::move(changes.begin(), changes.end(), std::back_inserter(lines));
    lines.resize(std::min(lines.size(), m_size.rows - 1));

    std::string text = "\x1b[H";
    for (const std::string &line : lines)
        text += line + "\x1b[K\r\n";
    std::string footer = "q quit";
    if (m_rows > m_page) {
        footer += "   \u2191 \u2193 PgUp PgDn   " + std::to_string(m_first + 1) + "-"
            + std::to_string(std::min(m_rows, m_first + m_page)) + " of " + std::to_string(m_rows);
    }
    m_output.write(text + "\x1b[J\x1b[" + std::to_string(m_size.rows) + ";1H"
        + m_output.painted(Ink::Muted, cut(footer, m_size.columns)) + "\x1b[K");
}

} // namespace

std::unique_ptr<WatchView> makeScreenView(Output &output)
{
    return std::make_unique<ScreenView>(output);
}

} // namespace tenure::ctl
