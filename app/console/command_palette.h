// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <functional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace tenure::ui
{

/// One thing that can be found or run: a command (>), lease (#), connection (@) or alert (!).
struct PaletteEntry {
    QChar kind;
    QString text;
    QString detail; ///< at the right: state, connection, or why it is not possible
    std::function<void()> run; ///< empty: shown, but not possible now
};

/// The first `limit` entries that match what was typed, best first: a kind sign in front narrows, the
/// words may stand anywhere in text or detail, a match at the start of the text ranks first. Pure.
[[nodiscard]] std::vector<std::size_t> matching(
    const std::vector<PaletteEntry> &entries, const QString &typed, std::size_t limit);

/// Ctrl+K: find or run. Closes when something was run or focus is lost.
class CommandPalette final : public QDialog
{
    Q_OBJECT
public:
    CommandPalette(std::vector<PaletteEntry> entries, const QString &typed, QWidget *parent);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void refresh();
    void run();

    std::vector<PaletteEntry> m_entries;
    QLineEdit *m_edit;
    QListWidget *m_list;
};

} // namespace tenure::ui
