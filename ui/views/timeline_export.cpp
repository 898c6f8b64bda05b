// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_export.h"

#include "core/base/time_text.h"
#include "core/journal/incident_report.h"
#include "core/journal/journal_export.h"
#include "ui/bridge/history.h"
#include "ui/bridge/save_file.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QBuffer>
#include <QFileDialog>
#include <QMenu>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

#include <algorithm>
#include <memory>

namespace tenure::ui
{
namespace
{

constexpr int kPictureScale = 2; ///< pixels of a PNG for one of the screen
constexpr int kPdfPerInch = 144;

/// Pictures that leave the console speak UTC, whatever the screen does.
class UtcMeanwhile
{
public:
    UtcMeanwhile() : m_before(timeShown()) { setTimeShown(TimeShown::Utc); }
    ~UtcMeanwhile() { setTimeShown(m_before); }
    UtcMeanwhile(const UtcMeanwhile &) = delete;
    UtcMeanwhile &operator=(const UtcMeanwhile &) = delete;

private:
    const TimeShown m_before;
};

Result<std::string> textOf(TimelineFormat format, JournalQuery &query, JournalFilter filter, TimeWindow window)
{
    filter.from = window.from;
    filter.to = window.to;
    std::string out;
    const char *end = format == TimelineFormat::Csv ? "\r\n" : "\n";
    const auto take = [&](const std::string &line) {
        out += line + end;
        return true;
    };
    if (format == TimelineFormat::Csv || format == TimelineFormat::JsonLines) {
        const auto told = format == TimelineFormat::Csv ? eachCsvLine(query, filter, take)
                                                        : eachJsonLine(query, filter, window, take);
        if (!told)
            return fail(told.error());
        return out;
    }
    const auto report = gatherIncident(query, filter, window);
    if (!report)
        return fail(report.error());
    return format == TimelineFormat::Markdown ? incidentMarkdown(*report) : incidentHtml(*report);
}

} // namespace

/// Answers of several journals on their way into one file.
struct TimelineExport::Collected {
    std::size_t missing = 0;
    std::vector<std::string> parts;
    QString problem;
};

QString suffixOf(TimelineFormat format)
{
    switch (format) {
    case TimelineFormat::Png:
        return QStringLiteral("png");
    case TimelineFormat::Svg:
        return QStringLiteral("svg");
    case TimelineFormat::Pdf:
        return QStringLiteral("pdf");
    case TimelineFormat::Csv:
        return QStringLiteral("csv");
    case TimelineFormat::JsonLines:
        return QStringLiteral("jsonl");
    case TimelineFormat::Markdown:
        return QStringLiteral("md");
    case TimelineFormat::Html:
        return QStringLiteral("html");
    }
    return {};
}

TimelineExport::TimelineExport(
    const Theme &theme, const Clock &clock, TimeAxis &axis, std::function<TimelineChoice()> choose, QWidget *parent)
    : QObject(parent), m_theme(theme), m_clock(clock), m_axis(axis), m_choose(std::move(choose)), m_menu(new QMenu(parent))
{
    m_menu->addSection(tr("Picture of what is shown"));
    addEntry(TimelineFormat::Png, tr("PNG…"));
    addEntry(TimelineFormat::Svg, tr("SVG…"));
    addEntry(TimelineFormat::Pdf, tr("PDF…"));
    m_menu->addSection(tr("Changes in the selection, or in what is shown"));
    addEntry(TimelineFormat::Csv, tr("CSV, for spreadsheets…"));
    addEntry(TimelineFormat::JsonLines, tr("JSON lines…"));
    m_menu->addSection(tr("Incident report of it"));
    addEntry(TimelineFormat::Html, tr("HTML…"));
    addEntry(TimelineFormat::Markdown, tr("Markdown…"));
}

void TimelineExport::addEntry(TimelineFormat format, const QString &entry)
{
    QAction *action = m_menu->addAction(entry);
    action->setObjectName(QStringLiteral("export_") + suffixOf(format));
    connect(action, &QAction::triggered, this, [this, format] { askPath(format); });
}

void TimelineExport::askPath(TimelineFormat format)
{
    auto *dialog = new QFileDialog(qobject_cast<QWidget *>(parent()), tr("Export"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffixOf(format));
    const bool report = format == TimelineFormat::Html || format == TimelineFormat::Markdown;
    dialog->selectFile((report ? QStringLiteral("incident.") : QStringLiteral("timeline.")) + suffixOf(format));
    connect(dialog, &QFileDialog::fileSelected, this, [this, format](const QString &path) { save(format, path); });
    dialog->open();
}

void TimelineExport::save(TimelineFormat format, const QString &path)
{
    const TimelineChoice choice = m_choose();
    if (format == TimelineFormat::Png || format == TimelineFormat::Svg || format == TimelineFormat::Pdf)
        write(path, picture(format, choice));
    else
        collect(format, path, choice);
}

void TimelineExport::paint(QPainter &painter, const QSize &size, const TimelineChoice &choice) const
{
    const Theme &theme = m_theme;
    const int head = size.height() - m_axis.height();
    painter.fillRect(QRect(QPoint(), size), theme.color(Token::Bg));
    const SwimWindow view = m_axis.window();
    QStringList titles;
    bool sim = false;
    for (const TimelineSubject &subject : choice.subjects) {
        titles << subject.title;
        sim = sim || subject.simulated;
    }
    const QRect line(2 * theme.unit(), 0, size.width() - 4 * theme.unit(), head);
    const QString when = text(rfc3339(wallOf(view.from, m_clock))) + QStringLiteral(" \u2013 ") + text(rfc3339(wallOf(view.until, m_clock)));
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(theme.color(Token::Muted));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, when);
    const int room = line.width() - painter.fontMetrics().horizontalAdvance(when) - 4 * theme.unit();
    painter.setFont(theme.font(FontRole::Strong));
    painter.setPen(theme.color(sim ? Token::Sim : Token::Text));
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText((sim ? QStringLiteral("\u25C7 SIM \u25C7  ") : QString()) + titles.join(QStringLiteral(", ")), Qt::ElideRight, room));
    const bool focused = m_axis.hasFocus(); // its ring is no part of the picture
    m_axis.clearFocus();
    m_axis.render(&painter, QPoint(0, head), QRegion(), QWidget::DrawChildren);
    if (focused)
        m_axis.setFocus();
}

QByteArray TimelineExport::picture(TimelineFormat format, const TimelineChoice &choice) const
{
    const UtcMeanwhile utc;
    const QSize size(m_axis.width(), m_axis.height() + m_theme.rowHeight());
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (format == TimelineFormat::Png) {
        QImage image(size * kPictureScale, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(kPictureScale);
        QPainter painter(&image);
        paint(painter, size, choice);
        painter.end();
        image.save(&buffer, "PNG");
    } else if (format == TimelineFormat::Svg) {
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setSize(size);
        svg.setViewBox(QRect(QPoint(), size));
        svg.setTitle(choice.subjects.empty() ? tr("Timeline") : choice.subjects.front().title);
        QPainter painter(&svg);
        paint(painter, size, choice);
    } else {
        QPdfWriter pdf(&buffer);
        pdf.setResolution(kPdfPerInch);
        pdf.setPageSize(QPageSize(QSizeF(size) * 0.5, QPageSize::Point, QString(), QPageSize::ExactMatch));
        pdf.setPageMargins(QMarginsF());
        pdf.setTitle(choice.subjects.empty() ? tr("Timeline") : choice.subjects.front().title);
        QPainter painter(&pdf);
        painter.scale(pdf.width() / static_cast<double>(size.width()), pdf.height() / static_cast<double>(size.height()));
        paint(painter, size, choice);
    }
    return bytes;
}

/// Those with a journal; for a report only one, and rather a real one than a simulated.
std::vector<TimelineSubject> TimelineExport::sourcesFor(TimelineFormat format, const TimelineChoice &choice)
{
    std::vector<TimelineSubject> out;
    for (const TimelineSubject &subject : choice.subjects) {
        if (subject.history != nullptr)
            out.push_back(subject);
    }
    std::stable_partition(out.begin(), out.end(), [](const TimelineSubject &one) { return !one.simulated; });
    const bool report = format == TimelineFormat::Html || format == TimelineFormat::Markdown;
    if (report && out.size() > 1)
        out.resize(1);
    return out;
}

void TimelineExport::collect(TimelineFormat format, const QString &path, const TimelineChoice &choice)
{
    const std::vector<TimelineSubject> sources = sourcesFor(format, choice);
    auto all = std::make_shared<Collected>();
    all->missing = sources.size();
    all->parts.resize(sources.size());
    if (sources.empty()) {
        Q_EMIT problem(tr("Without a journal there is nothing to export: changes are kept for this session only."));
        return;
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
        sources[i].history->ask(this, static_cast<int>(i),
            [this, all, i, format, path, filter = sources[i].filter, window = choice.window](JournalQuery &query) -> History::Answer {
                auto found = std::make_shared<Result<std::string>>(textOf(format, query, filter, window));
                return [this, all, i, format, path, found] {
                    if (*found)
                        all->parts[i] = std::move(**found);
                    else
                        all->problem = QString::fromStdString(found->error().text());
                    if (--all->missing > 0)
                        return;
                    if (!all->problem.isEmpty()) {
                        Q_EMIT problem(all->problem);
                        return;
                    }
                    QByteArray bytes;
                    for (std::string &part : all->parts) {
                        // One table has one head.
                        if (format == TimelineFormat::Csv && !bytes.isEmpty())
                            part.erase(0, part.find('\n') + 1);
                        bytes += QByteArray::fromStdString(part);
                    }
                    write(path, bytes);
                };
            });
    }
}

void TimelineExport::write(const QString &path, QByteArray bytes)
{
    saveFile(path, std::move(bytes), this, [this, path](const QString &why) {
        if (why.isEmpty())
            Q_EMIT told(tr("Exported to %1.").arg(path));
        else
            Q_EMIT problem(tr("%1 could not be written: %2").arg(path, why));
    });
}

} // namespace tenure::ui
