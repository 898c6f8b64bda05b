// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runtime/operator_gate.h"
#include "ui/bridge/work_feed.h"

#include <QTimer>
#include <QWidget>

#include <array>

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace tenure::ui
{

class CountTile;
class FreshnessChip;
class Session;
class Theme;
class WorkModel;

/// The work queues of one connection: how many items are in which state and how old, who has which in
/// hand, under which token and for how long, what is late, and the dead letters with a way back. Looks
/// only while it is shown; the one write, a retry, is asked for by a signal and done by the session's
/// gate. GUI thread; never waits.
class WorkPage final : public QWidget
{
    Q_OBJECT
public:
    /// `session` is borrowed, has a storeUri(), and outlives the page.
    WorkPage(const Theme &theme, const Clock &clock, Session &session, QWidget *parent);

    void showQueue(const std::string &queue);
    void showView(WorkView view);
    [[nodiscard]] WorkView view() const { return m_feed->wish().view; }
    [[nodiscard]] const WorkFeed &feed() const { return *m_feed; }
    void lookNow() { m_feed->lookNow(); }

Q_SIGNALS:
    /// A person wants this; it is not confirmed yet and has no reason.
    void retryRequested(const tenure::RetryPlan &plan);
    void demonstrationRequested(const QString &scenario);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    static constexpr std::size_t kViews = 5;
    void build();
    QWidget *buildHead();
    QWidget *buildTiles();
    QWidget *buildFoot();
    void buildTable();
    QWidget *buildMessage();
    QPushButton *button(const char *name, const QString &text, const QString &tip);
    void follow(); ///< the feed told something
    void refresh(); ///< what depends on the clock
    void showQueues();
    void showCounts();
    void showMessage();
    void showPages();
    void showRetry();
    void fit();
    void turnTo(std::int64_t afterId);
    void forget();
    void holdStill();
    [[nodiscard]] const WorkLook *answer() const;
    void askRetry(std::int64_t id);
    [[nodiscard]] bool isFresh() const;
    [[nodiscard]] std::int64_t selectedId() const; ///< 0: none
    [[nodiscard]] QString whyNoRetry() const;
    struct Message {
        QString title, text, command;
    };
    [[nodiscard]] Message message() const;

    const Theme &m_theme;
    const Clock &m_clock;
    Session &m_session;
    WorkFeed *m_feed;
    WorkModel *m_model;
    QComboBox *m_queue = nullptr;
    FreshnessChip *m_chip = nullptr;
    std::array<CountTile *, kViews> m_tiles{};
    QLabel *m_trouble = nullptr;
    QStackedWidget *m_pages = nullptr;
    QTableView *m_table = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_text = nullptr;
    QLabel *m_command = nullptr;
    QPushButton *m_copy = nullptr;
    QLabel *m_note = nullptr;
    QLabel *m_readOnly = nullptr;
    QPushButton *m_first = nullptr;
    QPushButton *m_next = nullptr;
    QPushButton *m_retry = nullptr;
    QPushButton *m_retryAll = nullptr;
    QTimer m_timer;
};

} // namespace tenure::ui
