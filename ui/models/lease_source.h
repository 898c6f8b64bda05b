// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lease_aside.h"
#include "core/churn/alerts.h"
#include "core/observe/status.h"

#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tenure
{
struct StoreTraits;
}

namespace tenure::ui
{

/// The environment of a connection as a person marked it; Sim for the demo world.
enum class Surroundings { Production, Staging, Development, Sim };
[[nodiscard]] QString word(Surroundings where); ///< "PRODUCTION" ...
[[nodiscard]] QString shortWord(Surroundings where); ///< "prod", "stage", "dev", "sim": for filters

struct ConnectionInfo {
    QString id; ///< identity, with the lease's name the key of everything (R4)
    QString name;
    QString url; ///< without secrets
    Surroundings where = Surroundings::Development;
};

/// What models and views know of one connection: the last state of its leases, and signals when it
/// changes. A Session is one (views/session_source.h); tests bring their own. GUI thread, never blocks.
class LeaseSource : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    [[nodiscard]] virtual ConnectionInfo connection() const = 0;
    [[nodiscard]] virtual const LinkStatus &link() const = 0;
    [[nodiscard]] virtual const std::map<LeaseId, LeaseStatus> &leases() const = 0;
    [[nodiscard]] virtual const std::vector<Transition> &transitions() const = 0; ///< newest last
    [[nodiscard]] virtual const std::map<std::uint64_t, Alert> &alerts() const = 0;
    [[nodiscard]] virtual const StoreTraits *traits() const = 0; ///< nothing: the URL cannot be used
    [[nodiscard]] virtual bool canWrite() const = 0; ///< operator mode is on
    virtual void focus(const LeaseId &lease) = 0;
    virtual void acknowledge(std::uint64_t alert) = 0;
    /// Aside for a while, for a reason; eight hours at most.
    virtual void shelve(std::uint64_t alert, Duration duration, const QString &reason) = 0;
    virtual void unshelve(std::uint64_t shelf) = 0;
    [[nodiscard]] virtual const std::vector<Shelf> &shelves() const = 0; ///< that stand now

    /// A failover drill runs on it: what it raises is out of service.
    [[nodiscard]] virtual bool isDrilled(const LeaseId &) const { return false; }

    /// Looks up what belongs to a lease beside its record, unless that was done a moment ago.
    virtual void askAside(const LeaseId &) { }
    [[nodiscard]] virtual const LeaseAside *aside(const LeaseId &) const { return nullptr; } ///< nothing: not known

    [[nodiscard]] const LeaseStatus *find(const LeaseId &lease) const;

Q_SIGNALS:
    void leasesChanged(const std::vector<tenure::LeaseId> &ids);
    void leasesRemoved(const std::vector<tenure::LeaseId> &ids);
    void wasReset();
    void transitionsAdded(std::size_t howMany);
    void alertsChanged();
    void linkChanged();
    void asideChanged(const tenure::LeaseId &id);
};

} // namespace tenure::ui
