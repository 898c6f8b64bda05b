// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/swimlane.h"
#include "ui/models/lease_source.h"
#include "ui/views/timeline_export.h"

#include <QPointer>
#include <QTimer>
#include <QWidget>

class QLabel;
class QPushButton;

namespace tenure::ui
{

class History;

/// The terms of one lease over time with what one does with them: how much is shown, the summary of
/// the view or of a selection, and its export. Shows this session alone until it is given a journal.
class TermsPanel final : public QWidget
{
    Q_OBJECT
public:
    TermsPanel(const Theme &theme, const Clock &clock, ConnectionInfo connection, LeaseId lease, QWidget *parent);
    void setLease(const LeaseStatus &status);
    /// Borrowed; `journalId` is the connection's id in it.
    void setHistory(History *history, const std::string &journalId);
    [[nodiscard]] Swimlane &swimlane() { return *m_lane; }
    [[nodiscard]] TimelineExport &exports() { return *m_export; }
    [[nodiscard]] QString summaryText() const;

Q_SIGNALS:
    void problem(const QString &sentence);
    void told(const QString &sentence);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QPushButton *button(const char *name, const QString &text, const QString &tip);
    void ask();
    void askSummary();
    void showSummary();
    void copySummary();
    [[nodiscard]] TimelineChoice choice() const; ///< what is exported
    [[nodiscard]] TimeSpan chosen() const; ///< the selection, or else the view
    [[nodiscard]] TimeWindow wallWindow(TimeSpan span) const;

    const Theme &m_theme;
    const Clock &m_clock;
    ConnectionInfo m_connection;
    LeaseId m_lease;
    std::string m_journalId;
    QPointer<History> m_history;
    Swimlane *m_lane;
    QLabel *m_summary;
    TimelineExport *m_export;
    QTimer m_askSoon, m_follow;
    std::optional<WindowSummary> m_known; ///< the journal's, of m_knownSpan
    TimeSpan m_knownSpan;
};

} // namespace tenure::ui
