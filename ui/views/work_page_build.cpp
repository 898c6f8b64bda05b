// SPDX-License-Identifier: GPL-3.0-or-later
// How the work page is put together.
#include "ui/bridge/session.h"
#include "ui/charts/freshness_chip.h"
#include "ui/models/work_model.h"
#include "ui/theme/theme.h"
#include "ui/views/count_tile.h"
#include "ui/views/walk_keys.h"
#include "ui/views/work_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>

namespace tenure::ui
{

void WorkPage::build()
{
    auto *all = new QVBoxLayout(this);
    const int unit = m_theme.unit();
    all->setContentsMargins(3 * unit, 3 * unit, 3 * unit, 3 * unit);
    all->setSpacing(3 * unit);
    m_trouble = new QLabel(this);
    m_trouble->setObjectName(QStringLiteral("workTrouble"));
    m_trouble->setWordWrap(true);
    m_trouble->setProperty("role", QStringLiteral("stale"));
    m_pages = new QStackedWidget(this);
    buildTable();
    m_pages->addWidget(m_table);
    m_pages->addWidget(buildMessage());
    all->addWidget(buildHead());
    all->addWidget(buildTiles());
    all->addWidget(m_trouble);
    all->addWidget(m_pages, 1);
    all->addWidget(buildFoot());
    setFocusProxy(m_table);
}

QPushButton *WorkPage::button(const char *name, const QString &text, const QString &tip)
{
    auto *out = new QPushButton(text, this);
    out->setObjectName(QLatin1String(name));
    out->setToolTip(tip);
    return out;
}

QWidget *WorkPage::buildHead()
{
    auto *head = new QWidget(this);
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins({});
    row->setSpacing(2 * m_theme.unit());
    auto *title = new QLabel(tr("Work queue"), head);
    useFont(title, m_theme, FontRole::Title);
    m_queue = new QComboBox(head);
    m_queue->setObjectName(QStringLiteral("workQueue"));
    m_queue->setAccessibleName(tr("Queue"));
    m_queue->setToolTip(tr("The queues of this store"));
    m_queue->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_queue->setMinimumWidth(40 * m_theme.unit());
    m_queue->hide();
    connect(m_queue, &QComboBox::currentIndexChanged, this,
        [this] { showQueue(m_queue->currentData().toByteArray().toStdString()); });
    auto *where = new QLabel(tr("in %1").arg(m_session.profile().name), head);
    where->setProperty("role", QStringLiteral("caption"));
    m_chip = new FreshnessChip(m_theme, m_clock, head);
    auto *lessons = button("workLessons", tr("What goes wrong without (SIM)"), tr("The same job and the same pause, simulated side by side"));
    auto *menu = new QMenu(lessons);
    const auto lesson = [&](const QString &text, const QString &scenario) {
        connect(menu->addAction(text), &QAction::triggered, this, [this, scenario] { Q_EMIT demonstrationRequested(scenario); });
    };
    lesson(tr("The nightly job: without election it runs three times, with election once"), QStringLiteral("W1"));
    lesson(tr("A pause: without fencing items are done twice, with fencing none"), QStringLiteral("W2"));
    lessons->setMenu(menu);
    for (QWidget *one : std::initializer_list<QWidget *>{title, m_queue, where})
        row->addWidget(one);
    row->addStretch();
    row->addWidget(m_chip);
    row->addWidget(lessons);
    return head;
}

QWidget *WorkPage::buildTiles()
{
    auto *band = new QWidget(this);
    auto *row = new QHBoxLayout(band);
    row->setContentsMargins({});
    row->setSpacing(2 * m_theme.unit());
    struct Shown {
        const char *name;
        QString caption;
        Token ink;
    };
    const std::array<Shown, kViews> shown{{{"tilePending", tr("PENDING"), Token::Text},
        {"tileProcessing", tr("PROCESSING"), Token::Text}, {"tileLate", tr("\u25B2 LATE"), Token::Warn},
        {"tileCompleted", tr("COMPLETED"), Token::Text}, {"tileDead", tr("\u2716 DEAD LETTERS"), Token::Crit}}};
    for (std::size_t i = 0; i < kViews; ++i) {
        m_tiles[i] = new CountTile(m_theme, shown[i].caption, shown[i].ink, band);
        m_tiles[i]->setObjectName(QLatin1String(shown[i].name));
        connect(m_tiles[i], &QAbstractButton::clicked, this, [this, i] { showView(static_cast<WorkView>(i)); });
        row->addWidget(m_tiles[i], 1);
    }
    return band;
}

void WorkPage::buildTable()
{
    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("workItems"));
    m_table->setAccessibleName(tr("Items"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    QHeaderView *header = m_table->horizontalHeader();
    header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    header->setHighlightSections(false);
    header->setStretchLastSection(true);
    useFont(header, m_theme, FontRole::Small);
    walkWithJK(m_table);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &WorkPage::showRetry);
}

QWidget *WorkPage::buildMessage()
{
    auto *page = new QWidget(this);
    auto *column = new QVBoxLayout(page);
    column->setSpacing(2 * m_theme.unit());
    m_title = new QLabel(page);
    m_title->setObjectName(QStringLiteral("workMessage"));
    useFont(m_title, m_theme, FontRole::Strong);
    m_text = new QLabel(page);
    m_text->setObjectName(QStringLiteral("workMessageText"));
    m_text->setProperty("role", QStringLiteral("caption"));
    m_command = new QLabel(page);
    m_command->setObjectName(QStringLiteral("workCommand"));
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    useFont(m_command, m_theme, FontRole::Mono);
    for (QLabel *label : {m_title, m_text, m_command}) {
        label->setTextFormat(Qt::PlainText);
        label->setAlignment(Qt::AlignCenter);
        label->setWordWrap(true);
    }
    m_copy = button("workCopy", tr("Copy the command"), {});
    connect(m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
    column->addStretch(1);
    for (QLabel *label : {m_title, m_text, m_command})
        column->addWidget(label);
    column->addWidget(m_copy, 0, Qt::AlignHCenter);
    column->addStretch(2);
    return page;
}

QWidget *WorkPage::buildFoot()
{
    auto *foot = new QWidget(this);
    auto *row = new QHBoxLayout(foot);
    row->setContentsMargins({});
    row->setSpacing(2 * m_theme.unit());
    m_note = new QLabel(foot);
    m_note->setObjectName(QStringLiteral("workNote"));
    m_note->setProperty("role", QStringLiteral("caption"));
    m_readOnly = new QLabel(foot);
    m_readOnly->setObjectName(QStringLiteral("workReadOnly"));
    m_readOnly->setProperty("role", QStringLiteral("caption"));
    m_first = button("workFirst", tr("First page"), {});
    m_next = button("workNext", tr("Next page"), {});
    m_retry = button("workRetry", {}, {});
    m_retryAll = button("workRetryAll", {}, {});
    connect(m_first, &QPushButton::clicked, this, [this] { turnTo(0); });
    connect(m_next, &QPushButton::clicked, this, [this] {
        if (const WorkLook *look = answer(); look != nullptr && look->nextAfter != 0)
            turnTo(look->nextAfter);
    });
    connect(m_retry, &QPushButton::clicked, this, [this] {
        if (const std::int64_t id = selectedId(); id != 0)
            askRetry(id);
    });
    connect(m_retryAll, &QPushButton::clicked, this, [this] { askRetry(0); });
    row->addWidget(m_note);
    row->addStretch();
    for (QWidget *one : std::initializer_list<QWidget *>{m_readOnly, m_first, m_next, m_retry, m_retryAll})
        row->addWidget(one);
    return foot;
}

void WorkPage::fit()
{
    constexpr std::array<int, static_cast<std::size_t>(WorkColumn::Count_)> units{20, 46, 22, 44, 24, 36, 64, 28, 40, 40};
    for (std::size_t i = 0; i < units.size(); ++i)
        m_table->setColumnWidth(static_cast<int>(i), units[i] * m_theme.unit());
    m_table->verticalHeader()->setDefaultSectionSize(m_theme.rowHeight());
    m_table->viewport()->update();
}

} // namespace tenure::ui
