// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/session_source.h"

#include "ui/bridge/session.h"

namespace tenure::ui
{
namespace
{

Surroundings surroundingsOf(const Session &session)
{
    if (session.isSimulated())
        return Surroundings::Sim;
    switch (session.profile().environment) {
    case Environment::Production:
        return Surroundings::Production;
    case Environment::Staging:
        return Surroundings::Staging;
    case Environment::Sim:
        return Surroundings::Sim;
    case Environment::Development:
        break;
    }
    return Surroundings::Development;
}

class SessionSource final : public LeaseSource
{
public:
    explicit SessionSource(Session *session) : LeaseSource(session), m_session(session)
    {
        connect(session, &Session::leasesChanged, this, &LeaseSource::leasesChanged);
        connect(session, &Session::leasesRemoved, this, &LeaseSource::leasesRemoved);
        connect(session, &Session::wasReset, this, &LeaseSource::wasReset);
        connect(session, &Session::transitionsAdded, this, &LeaseSource::transitionsAdded);
        connect(session, &Session::alertsChanged, this, &LeaseSource::alertsChanged);
        connect(session, &Session::linkChanged, this, &LeaseSource::linkChanged);
        connect(session, &Session::asideChanged, this, &LeaseSource::asideChanged);
    }

    ConnectionInfo connection() const override
    {
        const ConnectionProfile &profile = m_session->profile();
        return {profile.id, profile.name, profile.url, surroundingsOf(*m_session)};
    }
    const LinkStatus &link() const override { return m_session->link(); }
    const std::map<LeaseId, LeaseStatus> &leases() const override { return m_session->leases(); }
    const std::vector<Transition> &transitions() const override { return m_session->transitions(); }
    const std::map<std::uint64_t, Alert> &alerts() const override { return m_session->alerts(); }
    const StoreTraits *traits() const override { return m_session->traits(); }
    bool canWrite() const override
    {
        const OperatorGate *gate = m_session->gate();
        return gate != nullptr && gate->operatorTimeLeft().has_value();
    }
    void focus(const LeaseId &lease) override { m_session->focus(lease); }
    void askAside(const LeaseId &lease) override { m_session->askAside(lease); }
    const LeaseAside *aside(const LeaseId &lease) const override { return m_session->aside(lease); }
    void acknowledge(std::uint64_t alert) override { m_session->acknowledge(alert); }
    void shelve(std::uint64_t alert, Duration duration, const QString &reason) override
    {
        m_session->shelve(alert, duration, reason);
    }
    void unshelve(std::uint64_t shelf) override { m_session->unshelve(shelf); }
    bool isDrilled(const LeaseId &lease) const override { return m_session->isDrilled(lease); }
    const std::vector<Shelf> &shelves() const override { return m_session->shelves(); }

private:
    Session *m_session;
};

} // namespace

LeaseSource *sourceOf(Session *session)
{
    if (auto *known = session->findChild<LeaseSource *>(QString(), Qt::FindDirectChildrenOnly))
        return known;
    return new SessionSource(session);
}

} // namespace tenure::ui
