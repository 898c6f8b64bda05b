// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/renewal_points.h"

#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>
#include <QWidget>

class QGridLayout;
class QLabel;

namespace tenure::ui
{

class History;
class LatencyChart;
class Theme;

/// How a lease does: time between renewals with percentiles, headroom, missed renewals, how long
/// leaders stayed, and the timing judged in a sentence.
class HealthPanel final : public QWidget
{
    Q_OBJECT
public:
    HealthPanel(const Theme &theme, const Clock &clock, LeaseId lease, QWidget *parent);
    void setLease(const LeaseStatus &status);
    /// The last 24 hours of renewals from the journal (borrowed) join those of this session.
    void setHistory(History *history, const std::string &journalId);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void addFact(QGridLayout &grid, const QString &name, QLabel *&value, const char *objectName);
    void ask();
    void draw();
    void showVerdicts(const LeaseStatus &status);

    const Theme &m_theme;
    const Clock &m_clock;
    LeaseId m_lease;
    std::string m_journalId;
    QPointer<History> m_history;
    LeaseStatus m_status;
    std::vector<RenewalPoint> m_past; ///< from the journal, oldest first
    QVBoxLayout *m_advice;
    std::vector<QLabel *> m_verdicts;
    QLabel *m_intervals = nullptr, *m_delays = nullptr, *m_headroom = nullptr, *m_missed = nullptr;
    QLabel *m_tenures = nullptr, *m_gaps = nullptr, *m_caption = nullptr;
    LatencyChart *m_chart;
    QTimer m_drawTimer, m_askTimer;
};

} // namespace tenure::ui
