// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/lease_json.h"
#include "app/ctl/lease_table.h"
#include "app/ctl/watch_view.h"
#include "app/ctl/zone_text.h"
#include "core/base/text.h"
#include "core/base/time_text.h"

#include <limits>
#include <utility>

namespace tenure::ctl
{
namespace
{

class JsonView final : public WatchView
{
public:
    explicit JsonView(Output &output) : m_output(output) { }

    void show(const WatchState &state, const FleetDelta &delta) override
    {
        if (delta.reset)
            m_snapshotDone = false;
        const Instant now = BootClock::now();
        const JsonContext context{state.display, linkStateAt(state.link, now), now,
            SystemClock::instance().wall(), state.link.skew};
        std::string text = statusIfChanged(state, context);
        if (!m_snapshotDone && state.complete) {
            text += snapshot(state, context);
            m_snapshotDone = true;
        } else if (m_snapshotDone) {
            for (const LeaseStatus &status : delta.changed) {
                Json line = {{"type", "observation"}};
                line.update(leaseJson(context, status));
                text += oneLine(line) + "\n";
            }
            for (const Transition &transition : delta.transitions)
                text += oneLine(transitionJson(context, transition)) + "\n";
        }
        for (const Alert &alert : delta.alerts)
            text += oneLine(alertJson(context, alert)) + "\n";
        m_output.write(text);
    }

    /// A link goes stale without anything being told.
    void tick(const WatchState &state) override
    {
        const Instant now = BootClock::now();
        m_output.write(statusIfChanged(state,
            {state.display, linkStateAt(state.link, now), now, SystemClock::instance().wall(), {}}));
    }

private:
    static std::string snapshot(const WatchState &state, const JsonContext &context)
    {
        Json leases = Json::array();
        for (const auto &[lease, status] : state.leases)
            leases.push_back(leaseJson(context, status));
        const Json line = {{"type", "snapshot"}, {"backend", context.backend},
            {"at", rfc3339(context.wall)}, {"capped", state.capped}, {"leases", std::move(leases)}};
        return oneLine(line) + "\n";
    }

    std::string statusIfChanged(const WatchState &state, const JsonContext &context)
    {
        const LinkStatus &link = state.link;
        const std::string key = std::string(linkWord(context.link)) + "\n" + link.pushHow + "\n"
            + link.server + "\n" + (link.error ? link.error->text() : "");
        if (key == m_lastStatus)
            return {};
        m_lastStatus = key;
        Json line;
        line["type"] = "status";
        line["backend"] = context.backend;
        line["at"] = rfc3339(context.wall);
        line["freshness"] = linkWord(context.link);
        line["text"] = linkText(link, context.now);
        line["server"] = textJson(link.server);
        line["push"] = link.pushOpen ? textJson(link.pushHow) : Json(nullptr);
        line["error"] = link.error ? textJson(link.error->text()) : Json(nullptr);
        return oneLine(line) + "\n";
    }

    Output &m_output;
    bool m_snapshotDone = false;
    std::string m_lastStatus;
};

class LineView final : public WatchView
{
public:
    explicit LineView(Output &output) : m_output(output) { }

    void show(const WatchState &state, const FleetDelta &delta) override
    {
        std::string text;
        if (!m_begun && state.complete) {
            text += beginning(state);
        } else if (m_begun) {
            for (const Transition &transition : delta.transitions) {
                const WallTime at = transition.serverTime.value_or(transition.wall);
                text += stampText(at) + "  " + transitionWord(transition.kind) + "  "
                    + printable(transition.lease.name()) + ": " + zoned(transition.explanation, at) + "\n";
            }
            for (const Alert &alert : delta.alerts) {
                // A line for each turn in its life, not for each time that it matched again.
                if (const auto [known, isNew] = m_alerts.try_emplace(alert.id, alert.state);
                    !isNew && std::exchange(known->second, alert.state) == alert.state)
                    continue;
                text += stampText(SystemClock::instance().wall()) + "  alert " + alertStateWord(alert.state)
                    + "  " + printable(alert.lease.name()) + ": " + alert.text + "\n";
            }
        }
        m_begun = m_begun || state.complete;
        m_output.write(text);
        tick(state);
    }

    void tick(const WatchState &state) override
    {
        const Instant now = BootClock::now();
        const std::string word = linkWord(linkStateAt(state.link, now));
        if (!m_begun || word == m_word)
            return;
        if (!m_word.empty()) {
            m_output.line(stampText(SystemClock::instance().wall()) + "  link  " + state.display + ": "
                + linkText(state.link, now));
        }
        m_word = word;
    }

private:
    std::string beginning(const WatchState &state)
    {
        std::vector<const LeaseStatus *> leases;
        for (const auto &[lease, status] : state.leases)
            leases.push_back(&status);
        const Instant now = BootClock::now();
        const LeaseTable table(leases, linkStateAt(state.link, now), now);
        return (leases.empty() ? std::string() : table.text(m_output, 0, 0, table.size()))
            + countsText(table.counts()) + " on " + state.display + ", "
            + linkText(state.link, now) + ". Changes follow, one a line.\n";
    }

    Output &m_output;
    bool m_begun = false;
    std::string m_word;
    std::map<std::uint64_t, AlertState> m_alerts; ///< as last told
};

} // namespace

std::unique_ptr<WatchView> makeJsonView(Output &output)
{
    return std::make_unique<JsonView>(output);
}

std::unique_ptr<WatchView> makeLineView(Output &output)
{
    return std::make_unique<LineView>(output);
}

} // namespace tenure::ctl
