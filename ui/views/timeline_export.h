// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/journal_query.h"
#include "ui/charts/time_axis.h"

#include <QPointer>

#include <functional>
#include <vector>

class QMenu;

namespace tenure::ui
{

class History;

/// What of a timeline can leave the console.
enum class TimelineFormat { Png, Svg, Pdf, Csv, JsonLines, Markdown, Html };
[[nodiscard]] QString suffixOf(TimelineFormat format);

/// Whose past is exported.
struct TimelineSubject {
    QString title; ///< "prod-eu / billing/scheduler"
    bool simulated = false; ///< the word SIM goes with it
    QPointer<History> history; ///< may be null: nothing is journaled
    JournalFilter filter; ///< without its times
};
struct TimelineChoice {
    std::vector<TimelineSubject> subjects;
    TimeWindow window; ///< the selection, or what is shown
};

/// Exports of a timeline: pictures of what is shown, the changes of the chosen stretch as CSV and JSON
/// lines, and the report of an incident. Times are UTC with Z in all of them. Reads and writes beside
/// the GUI thread.
class TimelineExport final : public QObject
{
    Q_OBJECT
public:
    TimelineExport(const Theme &theme, const Clock &clock, TimeAxis &axis, std::function<TimelineChoice()> choose, QWidget *parent);
    /// With an entry for each format, which asks for a file.
    [[nodiscard]] QMenu *menu() { return m_menu; }
    void save(TimelineFormat format, const QString &path);

Q_SIGNALS:
    void told(const QString &sentence);
    void problem(const QString &sentence);

private:
    struct Collected;
    void addEntry(TimelineFormat format, const QString &text);
    void askPath(TimelineFormat format);
    [[nodiscard]] static std::vector<TimelineSubject> sourcesFor(TimelineFormat format, const TimelineChoice &choice);
    [[nodiscard]] QByteArray picture(TimelineFormat format, const TimelineChoice &choice) const;
    void paint(QPainter &painter, const QSize &size, const TimelineChoice &choice) const;
    void collect(TimelineFormat format, const QString &path, const TimelineChoice &choice);
    void write(const QString &path, QByteArray bytes);

    const Theme &m_theme;
    const Clock &m_clock;
    TimeAxis &m_axis;
    const std::function<TimelineChoice()> m_choose;
    QMenu *m_menu;
};

} // namespace tenure::ui
