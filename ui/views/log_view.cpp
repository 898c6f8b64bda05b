// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/log_view.h"

#include "core/base/time_text.h"
#include "ui/theme/theme.h"
#include "ui/views/walk_keys.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{

LogView::LogView(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_model(new LogModel(clock, this)), m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("logView"));
    const int unit = theme.unit();
    m_table->setObjectName(QStringLiteral("logTable"));
    m_table->setAccessibleName(tr("Log"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    useFont(m_table->horizontalHeader(), theme, FontRole::Small);
    walkWithJK(m_table);
    auto *level = new QComboBox(this);
    level->setObjectName(QStringLiteral("logLevel"));
    level->setAccessibleName(tr("Least level"));
    level->addItems({tr("Everything"), tr("Warnings and errors"), tr("Errors")});
    auto *copyRows = new QPushButton(tr("Copy"), this);
    copyRows->setObjectName(QStringLiteral("logCopy"));
    copyRows->setToolTip(tr("The selected entries, or all that are listed"));
    auto *diagnostics = new QPushButton(tr("Save diagnostics…"), this);
    diagnostics->setObjectName(QStringLiteral("logDiagnostics"));
    diagnostics->setToolTip(tr("Version, settings, connections and this log as a text file, secrets removed"));
    auto *row = new QHBoxLayout;
    row->setContentsMargins(3 * unit, unit, 3 * unit, unit);
    row->setSpacing(2 * unit);
    row->addWidget(level);
    row->addStretch(1);
    row->addWidget(copyRows);
    row->addWidget(diagnostics);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins({});
    column->setSpacing(0);
    column->addLayout(row);
    column->addWidget(m_table, 1);
    connect(level, &QComboBox::activated, this, [this](int index) { m_model->setLeast(static_cast<LogLevel>(index)); });
    connect(copyRows, &QPushButton::clicked, this, &LogView::copy);
    connect(diagnostics, &QPushButton::clicked, this, &LogView::diagnosticsAsked);
    connect(&theme, &Theme::changed, this, &LogView::fit);
    fit();
}

void LogView::fit()
{
    const int unit = m_theme.unit();
    m_table->setColumnWidth(0, (timeShown() == TimeShown::Both ? 52 : 31) * unit);
    m_table->setColumnWidth(1, 18 * unit);
    m_table->setColumnWidth(2, 32 * unit);
    m_table->verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
    m_table->viewport()->update();
}

void LogView::copy()
{
    std::vector<int> rows;
    for (const QModelIndex &index : m_table->selectionModel()->selectedRows())
        rows.push_back(index.row());
    for (int i = 0; rows.empty() && i < m_model->rowCount(); ++i)
        rows.push_back(i);
    std::sort(rows.rbegin(), rows.rend()); // oldest first
    QStringList lines;
    for (const int row : rows) {
        const LogModel::Entry &entry = m_model->entry(row);
        lines << QStringLiteral("%1 %2 %3  %4").arg(text(rfc3339(entry.at)), word(entry.level), entry.connection, entry.text);
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

} // namespace tenure::ui
