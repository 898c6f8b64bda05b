// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/command_palette.h"

#include "ui/dialogs/tone.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kShown = 40;
constexpr int kIndexRole = Qt::UserRole;
const QString kKinds = QStringLiteral(">#@!");

bool matches(const PaletteEntry &entry, const QStringList &words)
{
    return std::all_of(words.begin(), words.end(), [&](const QString &word) {
        return entry.text.contains(word, Qt::CaseInsensitive)
            || entry.detail.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace

std::vector<std::size_t> matching(
    const std::vector<PaletteEntry> &entries, const QString &typed, std::size_t limit)
{
    QString rest = typed.trimmed();
    QChar kind;
    if (!rest.isEmpty() && kKinds.contains(rest.front())) {
        kind = rest.front();
        rest = rest.mid(1).trimmed();
    }
    const QStringList words = rest.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if ((kind.isNull() || entries[i].kind == kind) && matches(entries[i], words))
            found.push_back(i);
    }
    std::stable_partition(found.begin(), found.end(), [&](std::size_t i) {
        return !rest.isEmpty() && entries[i].text.startsWith(rest, Qt::CaseInsensitive);
    });
    found.resize(std::min(found.size(), limit));
    return found;
}

CommandPalette::CommandPalette(
    std::vector<PaletteEntry> entries, const QString &typed, QWidget *parent)
    : QDialog(parent, Qt::Popup), m_entries(std::move(entries)), m_edit(new QLineEdit(typed)),
      m_list(new QListWidget)
{
    setObjectName(QStringLiteral("palette"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_edit->setPlaceholderText(tr("Find a lease or run a command"));
    m_edit->setAccessibleName(tr("Find or run"));
    m_edit->installEventFilter(this);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setFrameShape(QFrame::NoFrame);
    auto *hint = new QLabel(tr("> command   # lease   @ connection   ! alert"));
    setTone(hint, Tone::Muted);
    auto *all = new QVBoxLayout(this);
    all->addWidget(m_edit);
    all->addWidget(m_list, 1);
    all->addWidget(hint);
    const int em = fontMetrics().averageCharWidth();
    resize(em * 90, fontMetrics().height() * 22);
    if (parent) {
        const QPoint middle = parent->mapToGlobal(QPoint((parent->width() - width()) / 2, em * 8));
        move(middle);
    }
    connect(m_edit, &QLineEdit::textChanged, this, &CommandPalette::refresh);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
    refresh();
    m_edit->setFocus();
}

void CommandPalette::refresh()
{
    m_list->clear();
    for (const std::size_t index : matching(m_entries, m_edit->text(), kShown)) {
        const PaletteEntry &entry = m_entries[index];
        QString line = QString(entry.kind) + QStringLiteral("  ") + entry.text;
        if (!entry.detail.isEmpty())
            line += QStringLiteral("   ·   ") + entry.detail;
        auto *item = new QListWidgetItem(line, m_list);
        item->setData(kIndexRole, static_cast<qulonglong>(index));
        if (!entry.run)
            item->setForeground(toneColor(Tone::Muted));
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::run()
{
    const QListWidgetItem *item = m_list->currentItem();
    if (!item)
        return;
    const auto index = static_cast<std::size_t>(item->data(kIndexRole).toULongLong());
    const std::function<void()> chosen = m_entries[index].run;
    if (!chosen)
        return;
    close();
    chosen();
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_edit || event->type() != QEvent::KeyPress)
        return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent *>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        run();
        return true;
    }
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    if (step == 0)
        return QDialog::eventFilter(watched, event);
    m_list->setCurrentRow(std::clamp(m_list->currentRow() + step, 0, m_list->count() - 1));
    return true;
}

} // namespace tenure::ui
