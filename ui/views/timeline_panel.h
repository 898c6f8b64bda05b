// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/density_strip.h"
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

/// All leases over time, a row a connection, from the journal and this session, with the summary of
/// what is shown or selected.
class TimelinePanel final : public QWidget
{
    Q_OBJECT
public:
    TimelinePanel(const Theme &theme, const Clock &clock, QWidget *parent);
    void setConnection(const QString &id, const QString &name, std::vector<Instant> times, Instant since);
    /// Where a connection's past is (borrowed, may be null) and its id there.
    void setHistory(const QString &id, History *history, const std::string &journalId, Surroundings where);
    void removeConnection(const QString &id);
    [[nodiscard]] DensityStrip &strip() { return *m_strip; }
    [[nodiscard]] TimelineExport &exports() { return *m_export; }
    [[nodiscard]] QString summaryText() const;
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void told(const QString &sentence);
    void problem(const QString &sentence);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QPushButton *button(const char *name, const QString &text, const QString &tip);
    void ask();
    void showSummary();
    [[nodiscard]] TimeSpan chosen() const;
    [[nodiscard]] TimelineChoice choice() const; ///< what is exported

    const Theme &m_theme;
    const Clock &m_clock;
    struct Past {
        QString name;
        bool simulated = false;
        QPointer<History> history;
        std::string journalId;
        int topic = 0;
        WindowSummary known; ///< of `span`
        TimeSpan span;
    };
    void ask(const QString &id, Past &past);
    std::map<QString, Past> m_pasts;
    int m_lastTopic = 0;
    DensityStrip *m_strip;
    QLabel *m_summary;
    TimelineExport *m_export;
    QTimer m_askSoon, m_follow;
};

} // namespace tenure::ui
