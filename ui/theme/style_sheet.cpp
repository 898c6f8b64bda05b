// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <array>
#include <utility>

namespace tenure::ui
{
namespace
{

// Colours by token name between at-signs, lengths in font heights (em) or in the unit (@u@).
const char *const kSheet = R"(
QToolTip { background: @bg@; color: @text@; border: 1px solid @line@; padding: @u@px; }
QPushButton, QToolButton[flat="false"] {
    background: @bg@; color: @text@; border: 1px solid @line@; border-radius: @u@px;
    padding: @u@px @u3@px; }
QPushButton:hover { background: @alt@; }
QPushButton:pressed { background: @selection@; }
QPushButton:focus { border: 2px solid @info@; padding: @u-1@px @u3-1@px; }
QPushButton:disabled { color: @muted@; background: @surface@; border-color: @hairline@; }
QPushButton:default { border-color: @info@; }
QPushButton[danger="true"]:enabled { color: @crit@; border-color: @crit@; }
QPushButton[quiet="true"] { border: 0; background: transparent; color: @info@; }
QPushButton[quiet="true"]:hover, QPushButton[quiet="true"]:focus { text-decoration: underline; }
QPushButton[segment="true"] { border-radius: 0; }
QPushButton[segment="true"]:checked { background: @selection@; border-color: @info@; }
QPushButton::menu-indicator { subcontrol-position: right center; right: @u@px; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit {
    background: @bg@; border: 1px solid @line@; border-radius: @u@px;
    padding: @u@px; selection-background-color: @selection@; selection-color: @text@; }
QComboBox::drop-down { border: 0; width: @u6@px; }
QComboBox::down-arrow { image: url(:/theme/arrow-down.svg); width: @u3@px; height: @u3@px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: 0; width: @u4@px; background: transparent; }
QAbstractSpinBox::up-arrow { image: url(:/theme/arrow-up.svg); width: @u2@px; height: @u2@px; }
QAbstractSpinBox::down-arrow { image: url(:/theme/arrow-down.svg); width: @u2@px; height: @u2@px; }
QCheckBox::indicator { width: @u3@px; height: @u3@px; border: 1px solid @line@; background: @bg@; }
QCheckBox::indicator:checked { image: url(:/theme/check.svg); }
QRadioButton::indicator { width: @u3@px; height: @u3@px; border: 1px solid @line@;
    border-radius: @u15@px; background: @bg@; }
QRadioButton::indicator:checked { width: @u15@px; height: @u15@px; border: @u@px solid @info@; }
QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus, QTextEdit:focus {
    border: 2px solid @info@; padding: @u-1@px; }
QLineEdit[bad="true"] { border: 2px solid @crit@; padding: @u-1@px; }
QTableView, QListView, QTreeView {
    background: @bg@; color: @text@; border: 1px solid @hairline@; border-radius: 0;
    selection-background-color: @selection@; selection-color: @text@; outline: 0; }
QTableView::item { border: 0; padding: 0 @u@px; }
QTableView#fleetTable, QTableView#eventsTable, QListView#alertsList { border: 0; }
QHeaderView { background: @alt@; border: 0; }
QHeaderView::section {
    background: @alt@; color: @muted@; border: 0; border-bottom: 1px solid @hairline@;
    padding: @u@px @u2@px; }
QTabBar::tab {
    background: transparent; color: @muted@; border: 0; border-bottom: 2px solid transparent;
    padding: @u15@px @u3@px; }
QTabBar::tab:selected { color: @text@; border-bottom: 2px solid @info@; }
QTabBar::tab:hover { color: @text@; background: @alt@; }
QTabWidget::pane { border: 0; border-top: 1px solid @hairline@; }
QMenu { background: @bg@; color: @text@; border: 1px solid @hairline@; padding: @u@px 0; }
QMenu::item { padding: @u@px @u4@px; }
QMenu::item:selected { background: @selection@; color: @text@; }
QMenu::item:disabled { color: @muted@; }
QMenu::separator { height: 1px; background: @hairline@; margin: @u@px 0; }
QMenuBar { background: @surface@; color: @text@; }
QMenuBar::item { padding: @u@px @u2@px; background: transparent; }
QMenuBar::item:selected { background: @selection@; }
QToolBar { background: @surface@; border: 0; border-bottom: 1px solid @hairline@; spacing: @u2@px; padding: @u@px; }
QStatusBar { background: @surface@; border-top: 1px solid @hairline@; color: @muted@; }
QStatusBar::item { border: 0; }
QDockWidget { color: @muted@; }
QDockWidget::title { background: @surface@; padding: @u15@px @u2@px; border-bottom: 1px solid @hairline@; }
QSplitter::handle { background: @hairline@; }
QScrollBar:vertical { background: @surface@; width: @u3@px; margin: 0; border: 0; }
QScrollBar:horizontal { background: @surface@; height: @u3@px; margin: 0; border: 0; }
QScrollBar::handle { background: @line@; border-radius: @u@px; margin: 2px; min-height: @u6@px; min-width: @u6@px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QFrame[card="true"] { background: @bg@; border: 1px solid @hairline@; border-radius: @u15@px; }
QFrame[card="true"] QLabel { border: 0; background: transparent; }
QLabel[role="caption"] { color: @muted@; }
QLabel[role="warn"] { color: @warn@; }
QLabel[role="crit"] { color: @crit@; }
QLabel[role="stale"] { color: @stale@; }
QLabel[role="info"] { color: @info@; }
)";

QString colorText(const Theme &theme, Token token)
{
    return theme.color(token).name();
}

} // namespace

QString styleSheet(const Theme &theme)
{
    using Name = std::pair<const char *, Token>;
    constexpr std::array<Name, 12> names{{{"@bg@", Token::Bg}, {"@surface@", Token::Surface},
        {"@alt@", Token::Alt}, {"@selection@", Token::Selection}, {"@hairline@", Token::Hairline},
        {"@line@", Token::Line}, {"@text@", Token::Text}, {"@muted@", Token::Muted},
        {"@warn@", Token::Warn}, {"@crit@", Token::Crit}, {"@stale@", Token::Stale},
        {"@info@", Token::Info}}};
    QString sheet = QString::fromLatin1(kSheet);
    for (const auto &[name, token] : names)
        sheet.replace(QLatin1String(name), colorText(theme, token));
    const int unit = theme.unit();
    using Length = std::pair<const char *, int>;
    const std::array<Length, 8> lengths{{{"@u@", unit}, {"@u-1@", unit - 1}, {"@u15@", unit * 3 / 2},
        {"@u2@", unit * 2}, {"@u3@", unit * 3}, {"@u3-1@", unit * 3 - 1}, {"@u4@", unit * 4},
        {"@u6@", unit * 6}}};
    for (const auto &[name, length] : lengths)
        sheet.replace(QLatin1String(name), QString::number(length));
    return sheet;
}

} // namespace tenure::ui
