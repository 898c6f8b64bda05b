// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/profile_store.h"
#include "ui/bridge/session.h"

#include <QObject>
#include <QTemporaryDir>

#include <map>
#include <memory>
#include <vector>

namespace tenure::ui
{

/// All connections of the console: the saved ones, those of this run (from the command line, the
/// demo), and the session of each that is open. Finds passwords (given, TENURE_PASSWORD, keyring).
/// GUI thread.
class Connections final : public QObject
{
    Q_OBJECT
public:
    explicit Connections(QString profileFile, QObject *parent = nullptr);
    ~Connections() override;

    [[nodiscard]] std::vector<ConnectionProfile> profiles() const; ///< saved, then of this run
    [[nodiscard]] const ConnectionProfile *profile(const QString &id) const;
    [[nodiscard]] Session *session(const QString &id) const; ///< nothing when not open
    [[nodiscard]] std::vector<Session *> sessions() const; ///< in the order of profiles()
    /// Where sessions keep what they observe; before the first is opened. The demo's is a file of its
    /// own that goes with it: what is simulated never mixes with what is real.
    void setJournal(std::shared_ptr<Journal> journal) { m_journal = std::move(journal); }
    [[nodiscard]] Journal *journal() const { return m_journal.get(); }
    [[nodiscard]] const QString &readOnlyReason() const { return m_store.readOnlyReason(); }

    /// Saves and, when it is open, opens it again with the new settings.
    void save(const ConnectionProfile &profile, const QString &password);
    void remove(const QString &id);
    /// Opens a connection; `password` empty: TENURE_PASSWORD or the keyring.
    void open(const QString &id, const QString &password = {});
    void close(const QString &id);
    /// A connection of this run only. A URL that cannot be used becomes one that says why.
    QString openUrl(const QString &url);
    QString openDemo() { return openUrl(QStringLiteral("demo:")); }
    void openAtStart();

Q_SIGNALS:
    void profilesChanged();
    void sessionOpened(tenure::ui::Session *session);
    void sessionClosing(tenure::ui::Session *session); ///< still alive
    void problem(const QString &sentence);

private:
    void openWith(const ConnectionProfile &profile, const QString &password);
    void install(std::unique_ptr<Session> session);
    void keepJournal(Session &session);

    ProfileStore m_store;
    std::shared_ptr<Journal> m_journal; ///< nothing: nothing is kept (tests)
    std::unique_ptr<QTemporaryDir> m_simFolder;
    std::vector<ConnectionProfile> m_ofThisRun;
    std::map<QString, std::unique_ptr<Session>> m_sessions;
    std::map<QString, QString> m_passwords; ///< of this run, by connection; never written anywhere
};

/// "dev" and "prod-eu" from "redis://...": the host or file, for a connection nobody named.
[[nodiscard]] QString nameFromUrl(const QString &url);

} // namespace tenure::ui
