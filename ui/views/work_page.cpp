// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/work_page.h"

#include "core/base/text.h"
#include "ui/bridge/session.h"
#include "ui/charts/freshness_chip.h"
#include "ui/models/work_model.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/count_tile.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

/// A second once the store is believed to be lost is not more exact than this.
constexpr auto kTick = 500ms;

QString noteOf(WorkView view, const QueueCounts &counts)
{
    switch (view) {
    case WorkView::Pending: {
        QStringList parts;
        if (counts.oldestPending)
            parts << WorkPage::tr("oldest put in %1 ago").arg(text(*counts.oldestPending));
        if (counts.delayed > 0)
            parts << WorkPage::tr("%1 more later").arg(counts.delayed);
        return parts.join(QStringLiteral(", "));
    }
    case WorkView::Processing:
        return counts.fence ? WorkPage::tr("newest leader's token %1").arg(counts.fence.value) : QString();
    case WorkView::Late:
        return counts.late > 0 ? WorkPage::tr("claims ran out, free to take") : QString();
    case WorkView::Completed:
        return {};
    case WorkView::Dead:
        return counts.dead > 0 ? WorkPage::tr("waiting for a person") : QString();
    }
    return {};
}

/// As one line, whatever the server made of it.
QString sentence(const Error &error)
{
    return shown(text(error.text()).simplified().toStdString());
}

std::uint64_t countOf(WorkView view, const QueueCounts &counts)
{
    switch (view) {
    case WorkView::Pending:
        return counts.pending;
    case WorkView::Processing:
        return counts.processing;
    case WorkView::Late:
        return counts.late;
    case WorkView::Completed:
        return counts.completed;
    case WorkView::Dead:
        break;
    }
    return counts.dead;
}

} // namespace

WorkPage::WorkPage(const Theme &theme, const Clock &clock, Session &session, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_session(session),
      m_feed(new WorkFeed(session.storeUri().value_or(StoreUri()), this)), m_model(new WorkModel(theme, clock, this))
{
    setObjectName(QStringLiteral("workPage"));
    build();
    connect(m_feed, &WorkFeed::looked, this, &WorkPage::follow);
    connect(&m_timer, &QTimer::timeout, this, &WorkPage::refresh);
    connect(&m_session, &Session::operatorChanged, this, &WorkPage::showRetry);
    connect(&m_session, &Session::retryDone, m_feed, &WorkFeed::lookNow);
    connect(&m_session, &Session::linkChanged, this, &WorkPage::holdStill);
    connect(&theme, &Theme::changed, this, &WorkPage::fit);
    showView(WorkView::Pending);
    fit();
    follow();
}

bool WorkPage::isFresh() const
{
    return tenure::isFresh(linkStateAt(m_feed->link(), m_clock.now()));
}

void WorkPage::showQueue(const std::string &queue)
{
    if (queue == m_feed->wish().queue)
        return;
    WorkWish wish = m_feed->wish();
    wish.queue = queue;
    wish.afterId = 0;
    m_feed->setWish(wish);
    forget();
}

void WorkPage::showView(WorkView view)
{
    m_tiles[static_cast<std::size_t>(view)]->setChecked(true);
    WorkWish wish = m_feed->wish();
    if (wish.view != view) {
        wish.view = view;
        wish.afterId = 0;
        m_feed->setWish(wish);
        forget();
    }
    const bool claimed = view == WorkView::Processing || view == WorkView::Late;
    const auto show = [this](WorkColumn column, bool shown) { m_table->setColumnHidden(static_cast<int>(column), !shown); };
    show(WorkColumn::When, claimed || view == WorkView::Pending);
    show(WorkColumn::Worker, view != WorkView::Pending);
    show(WorkColumn::Token, view != WorkView::Pending);
    show(WorkColumn::Fence, claimed);
    show(WorkColumn::Reason, view == WorkView::Dead || view == WorkView::Pending);
    showRetry();
}

void WorkPage::turnTo(std::int64_t afterId)
{
    WorkWish wish = m_feed->wish();
    wish.afterId = afterId;
    m_feed->setWish(wish);
    forget();
}

/// What stood there answers another question than the one that was just asked.
void WorkPage::forget()
{
    m_model->setItems({}, m_clock.now());
    refresh();
}

/// The look that answers what is wanted now; nothing while it is under way.
const WorkLook *WorkPage::answer() const
{
    const std::optional<WorkLook> &look = m_feed->look();
    const WorkWish &wish = m_feed->wish();
    const bool fits = look && look->wish.view == wish.view && look->wish.afterId == wish.afterId
        && (wish.queue.empty() || wish.queue == look->wish.queue);
    return fits ? &*look : nullptr;
}

void WorkPage::follow()
{
    if (const WorkLook *look = answer())
        m_model->setItems(look->problem ? std::vector<ItemView>() : look->items, look->at);
    showQueues();
    refresh();
}

void WorkPage::refresh()
{
    LinkStatus link = m_feed->link();
    link.paused = m_session.isFrozen();
    m_chip->setLink(link);
    m_model->setFresh(isFresh());
    m_model->tick();
    const bool lost = answer() != nullptr && link.error && !link.connected;
    m_trouble->setText(lost ? tr("What stands here is old: %1").arg(sentence(*link.error)) : QString());
    m_trouble->setVisible(lost);
    showCounts();
    showMessage();
    showPages();
    showRetry();
}

void WorkPage::showQueues()
{
    const std::optional<WorkLook> &look = m_feed->look();
    if (!look)
        return;
    std::vector<std::string> names = look->queues;
    const std::string &chosen = look->wish.queue;
    if (!chosen.empty() && std::find(names.begin(), names.end(), chosen) == names.end())
        names.push_back(chosen); // it is gone, and that is what the page then says
    const QSignalBlocker quiet(m_queue);
    bool same = m_queue->count() == static_cast<int>(names.size());
    for (int i = 0; same && i < m_queue->count(); ++i)
        same = m_queue->itemData(i).toByteArray().toStdString() == names[static_cast<std::size_t>(i)];
    if (!same) {
        m_queue->clear();
        for (const std::string &name : names)
            m_queue->addItem(shown(name), QByteArray::fromStdString(name));
    }
    m_queue->setCurrentIndex(m_queue->findData(QByteArray::fromStdString(m_feed->wish().queue.empty() ? chosen : m_feed->wish().queue)));
    m_queue->setVisible(!names.empty());
}

void WorkPage::showCounts()
{
    const std::optional<WorkLook> &look = m_feed->look();
    const bool known = look && !look->problem && (m_feed->wish().queue.empty() || m_feed->wish().queue == look->wish.queue);
    for (std::size_t i = 0; i < kViews; ++i) {
        const auto view = static_cast<WorkView>(i);
        m_tiles[i]->setStale(known && !isFresh());
        if (known)
            m_tiles[i]->setCount(countOf(view, look->counts), isFresh() ? noteOf(view, look->counts) : QString());
        else
            m_tiles[i]->setUnknown();
    }
}

WorkPage::Message WorkPage::message() const
{
    const LinkStatus &link = m_feed->link();
    const WorkLook *look = answer();
    if (look == nullptr && link.error && !link.connected) {
        const bool denied = linkStateAt(link, m_clock.now()) == LinkState::Denied;
        return {denied ? tr("Not allowed to look") : tr("The store does not answer"), sentence(*link.error), {}};
    }
    if (look == nullptr)
        return {tr("Looking\u2026"), m_feed->look() ? QString() : tr("The store has not answered yet."), {}};
    if (look->problem) {
        const Error &error = *look->problem;
        if (error.kind == ErrorKind::NotFound && look->queues.empty()) {
            const QString url = text(std::string_view(shellQuoted(m_session.profile().url.toStdString())));
            return {tr("No queue here yet"), tr("Looking makes none. One is made when a service puts its first item in, or by this command:"),
                QStringLiteral("tenurectl work init %1 QUEUE").arg(url)};
        }
        if (error.kind == ErrorKind::NotFound)
            return {tr("This queue is gone"), sentence(error), {}};
        return {error.kind == ErrorKind::Unsupported ? tr("This queue needs a newer Tenure") : tr("The queues cannot be read"),
            sentence(error), {}};
    }
    if (!look->items.empty())
        return {};
    switch (look->wish.view) {
    case WorkView::Pending:
        return {tr("Nothing waits to be done"), {}, {}};
    case WorkView::Processing:
        return {tr("No worker has anything in hand"), {}, {}};
    case WorkView::Late:
        return {tr("Nothing is late"), tr("A claim that runs out stands here until another worker takes the item."), {}};
    case WorkView::Completed:
        return {tr("Nothing was completed yet"), {}, {}};
    case WorkView::Dead:
        break;
    }
    return {tr("No dead letters"), tr("An item that failed as often as it may stands here and waits for a person."), {}};
}

void WorkPage::showMessage()
{
    const Message shownNow = message();
    m_pages->setCurrentIndex(shownNow.title.isEmpty() ? 0 : 1);
    m_title->setText(shownNow.title);
    m_text->setText(shownNow.text);
    m_text->setVisible(!shownNow.text.isEmpty());
    m_command->setText(shownNow.command);
    m_command->setVisible(!shownNow.command.isEmpty());
    m_copy->setVisible(!shownNow.command.isEmpty());
}

void WorkPage::showPages()
{
    const WorkLook *look = answer();
    const std::int64_t after = m_feed->wish().afterId;
    m_first->setVisible(after != 0);
    m_next->setVisible(look != nullptr && look->nextAfter != 0);
    QString note;
    if (look != nullptr && !look->items.empty()) {
        const bool falling = newestFirst(look->items.front().state);
        note = look->items.size() == 1 ? tr("1 item")
            : falling                  ? tr("%1 items, those put in last first").arg(look->items.size())
                                       : tr("%1 items, in the order in which they were put in").arg(look->items.size());
        if (after != 0 || look->nextAfter != 0)
            note += tr(", from item %1 on").arg(look->items.front().id);
    }
    m_note->setText(note);
}

std::int64_t WorkPage::selectedId() const
{
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    return rows.isEmpty() ? 0 : rows.front().data(Qt::UserRole).toLongLong();
}

QString WorkPage::whyNoRetry() const
{
    const OperatorGate *gate = m_session.gate();
    if (gate == nullptr)
        return tr("Disabled: this connection cannot be written to.");
    if (!isFresh())
        return tr("Disabled: what stands here is old.");
    if (m_feed->look()->counts.dead == 0 || m_feed->look()->problem)
        return tr("Disabled: there is no dead letter.");
    if (!gate->operatorTimeLeft())
        return tr("Read-only. Switch %1 to operator mode first.").arg(m_session.profile().name);
    return {};
}

void WorkPage::showRetry()
{
    const bool dead = view() == WorkView::Dead;
    const QString why = m_feed->look() ? whyNoRetry() : tr("Disabled: the store has not answered yet.");
    const std::int64_t id = selectedId();
    m_retry->setVisible(dead);
    m_retryAll->setVisible(dead);
    m_retry->setText(id == 0 ? tr("Retry\u2026") : tr("Retry item %1\u2026").arg(id));
    m_retry->setEnabled(why.isEmpty() && id != 0);
    m_retry->setToolTip(!why.isEmpty() ? why : id == 0 ? tr("Choose a dead letter first.") : tr("It becomes pending again, with fresh attempts."));
    const std::uint64_t all = m_feed->look() ? m_feed->look()->counts.dead : 0;
    m_retryAll->setText(all > 0 ? tr("Retry all %1\u2026").arg(all) : tr("Retry all\u2026"));
    m_retryAll->setEnabled(why.isEmpty());
    m_retryAll->setToolTip(why.isEmpty() ? tr("Every dead letter becomes pending again, with fresh attempts.") : why);
    m_readOnly->setText(dead && !why.isEmpty() && m_pages->currentIndex() == 0 ? why : QString());
}

void WorkPage::askRetry(std::int64_t id)
{
    if (!m_feed->look())
        return;
    RetryPlan plan;
    plan.queue = m_feed->look()->wish.queue;
    plan.id = id;
    plan.by = operatorName().toStdString();
    Q_EMIT retryRequested(plan);
}

/// A frozen view takes nothing in; a hidden one asks nothing.
void WorkPage::holdStill()
{
    m_feed->setActive(isVisible() && !m_session.isFrozen());
}

void WorkPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    holdStill();
    m_timer.start(kTick);
    refresh();
}

void WorkPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
    m_feed->setActive(false);
}

} // namespace tenure::ui
