// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/lease_source.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QGridLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;

namespace tenure::ui
{

class BackendEvents;
class Card;
class EnvironmentBand;
class EventsView;
class FreshnessChip;
class HealthPanel;
class HeartbeatStrip;
class PlaceCard;
class History;
class RightsLine;
class TermsPanel;
class Theme;
class TtlRing;

/// Everything that is known of one lease (UX.md section 5). The source is borrowed: call detach()
/// before it dies, or destroy the page first.
class LeasePage final : public QWidget
{
    Q_OBJECT
public:
    LeasePage(const Theme &theme, const Clock &clock, LeaseSource *source, LeaseId lease, QWidget *parent);
    void detach();
    [[nodiscard]] const LeaseId &lease() const { return m_lease; }
    [[nodiscard]] QString connectionId() const { return m_connection.id; }
    /// Why nothing may be released now, as a sentence; empty: it may.
    [[nodiscard]] QString whyNoRelease() const;
    void refresh();
    /// What was before this session (borrowed); `journalId` is the connection's id in the journal.
    void setHistory(History *history, const std::string &journalId);

Q_SIGNALS:
    void releaseRequested(const QString &connectionId, const tenure::LeaseId &lease);
    void pinAsked(const QString &connectionName, const QByteArray &lease);
    void problem(const QString &sentence);
    void told(const QString &sentence); ///< something went well

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QWidget *makeHeader();
    QWidget *makeCards();
    void makeDetails(QVBoxLayout &column);
    void makeCopyMenu();
    void makeKeys();
    void copy(int format);
    [[nodiscard]] QString restartText(const LeaseStatus &status);
    void addFact(QGridLayout &grid, int row, const QString &name, QLabel *&value, const QString &objectName);
    void fill(const LeaseStatus &status);
    void showAside();

    const Theme &m_theme;
    const Clock &m_clock;
    LeaseSource *m_source;
    ConnectionInfo m_connection;
    LeaseId m_lease;
    QTimer m_timer; ///< ages in the text
    std::string m_epoch; ///< of the backend when it was looked at last
    std::optional<Instant> m_restarted; ///< since when it has another one
    EnvironmentBand *m_band = nullptr;
    FreshnessChip *m_freshness = nullptr;
    QLabel *m_title = nullptr, *m_state = nullptr, *m_explanation = nullptr;
    QPushButton *m_raw = nullptr, *m_copy = nullptr, *m_release = nullptr;
    QLabel *m_holder = nullptr, *m_since = nullptr, *m_safety = nullptr, *m_renewDue = nullptr;
    QLabel *m_term = nullptr, *m_changes = nullptr, *m_claim = nullptr, *m_timing = nullptr, *m_kind = nullptr;
    QLabel *m_candidates = nullptr, *m_beats = nullptr, *m_note = nullptr;
    QPlainTextEdit *m_rawText = nullptr;
    Card *m_rawCard = nullptr, *m_candidatesCard = nullptr;
    PlaceCard *m_place = nullptr;
    RightsLine *m_rights = nullptr;
    BackendEvents *m_backendEvents = nullptr;
    TtlRing *m_ring = nullptr;
    HeartbeatStrip *m_heartbeat = nullptr;
    TermsPanel *m_terms = nullptr;
    HealthPanel *m_health = nullptr;
    EventsView *m_events = nullptr;
    QWidget *m_content = nullptr;
};

} // namespace tenure::ui
