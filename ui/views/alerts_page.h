// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "ui/views/rules_editor.h"

#include <QPointer>
#include <QWidget>

#include <map>
#include <set>

class QLabel;
class QTabWidget;
class QTreeWidget;

namespace tenure::ui
{

class History;

/// The rules of the alerts and what came of them: an editor with its preview, and the journal of
/// alerts with who acknowledged or shelved them, when and why.
class AlertsPage final : public QWidget
{
    Q_OBJECT
public:
    enum Tab { Rules, Past };
    AlertsPage(const Theme &theme, const Clock &clock, const RuleBook &book, QWidget *parent);
    /// One connection whose past is asked for (borrowed; null: it keeps none).
    void setSource(const QString &name, History *history, const std::string &journalId);
    void removeSource(const QString &name);
    void showTab(Tab tab);
    [[nodiscard]] RulesEditor &editor() { return *m_editor; }

Q_SIGNALS:
    void saved(const tenure::RuleBook &book);

protected:
    void showEvent(QShowEvent *event) override;

private:
    struct Source {
        QPointer<History> history;
        std::string journalId;
        int topic = 0;
        std::vector<JournalAlert> alerts;
        std::optional<RulePreview> preview;
    };
    void reload();
    void fillPast();
    void preview();
    void joinPreviews();

    const Theme &m_theme;
    const Clock &m_clock;
    RulesEditor *m_editor;
    QTabWidget *m_tabs;
    QTreeWidget *m_past;
    QLabel *m_empty;
    std::map<QString, Source> m_sources;
    int m_lastTopic = 0;
};

} // namespace tenure::ui
