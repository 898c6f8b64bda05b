// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"

#include <QTemporaryDir>
#include <QWidget>

#include <memory>
#include <vector>

class QLabel;
class QSplitter;
class QTreeWidget;
class QVBoxLayout;

namespace tenure::ui
{

class History;
class TermsPanel;
class Theme;
class TimelinePanel;

/// A journal to look at: somebody else's, or an export of one (JSON lines). Nothing in it is live, and
/// the page says so; nothing is written to it, and it mixes with nothing of one's own.
class JournalPage final : public QWidget
{
    Q_OBJECT
public:
    JournalPage(const Theme &theme, const Clock &clock, QString path, QWidget *parent);
    [[nodiscard]] const QString &path() const { return m_path; }
    [[nodiscard]] TimelinePanel &timeline() { return *m_timeline; }
    /// Of the lease that is chosen; null when there is none.
    [[nodiscard]] TermsPanel *terms() { return m_terms; }

Q_SIGNALS:
    void problem(const QString &sentence);
    void told(const QString &sentence);
    void loaded(); ///< its leases are listed

private:
    struct Lease {
        LeaseKey key;
        QString connection;
        WindowSummary summary;
    };
    /// What was found in the file.
    struct Found {
        std::vector<JournalConnection> connections;
        std::vector<Lease> leases;
        std::optional<TimeWindow> extent;
        std::vector<std::string> notes;
        std::size_t left = 0; ///< leases that are not listed
    };
    void import();
    void open(const QString &journal);
    void present(const Found &found);
    void fillLeases();
    void fillEvents();
    void chooseLease();
    void showBanner(const QString &more);
    [[nodiscard]] static Result<Found> look(JournalQuery &query);

    const Theme &m_theme;
    const Clock &m_clock;
    const QString m_path;
    std::unique_ptr<QTemporaryDir> m_folder; ///< of what was imported
    History *m_history = nullptr;
    TimeWindow m_extent{};
    std::vector<Lease> m_leases; ///< the worst first
    std::vector<JournalEvent> m_events; ///< of the chosen lease
    QLabel *m_banner;
    TimelinePanel *m_timeline;
    QTreeWidget *m_list, *m_rows;
    QSplitter *m_right;
    TermsPanel *m_terms = nullptr;
};

} // namespace tenure::ui
