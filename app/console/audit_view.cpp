// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/audit_view.h"

#include "core/base/text.h"
#include "ui/dialogs/release_words.h"
#include "ui/theme/words.h"

#include <QHeaderView>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

QString shownText(const std::string &bytes)
{
    return QString::fromStdString(printable(bytes));
}

const char *verbText(OperatorVerb verb)
{
    switch (verb) {
    case OperatorVerb::Ask:
        return "ASK";
    case OperatorVerb::Hold:
        return "HOLD";
    case OperatorVerb::Clear:
        return "CLEAR";
    }
    return "";
}

std::array<QString, 6> rowOf(const Session &session, const AuditEntry &entry)
{
    if (entry.retry) {
        return {timeText(entry.at, SystemClock::instance().wall()), shownText(entry.by), session.profile().name,
            AuditView::tr("RETRY %1").arg(shownText(retryObject(*entry.retry))), shownText(entry.retry->reason),
            entry.retried ? shownText(retrySentence(*entry.retry, *entry.retried)) : AuditView::tr("intent")};
    }
    const Seen &seen = entry.plan.expected;
    return {timeText(entry.at, SystemClock::instance().wall()), shownText(entry.by), session.profile().name,
        QLatin1String(verbText(entry.plan.verb)) + QLatin1Char(' ') + shownText(entry.plan.lease.name())
            + QStringLiteral(", expecting %1/%2").arg(shownText(seen.holder)).arg(seen.token.value),
        shownText(entry.plan.reason),
        entry.outcome ? outcomeText(*entry.outcome, entry.plan) : AuditView::tr("intent")};
}

} // namespace

AuditView::AuditView(QWidget *parent) : QWidget(parent), m_table(new QTableWidget(0, 6))
{
    m_table->setObjectName(QStringLiteral("audit"));
    m_table->setAccessibleName(tr("Audit list"));
    m_table->setHorizontalHeaderLabels(
        {zoneText(), tr("Who"), tr("Connection"), tr("What"), tr("Why"), tr("Outcome")});
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    auto *all = new QVBoxLayout(this);
    all->setContentsMargins({});
    all->addWidget(m_table);
}

void AuditView::showAudit(const std::vector<Session *> &sessions)
{
    std::vector<std::pair<WallTime, std::array<QString, 6>>> rows;
    for (const Session *session : sessions) {
        for (const AuditEntry &entry : session->audit())
            rows.emplace_back(entry.at, rowOf(*session, entry));
    }
    std::stable_sort(rows.begin(), rows.end(),
        [](const auto &a, const auto &b) { return a.first > b.first; });
    m_table->setRowCount(static_cast<int>(rows.size()));
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < 6; ++column) {
            auto *item = new QTableWidgetItem(rows[row].second[column]);
            item->setToolTip(item->text());
            m_table->setItem(static_cast<int>(row), static_cast<int>(column), item);
        }
    }
    m_table->resizeColumnsToContents();
}

} // namespace tenure::ui
