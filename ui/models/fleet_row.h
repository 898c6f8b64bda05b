// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/filter.h"
#include "ui/models/lease_source.h"

#include <QString>

#include <compare>
#include <cstdint>
#include <string>

namespace tenure::ui
{

/// The identity of a row everywhere (R4).
struct FleetKey {
    QString connection;
    LeaseId lease;
    bool operator==(const FleetKey &) const = default;
};

enum class FleetColumn { State, Lease, Connection, Holder, Term, Left, Renewed, Changes, HeldFor, Seen, Count_ };

/// What the table keeps of one lease between two flushes: what sorting and matching need.
struct FleetRow {
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    LeaseId lease;
    QString name; ///< printable
    QString holder; ///< printable; the last one known when nobody leads
    std::string foldedName, foldedHolder;
    std::uint32_t source = 0;
    std::string group; ///< folded, in the order of groups; empty: no grouping
    std::uint32_t place = 0; ///< on the tile wall, within its source; never changes
    std::uint32_t position = kNowhere; ///< in the table; kNowhere: not listed
    LeaseState state = LeaseState::Unknown;
    int rank = 0; ///< how abnormal, churn included; larger is worse
    std::uint64_t term = 0;
    std::uint64_t changes = 0;
    Instant ends, renewed, since, seen;
    bool churning = false;
    bool dirty = false;
    bool matches = false;
    bool moved = false; ///< its sort key changed since it was put in its place
    bool used = false;
    bool gone = false;
};

/// By what the table is put into groups.
enum class FleetGroup { None, State, Backend, Environment, Prefix, Holder };
[[nodiscard]] QString groupWord(FleetGroup group); ///< "none", "state" ...: for settings
[[nodiscard]] FleetGroup groupFromWord(const QString &word);
/// Key of the row's group; groups stand in the order of their keys.
[[nodiscard]] std::string groupKey(const FleetRow &row, FleetGroup group, const ConnectionInfo &connection);
/// What a group of that row is called.
[[nodiscard]] QString groupTitle(const FleetRow &row, FleetGroup group, const ConnectionInfo &connection);

/// One cell's text as it is at `now` (the delegate paints it; also for copying and for readers).
/// `status` may be null.
[[nodiscard]] QString cellText(const FleetRow &row, const LeaseStatus *status, FleetColumn column,
    const QString &connection, LinkState link, Instant now);
[[nodiscard]] QString columnTitle(FleetColumn column);
[[nodiscard]] QString columnTip(FleetColumn column);
/// "VACANT, billing scheduler, prod-eu, 41 s": one sentence for assistive tools.
[[nodiscard]] QString rowSentence(
    const FleetRow &row, const LeaseStatus *status, const QString &connection, LinkState link, Instant now);
/// Takes over what `status` says; true when something changed that the default order depends on.
bool refreshRow(FleetRow &row, const LeaseStatus &status, LinkState link, Instant now);
/// "0.8 s" under ten seconds, whole seconds after that; ages are never shown in milliseconds.
[[nodiscard]] QString ageText(Duration age);

} // namespace tenure::ui
