// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/journal_page.h"

#include "core/journal/journal_export.h"
#include "ui/bridge/history.h"
#include "ui/bridge/mailbox.h"
#include "ui/bridge/retire.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/terms_panel.h"
#include "ui/views/timeline_panel.h"
#include "ui/views/walk_keys.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <fstream>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr std::size_t kMostLeases = 2000;
constexpr std::size_t kMostEvents = 1000;
enum Topic { LookTopic, EventsTopic };

QTreeWidget *makeTable(const char *name, const QString &says, QWidget *parent)
{
    auto *out = new QTreeWidget(parent);
    out->setObjectName(QLatin1String(name));
    out->setAccessibleName(says);
    out->setRootIsDecorated(false);
    out->setUniformRowHeights(true);
    out->setFrameShape(QFrame::NoFrame);
    walkWithJK(out);
    return out;
}

/// The lines of an export as a journal; the journal of a person is opened as it is.
bool isExport(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) && file.read(1) == "{";
}

} // namespace

JournalPage::JournalPage(const Theme &theme, const Clock &clock, QString path, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_path(std::move(path)), m_banner(new QLabel(this)),
      m_timeline(new TimelinePanel(theme, clock, this)), m_list(makeTable("journalLeases", tr("Leases of the journal"), this)),
      m_rows(makeTable("journalEvents", tr("Changes of the lease"), this)), m_right(new QSplitter(Qt::Vertical, this))
{
    setObjectName(QStringLiteral("journalPage"));
    const int unit = theme.unit();
    m_banner->setObjectName(QStringLiteral("journalBanner"));
    m_banner->setProperty("role", QStringLiteral("stale"));
    m_banner->setWordWrap(true);
    m_banner->setTextFormat(Qt::PlainText);
    m_banner->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_banner->setContentsMargins(2 * unit, unit, 2 * unit, unit);
    m_right->addWidget(m_rows);
    auto *halves = new QSplitter(this);
    halves->addWidget(m_list);
    halves->addWidget(m_right);
    halves->setStretchFactor(0, 2);
    halves->setStretchFactor(1, 3);
    auto *all = new QVBoxLayout(this);
    all->setContentsMargins({});
    all->setSpacing(unit);
    all->addWidget(m_banner);
    all->addWidget(m_timeline);
    all->addWidget(halves, 1);
    connect(m_list, &QTreeWidget::currentItemChanged, this, &JournalPage::chooseLease);
    connect(m_timeline, &TimelinePanel::told, this, &JournalPage::told);
    connect(m_timeline, &TimelinePanel::problem, this, &JournalPage::problem);
    connect(&theme, &Theme::changed, this, [this] {
        fillLeases();
        fillEvents();
    });
    showBanner(tr("Reading…"));
    if (isExport(m_path))
        import();
    else
        open(m_path);
}

void JournalPage::showBanner(const QString &more)
{
    m_banner->setText(tr("◌ NOT LIVE  %1 is a journal: it tells what was, nothing here is connected. %2").arg(QFileInfo(m_path).fileName(), more));
}

void JournalPage::import()
{
    m_folder = std::make_unique<QTemporaryDir>();
    const QString journal = m_folder->filePath(QStringLiteral("journal.db"));
    auto *holder = new QObject(this);
    auto mailbox = std::make_shared<Mailbox>(holder);
    connect(holder, &QObject::destroyed, [mailbox] { mailbox->close(); });
    retire([this, holder, slot = mailbox->slot(), from = m_path.toStdString(), journal] {
        std::ifstream lines(from, std::ios::binary);
        const auto imported = importLines(lines, journal.toStdString());
        const QString why = !imported ? QString::fromStdString(imported.error().text())
            : imported->taken == 0    ? tr("There is nothing in it that Tenure wrote.")
                                      : QString();
        Mailbox::postTo(slot, [this, holder, journal, why] {
            holder->deleteLater();
            if (why.isEmpty())
                open(journal);
            else
                showBanner(why);
        });
    });
}

Result<JournalPage::Found> JournalPage::look(JournalQuery &query)
{
    Found out;
    auto connections = query.connections();
    const auto leases = query.leases();
    const auto extent = query.extent();
    if (!connections || !leases || !extent)
        return fail(!connections ? connections.error() : !leases ? leases.error() : extent.error());
    out.connections = std::move(*connections);
    out.extent = *extent;
    out.notes = query.notes();
    out.left = leases->size() - std::min(leases->size(), kMostLeases);
    for (std::size_t i = 0; i < std::min(leases->size(), kMostLeases) && out.extent; ++i) {
        const LeaseKey &key = (*leases)[i];
        const auto summary = query.summary(key, *out.extent);
        if (!summary)
            return fail(summary.error());
        const auto known = std::find_if(out.connections.begin(), out.connections.end(),
            [&](const JournalConnection &one) { return one.id == key.connection; });
        out.leases.push_back({key, known == out.connections.end() ? shown(key.connection) : shown(known->name), *summary});
    }
    std::stable_sort(out.leases.begin(), out.leases.end(), [](const Lease &a, const Lease &b) {
        return std::pair(a.summary.leaderless, a.summary.transitions) > std::pair(b.summary.leaderless, b.summary.transitions);
    });
    return out;
}

void JournalPage::open(const QString &journal)
{
    m_history = new History(journal, this);
    connect(m_history, &History::problemChanged, this, [this] { showBanner(m_history->problem()); });
    m_history->ask(this, LookTopic, [this](JournalQuery &query) -> History::Answer {
        auto found = std::make_shared<Result<Found>>(look(query));
        return [this, found] {
            if (*found)
                present(**found);
            else
                showBanner(QString::fromStdString(found->error().text()));
        };
    });
}

void JournalPage::present(const Found &found)
{
    if (!found.extent) {
        showBanner(tr("There is nothing in it."));
        return;
    }
    m_extent = *found.extent;
    m_leases = found.leases;
    QString more = tr("From %1 to %2.").arg(stampText(m_extent.from, m_clock.wall()), stampText(m_extent.to, m_clock.wall()));
    if (found.left > 0)
        more += tr(" %1 more leases are not listed.").arg(found.left);
    for (const std::string &note : found.notes)
        more += QLatin1Char(' ') + text(note);
    showBanner(more);
    const auto local = [this](WallTime at) { return m_clock.now() - Duration(m_clock.wall() - at); };
    for (const JournalConnection &one : found.connections) {
        const QString id = QString::fromStdString(one.id);
        const bool sim = one.name.ends_with(" (SIM)");
        m_timeline->setConnection(id, shown(one.name), {}, m_clock.now());
        m_timeline->setHistory(id, m_history, one.id, sim ? Surroundings::Sim : Surroundings::Development);
    }
    m_timeline->strip().showRange({local(m_extent.from), local(m_extent.to)});
    fillLeases();
    m_list->setCurrentItem(m_list->topLevelItem(0));
    Q_EMIT loaded();
}

void JournalPage::fillLeases()
{
    const int current = m_list->indexOfTopLevelItem(m_list->currentItem());
    const QSignalBlocker same(m_list); // other words or colours are no other choice
    m_list->clear();
    m_list->setHeaderLabels({tr("Lease"), tr("Connection"), tr("Changes"), tr("No leader"), tr("Longest")});
    for (const Lease &lease : m_leases) {
        const bool silent = lease.summary.leaderless > Duration::zero();
        auto *item = new QTreeWidgetItem(m_list, {shown(lease.key.lease.name()), lease.connection, QString::number(lease.summary.transitions),
            silent ? text(lease.summary.leaderless) : QString(QChar(0x2013)), silent ? text(lease.summary.longestGap) : QString(QChar(0x2013))});
        item->setSizeHint(0, {0, m_theme.rowHeight()});
        for (const int column : {2, 3, 4})
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    constexpr int widths[]{0, 28, 22, 26, 22};
    for (int i = 1; i < 5; ++i)
        m_list->setColumnWidth(i, widths[i] * m_theme.unit());
    if (current >= 0)
        m_list->setCurrentItem(m_list->topLevelItem(current));
}

void JournalPage::chooseLease()
{
    const int row = m_list->indexOfTopLevelItem(m_list->currentItem());
    if (row < 0 || row >= static_cast<int>(m_leases.size()))
        return;
    const Lease lease = m_leases[static_cast<std::size_t>(row)];
    delete m_terms;
    ConnectionInfo info;
    info.name = lease.connection;
    info.where = lease.connection.endsWith(QStringLiteral(" (SIM)")) ? Surroundings::Sim : Surroundings::Development;
    m_terms = new TermsPanel(m_theme, m_clock, info, lease.key.lease, this);
    connect(m_terms, &TermsPanel::told, this, &JournalPage::told);
    connect(m_terms, &TermsPanel::problem, this, &JournalPage::problem);
    m_right->insertWidget(0, m_terms);
    m_terms->setHistory(m_history, lease.key.connection);
    const auto local = [this](WallTime at) { return m_clock.now() - Duration(m_clock.wall() - at); };
    m_terms->swimlane().showRange({local(m_extent.from), local(m_extent.to)});
    m_history->ask(this, EventsTopic, [this, key = lease.key](JournalQuery &query) -> History::Answer {
        JournalFilter filter;
        filter.connection = key.connection;
        filter.glob = key.lease.name();
        auto events = query.events(filter, 0, kMostEvents);
        if (!events)
            return {};
        std::erase_if(*events, [&](const JournalEvent &event) { return event.lease != key; });
        return [this, found = std::move(*events)] {
            m_events = found;
            fillEvents();
        };
    });
}

void JournalPage::fillEvents()
{
    m_rows->clear();
    m_rows->setHeaderLabels({tr("At (%1)").arg(zoneText()), tr("Change"), tr("From"), tr("To"), tr("Token"), tr("Gap"), tr("Why")});
    const WallTime today = m_clock.wall();
    const auto who = [](const std::string &holder) { return holder.empty() ? QString(QChar(0x2013)) : shown(holder); };
    for (const JournalEvent &event : m_events) {
        const QString why = zoned(shown(event.explanation), event.at) + (event.inBlindSpot ? tr(" (while nobody looked)") : QString());
        auto *item = new QTreeWidgetItem(m_rows, {timeText(event.at, today), text(std::string_view(transitionWord(event.kind))),
            who(event.oldHolder), who(event.newHolder), event.token ? QString::number(event.token.value) : QString(),
            event.gap ? text(*event.gap) : QString(), why});
        item->setSizeHint(0, {0, m_theme.rowHeight()});
        item->setToolTip(6, why);
    }
    constexpr int widths[]{36, 24, 32, 32, 20, 18, 60};
    for (int i = 0; i < 7; ++i)
        m_rows->setColumnWidth(i, widths[i] * m_theme.unit());
}

} // namespace tenure::ui
