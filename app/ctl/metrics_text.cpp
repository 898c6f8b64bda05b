// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/metrics_text.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tenure::ctl
{
namespace
{

double seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

std::string escaped(const std::string &bytes)
{
    const std::string text = isUtf8(bytes) ? bytes : printable(bytes, bytes.size() * 4);
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"')
            out += '\\';
        out += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return out;
}

std::string label(const char *name, const std::string &value)
{
    return std::string(name) + "=\"" + escaped(value) + "\"";
}

/// The shortest text that reads back as the same value.
std::string number(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

bool isSilent(const LeaseStatus &status)
{
    return !status.led() && !status.record.hold && !status.absent && !status.terms.empty()
        && status.terms.size() > 1;
}

} // namespace

void MetricsSource::take(const FleetDelta &delta)
{
    if (delta.reset) {
        m_leases.clear();
        m_alerts.clear();
    }
    for (const Transition &transition : delta.transitions) {
        Counted &counted = m_counted[transition.lease];
        if (transition.kind != TransitionKind::Appeared)
            ++counted.transitions;
        if (transition.gap && !transition.newHolder.empty())
            counted.silent += *transition.gap;
    }
    for (const LeaseStatus &status : delta.changed)
        m_leases.insert_or_assign(status.record.lease, status);
    for (const LeaseId &gone : delta.removed) {
        m_leases.erase(gone);
        m_counted.erase(gone);
    }
    for (const Alert &alert : delta.alerts) {
        if (alert.state == AlertState::Resolved)
            m_alerts.erase(alert.id);
        else
            m_alerts.insert_or_assign(alert.id, alert);
    }
    m_link = delta.link;
}

void MetricsText::begin(const Family &family)
{
    m_text += std::string("# HELP ") + family.name + " " + family.help + "\n# TYPE " + family.name + " "
        + family.type + "\n";
}

void MetricsText::sample(const char *name, const std::string &labels, double value)
{
    m_text += std::string(name) + "{" + labels + "} " + number(value) + "\n";
}

template <typename Value>
void MetricsText::leases(
    const Family &family, std::vector<MetricsSource> &sources, bool onlyFresh, Value value)
{
    begin(family);
    for (MetricsSource &source : sources) {
        if (onlyFresh && !isFresh(linkStateAt(source.m_link, m_now)))
            continue;
        for (const auto &[lease, status] : source.m_leases) {
            if (const std::optional<double> known = value(source, status)) {
                sample(family.name,
                    label("connection", source.m_display) + "," + label("lease", lease.name()), *known);
            }
        }
    }
}

template <typename Value>
void MetricsText::connections(const Family &family, std::vector<MetricsSource> &sources, Value value)
{
    begin(family);
    for (MetricsSource &source : sources) {
        if (const std::optional<double> known = value(source))
            sample(family.name, label("connection", source.m_display), *known);
    }
}

void MetricsText::gauges(std::vector<MetricsSource> &sources)
{
    begin({"tenure_lease_leader_info", "gauge", "Who leads, in the label holder."});
    for (MetricsSource &source : sources) {
        if (!isFresh(linkStateAt(source.m_link, m_now)))
            continue;
        for (const auto &[lease, status] : source.m_leases) {
            if (status.led()) {
                sample("tenure_lease_leader_info",
                    label("connection", source.m_display) + "," + label("lease", lease.name()) + ","
                        + label("holder", *status.record.holder),
                    1);
            }
        }
    }
    using Known = std::optional<double>;
    leases({"tenure_lease_held", "gauge", "Whether somebody leads (1) or nobody (0)."}, sources, true,
        [](auto &, const LeaseStatus &s) -> Known { return s.led() ? 1 : 0; });
    leases({"tenure_lease_fencing_token", "gauge", "Fencing token of the present term."}, sources, true,
        [](auto &, const LeaseStatus &s) -> Known {
            return s.led() && s.record.token ? Known(static_cast<double>(s.record.token.value)) : Known();
        });
    leases({"tenure_lease_ttl_seconds", "gauge", "Duration of a grant."}, sources, true,
        [](auto &, const LeaseStatus &s) -> Known { return s.record.ttl ? Known(seconds(*s.record.ttl)) : Known(); });
    leases({"tenure_lease_remaining_seconds", "gauge", "Time until the lease runs out unless it is renewed."},
        sources, true, [this](auto &source, const LeaseStatus &s) -> Known {
            const auto left = remainingAt(s, linkStateAt(source.m_link, m_now), m_now);
            return left ? Known(seconds(*left)) : Known();
        });
    leases({"tenure_lease_since_renewal_seconds", "gauge", "Time since the last renewal that was seen."}, sources,
        true, [this](auto &, const LeaseStatus &s) -> Known {
            return s.led() && s.renews() ? Known(std::max(0.0, seconds(m_now - s.lastRenewalAt))) : Known();
        });
    leases({"tenure_lease_headroom_ratio", "gauge",
               "Least share of the ttl that was left at one of the last 60 renewals."},
        sources, true, [](auto &, const LeaseStatus &s) -> Known {
            return s.renewals.empty() ? Known() : Known(s.leastHeadroom());
        });
}

void MetricsText::counters(std::vector<MetricsSource> &sources)
{
    using Known = std::optional<double>;
    leases({"tenure_lease_transitions_total", "counter", "Changes of leadership seen since the start."}, sources,
        false, [](MetricsSource &source, const LeaseStatus &s) -> Known {
            return static_cast<double>(source.m_counted[s.record.lease].transitions);
        });
    leases({"tenure_lease_missed_renewals_total", "counter", "Renewals that did not come when they were due."},
        sources, false, [](auto &, const LeaseStatus &s) -> Known { return static_cast<double>(s.missedRenewals); });
    leases({"tenure_lease_leaderless_seconds_total", "counter",
               "Time without a leader seen since the start, after somebody led."},
        sources, false, [this](MetricsSource &source, const LeaseStatus &s) -> Known {
            auto &counted = source.m_counted[s.record.lease];
            Duration all = counted.silent;
            if (isSilent(s) && isFresh(linkStateAt(source.m_link, m_now)))
                all += m_now - s.holderSince;
            counted.told = std::max(counted.told, all);
            return seconds(counted.told);
        });
}

void MetricsText::alerts(std::vector<MetricsSource> &sources)
{
    begin({"tenure_alerts_firing", "gauge", "Alerts that are so now, by rule; shelved ones are not counted."});
    for (const MetricsSource &source : sources) {
        std::map<std::string, int> count;
        for (const auto &[id, alert] : source.m_alerts) {
            if (alert.state == AlertState::Firing || alert.state == AlertState::Acknowledged)
                ++count[alert.rule];
        }
        for (const RuleDefinition &rule : ruleCatalogue()) {
            sample("tenure_alerts_firing",
                label("connection", source.m_display) + "," + label("rule", rule.name) + ","
                    + label("priority", std::to_string(rule.priority)),
                count[rule.name]);
        }
    }
}

std::string MetricsText::of(std::vector<MetricsSource> &sources, const std::string &version)
{
    m_text.clear();
    begin({"tenure_build_info", "gauge", "Version of tenurectl, in the label version."});
    sample("tenure_build_info", label("version", version), 1);
    using Known = std::optional<double>;
    connections({"tenure_connection_up", "gauge", "Whether the data of a connection may be believed (1)."}, sources,
        [this](MetricsSource &s) -> Known { return isFresh(linkStateAt(s.m_link, m_now)) ? 1 : 0; });
    connections({"tenure_connection_data_age_seconds", "gauge", "Time since the last proof that the data are true."},
        sources, [this](MetricsSource &s) -> Known {
            return s.m_link.lastProof == Instant() ? Known()
                                                    : Known(std::max(0.0, seconds(m_now - s.m_link.lastProof)));
        });
    connections({"tenure_connection_round_trip_seconds", "gauge", "Round trip of the last call to the store."}, sources,
        [](MetricsSource &s) -> Known { return s.m_link.roundTrip ? Known(seconds(*s.m_link.roundTrip)) : Known(); });
    connections({"tenure_connection_leases", "gauge", "Leases that are watched."}, sources,
        [](MetricsSource &s) -> Known { return static_cast<double>(s.m_leases.size()); });
    gauges(sources);
    counters(sources);
    alerts(sources);
    return std::move(m_text);
}

} // namespace tenure::ctl
