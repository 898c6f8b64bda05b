// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/settings/settings_store.h"

#include <QDialog>
#include <QKeySequence>

#include <functional>
#include <vector>

class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QStackedWidget;
class QVBoxLayout;

namespace tenure::ui
{

/// A key that the person may change: `name` is its identity in the settings.
struct KeyBinding {
    QString name;
    QString text;
    QKeySequence standard; ///< what it is without a change
};

/// What the dialog shows of the world around it, and asks of it.
struct SettingsContext {
    std::vector<KeyBinding> keys;
    bool hasTray = false; ///< this desktop has one
    QString version;
    QString journal; ///< state of the journal in a sentence; empty: none
    /// Sends a test message with what is set now and calls back with what came of it; empty: no
    /// webhook in this build.
    std::function<void(std::function<void(QString)> done)> testWebhook;
    std::function<void(const QString &secret)> saveWebhookSecret;
    QString webhookStatus; ///< what came of the messages so far, in a sentence; may be empty
    QString notifyHow; ///< how this desktop is told of alerts, in a sentence
};

/// Settings, Ctrl+,. Every change holds at once and is saved; nothing waits for OK.
class SettingsDialog final : public QDialog
{
    Q_OBJECT
public:
    SettingsDialog(const Theme &theme, SettingsStore &store, SettingsContext context, QWidget *parent);
    /// "Appearance", "Keyboard" ...; unknown names do nothing.
    void showPage(const QString &title);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    struct Page {
        QString title;
        QWidget *widget = nullptr;
        QFormLayout *form = nullptr;
        std::function<void(Settings &)> reset;
    };
    struct Row {
        std::size_t page;
        QWidget *label;
        QWidget *field;
        QString words; ///< folded, for the search
    };
    QFormLayout *addPage(const QString &title, const QString &intro, std::function<void(Settings &)> reset);
    void addRow(const QString &label, QWidget *field, const QString &hint = {});
    QWidget *radios(const QString &name, const QStringList &choices, std::function<int()> now,
        std::function<void(Settings &, int)> set);
    QWidget *check(const QString &name, const QString &text, bool Settings::*field);
    void makeAppearance();
    void makeTimes();
    void makeAlerts();
    void makeWebhook();
    void makeKeyboard();
    void makePrivacy();
    void makeAbout();
    void setKey(const KeyBinding &binding, const QKeySequence &keys);
    void search(const QString &typed);
    void showStored();
    void resetPage();

    const Theme &m_theme;
    SettingsStore &m_store;
    SettingsContext m_context;
    QLineEdit *m_search;
    QListWidget *m_titles;
    QStackedWidget *m_stack;
    QLabel *m_note; ///< why nothing is saved, or where it is
    std::vector<Page> m_pages;
    std::vector<Row> m_rows;
    std::vector<std::function<void()>> m_shows; ///< put what is stored into the fields
    bool m_showing = false;
};

} // namespace tenure::ui
