// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/lease_page.h"

#include "app/ctl/lease_table.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <algorithm>
#include <cstdio>

namespace tenure::ctl
{
namespace
{

/// Half a round trip on loopback is far below a millisecond: it must not look like nothing.
std::string uncertaintyText(Duration uncertainty)
{
    return uncertainty < Milliseconds(1) ? "1 ms" : durationText(uncertainty);
}

std::string timeAndAge(WallTime time, std::optional<Duration> age)
{
    return stampText(time) + (age ? "  (" + durationText(*age) + " ago)" : "");
}

std::string joined(const std::vector<std::string> &names)
{
    std::string out;
    for (const std::string &name : names)
        out += (out.empty() ? "" : ", ") + printable(name, 120);
    return out;
}

class Facts
{
public:
    explicit Facts(const Output &output) : m_output(output) { }
    void add(const std::string &name, const std::string &value, Ink ink = Ink::Normal)
    {
        const std::string label = name + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ');
        m_text += "  " + m_output.painted(Ink::Muted, label) + m_output.painted(ink, value) + "\n";
    }
    [[nodiscard]] const std::string &text() const { return m_text; }

private:
    const Output &m_output;
    std::string m_text;
};

void addTimes(Facts &facts, const LeaseStatus &status, LinkState link, Instant now)
{
    const LeaseRecord &record = status.record;
    if (record.ttl)
        facts.add("ttl", durationText(*record.ttl));
    if (record.holder || record.hold) {
        const std::optional<Duration> left = remainingAt(status, link, now);
        facts.add("left", leftText(status, link, now)
                + (left ? " \u00b1 " + uncertaintyText(status.uncertainty) : ""));
    }
    const bool fresh = isFresh(link) && record.holder;
    if (record.acquiredAt) {
        facts.add("acquired",
            timeAndAge(*record.acquiredAt, fresh ? std::optional(now - status.holderSince) : std::nullopt));
    }
    if (record.renewedAt) {
        facts.add("renewed",
            timeAndAge(*record.renewedAt, fresh ? std::optional(now - status.lastRenewalAt) : std::nullopt));
    }
}

} // namespace

std::string leasePage(const Output &output, const std::string &display, const LeaseStatus &status,
    LinkState link, Instant now)
{
    const LeaseRecord &record = status.record;
    const LeaseState state = stateAt(status, link, now);
    Facts facts(output);
    facts.add("backend", display);
    const bool ourLock = std::any_of(record.facts.begin(), record.facts.end(),
        [&](const RecordFact &fact) { return record.kind == "advisory" && fact.name == "lease"; });
    facts.add("kind", record.kind + (record.kind == "tenure" ? ""
            : ourLock ? " (of a candidate of Tenure)" : " (not made by Tenure)"));
    facts.add("holder", record.holder ? printable(*record.holder, 255) : "nobody");
    facts.add("token", record.token ? std::to_string(record.token.value) : "none");
    addTimes(facts, status, link, now);
    if (record.transitions)
        facts.add("changes", std::to_string(*record.transitions));
    if (record.hold) {
        facts.add("hold", "by " + printable(record.hold->by, 80) + ", ends in "
                + durationText(record.hold->remaining), Ink::Warning);
    }
    if (record.stepDownAsked)
        facts.add("asked", "an operator asked the holder to step down", Ink::Warning);
    facts.add("candidates", record.candidates.empty() ? "none seen" : joined(record.candidates));
    for (const RecordFact &fact : record.facts)
        facts.add(printable(fact.name, 40), printable(fact.value));
    if (!record.note.empty())
        facts.add("note", printable(record.note), Ink::Warning);
    const std::string heading = std::string(stateGlyph(state)) + " " + stateWord(state);
    return output.painted(inkOf(state), heading) + "  "
        + output.painted(Ink::Strong, printable(record.lease.name())) + "\n" + facts.text() + "\n"
        + explainState(status, link, now) + "\n";
}

} // namespace tenure::ctl
