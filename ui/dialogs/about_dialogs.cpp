// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/about_dialogs.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <array>
#include <utility>

namespace tenure::ui
{
namespace
{

constexpr std::array<std::pair<const char *, const char *>, 25> kKeys{{
    {"Ctrl+K", QT_TRANSLATE_NOOP("tenure::ui::Keys", "find or run: > command  # lease  @ connection  ! alert")},
    {"Ctrl+F", QT_TRANSLATE_NOOP("tenure::ui::Keys", "filter the fleet")},
    {"F5", QT_TRANSLATE_NOOP("tenure::ui::Keys", "read everything again, verified")},
    {"Space", QT_TRANSLATE_NOOP("tenure::ui::Keys", "freeze or thaw the view")},
    {"S", QT_TRANSLATE_NOOP("tenure::ui::Keys", "sort the fleet again")},
    {"J K", QT_TRANSLATE_NOOP("tenure::ui::Keys", "the next and the previous row")},
    {"Enter", QT_TRANSLATE_NOOP("tenure::ui::Keys", "open the selected lease")},
    {"Backspace, Alt+Left", QT_TRANSLATE_NOOP("tenure::ui::Keys", "back to the tab before; in a timeline to the view before")},
    {"G then F A L T E W", QT_TRANSLATE_NOOP("tenure::ui::Keys", "go to fleet, alerts, lab, timeline, events, work")},
    {"A", QT_TRANSLATE_NOOP("tenure::ui::Keys", "acknowledge the selected alert")},
    {"H", QT_TRANSLATE_NOOP("tenure::ui::Keys", "shelve the selected alert for a reason")},
    {"P", QT_TRANSLATE_NOOP("tenure::ui::Keys", "pin the lease, or unpin it")},
    {"C", QT_TRANSLATE_NOOP("tenure::ui::Keys", "copy the name of the lease")},
    {"Shift+C", QT_TRANSLATE_NOOP("tenure::ui::Keys", "copy the lease as a tenurectl command")},
    {"R", QT_TRANSLATE_NOOP("tenure::ui::Keys", "the raw record of the lease")},
    {"T", QT_TRANSLATE_NOOP("tenure::ui::Keys", "times as UTC, local, both")},
    {"Ctrl+E", QT_TRANSLATE_NOOP("tenure::ui::Keys", "export the fleet")},
    {"Ctrl+,", QT_TRANSLATE_NOOP("tenure::ui::Keys", "settings; keys are changed there")},
    {"Ctrl+1 ... 9", QT_TRANSLATE_NOOP("tenure::ui::Keys", "the tab of that number")},
    {"Ctrl+W", QT_TRANSLATE_NOOP("tenure::ui::Keys", "close the tab")},
    {"Ctrl+N", QT_TRANSLATE_NOOP("tenure::ui::Keys", "add a connection")},
    {"Ctrl+Shift+M", QT_TRANSLATE_NOOP("tenure::ui::Keys", "read-only now, on all connections")},
    {"Ctrl+Shift+0", QT_TRANSLATE_NOOP("tenure::ui::Keys", "end all simulated faults")},
    {"F1, Ctrl+/", QT_TRANSLATE_NOOP("tenure::ui::Keys", "this list")},
    {"(none)", QT_TRANSLATE_NOOP("tenure::ui::Keys", "release: on purpose only from the lease page or \"> release\"")},
}};

QDialog *openDialog(QWidget *parent, const QString &title, QWidget *content)
{
    auto *dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto *all = new QVBoxLayout(dialog);
    all->addWidget(content);
    all->addWidget(buttons);
    dialog->open();
    return dialog;
}

} // namespace

void showShortcuts(QWidget *parent)
{
    auto *content = new QWidget;
    auto *grid = new QGridLayout(content);
    int row = 0;
    for (const auto &[keys, what] : kKeys) {
        auto *key = new QLabel(QLatin1String(keys));
        QFont bold = key->font();
        bold.setWeight(QFont::DemiBold);
        key->setFont(bold);
        grid->addWidget(key, row, 0);
        grid->addWidget(new QLabel(QLatin1String(what)), row++, 1);
    }
    grid->setHorizontalSpacing(content->fontMetrics().height() * 2);
    openDialog(parent, QObject::tr("Keyboard"), content);
}

void showAbout(QWidget *parent, const QString &version)
{
    auto *text = new QLabel(QObject::tr("<h3>Tenure %1</h3><p>Elects leaders with leases and shows people "
        "who leads.</p><p>No account, no telemetry: it talks only to the connections you open.</p>"
        "<p>Licence: GPL-3.0-or-later. Built with Qt %2.</p>").arg(version, QLatin1String(qVersion())));
    text->setWordWrap(true);
    text->setMinimumWidth(text->fontMetrics().averageCharWidth() * 60);
    openDialog(parent, QObject::tr("About Tenure"), text);
}

} // namespace tenure::ui
