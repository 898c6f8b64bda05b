// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings_dialog.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{

SettingsDialog::SettingsDialog(const Theme &theme, SettingsStore &store, SettingsContext context, QWidget *parent)
    : QDialog(parent), m_theme(theme), m_store(store), m_context(std::move(context)), m_search(new QLineEdit),
      m_titles(new QListWidget), m_stack(new QStackedWidget), m_note(new QLabel)
{
    setObjectName(QStringLiteral("settingsDialog"));
    setWindowTitle(tr("Settings"));
    const int unit = theme.unit();
    m_search->setObjectName(QStringLiteral("settingsSearch"));
    m_search->setPlaceholderText(tr("Search settings"));
    m_search->setAccessibleName(tr("Search settings"));
    m_search->setClearButtonEnabled(true);
    m_titles->setObjectName(QStringLiteral("settingsPages"));
    m_titles->setAccessibleName(tr("Pages of the settings"));
    m_titles->setFixedWidth(44 * unit);
    m_titles->setFrameShape(QFrame::NoFrame);
    makeAppearance();
    makeTimes();
    makeAlerts();
    if (m_context.testWebhook)
        makeWebhook();
    makeKeyboard();
    makePrivacy();
    makeAbout();

    auto *reset = new QPushButton(tr("Reset this page"));
    reset->setObjectName(QStringLiteral("settingsReset"));
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    buttons->addButton(reset, QDialogButtonBox::ResetRole);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(reset, &QPushButton::clicked, this, &SettingsDialog::resetPage);
    m_note->setProperty("role", store.readOnlyReason().isEmpty() ? QStringLiteral("caption") : QStringLiteral("warn"));
    m_note->setWordWrap(true);
    m_note->setText(store.readOnlyReason().isEmpty() ? tr("Changes hold at once. Kept in %1, without secrets.").arg(store.path())
                                                     : store.readOnlyReason());
    auto *left = new QVBoxLayout;
    left->setSpacing(2 * unit);
    left->addWidget(m_search);
    left->addWidget(m_titles, 1);
    auto *upper = new QHBoxLayout;
    upper->setSpacing(4 * unit);
    upper->addLayout(left);
    upper->addWidget(m_stack, 1);
    auto *all = new QVBoxLayout(this);
    all->setSpacing(3 * unit);
    all->addLayout(upper, 1);
    all->addWidget(m_note);
    all->addWidget(buttons);
    resize(210 * unit, 140 * unit);
    connect(m_titles, &QListWidget::currentRowChanged, m_stack, &QStackedWidget::setCurrentIndex);
    connect(m_search, &QLineEdit::textChanged, this, &SettingsDialog::search);
    connect(&store, &SettingsStore::changed, this, &SettingsDialog::showStored);
    m_titles->setCurrentRow(0);
    showStored();
}

QFormLayout *SettingsDialog::addPage(
    const QString &title, const QString &intro, std::function<void(Settings &)> reset)
{
    const int unit = m_theme.unit();
    auto *page = new QWidget;
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 3 * unit, 0);
    auto *head = new QLabel(title);
    useFont(head, m_theme, FontRole::Title);
    column->addWidget(head);
    if (!intro.isEmpty()) {
        auto *text = new QLabel(intro);
        text->setWordWrap(true);
        text->setProperty("role", QStringLiteral("caption"));
        column->addWidget(text);
    }
    column->addSpacing(2 * unit);
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(6 * unit);
    form->setVerticalSpacing(3 * unit);
    form->setLabelAlignment(Qt::AlignLeft | Qt::AlignTop);
    column->addLayout(form);
    column->addStretch(1);
    auto *area = new QScrollArea;
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setWidget(page);
    m_stack->addWidget(area);
    m_titles->addItem(title);
    m_pages.push_back({title, area, form, std::move(reset)});
    return form;
}

void SettingsDialog::addRow(const QString &label, QWidget *field, const QString &hint)
{
    auto *name = new QLabel(label);
    name->setBuddy(field);
    if (field->accessibleName().isEmpty())
        field->setAccessibleName(label);
    QWidget *shown = field;
    if (!hint.isEmpty()) {
        shown = new QWidget;
        auto *column = new QVBoxLayout(shown);
        column->setContentsMargins({});
        column->setSpacing(m_theme.unit() / 2);
        column->addWidget(field);
        auto *text = new QLabel(hint);
        text->setWordWrap(true);
        text->setProperty("role", QStringLiteral("caption"));
        column->addWidget(text);
    }
    m_pages.back().form->addRow(name, shown);
    QString words = m_pages.back().title + QLatin1Char(' ') + label + QLatin1Char(' ') + hint;
    for (const QAbstractButton *button : field->findChildren<QAbstractButton *>())
        words += QLatin1Char(' ') + button->text();
    if (const auto *button = qobject_cast<QAbstractButton *>(field))
        words += QLatin1Char(' ') + button->text();
    m_rows.push_back({m_pages.size() - 1, name, shown, words.toCaseFolded()});
}

QWidget *SettingsDialog::radios(const QString &name, const QStringList &choices, std::function<int()> now,
    std::function<void(Settings &, int)> set)
{
    auto *holder = new QWidget;
    holder->setObjectName(name);
    auto *row = new QHBoxLayout(holder);
    row->setContentsMargins({});
    row->setSpacing(4 * m_theme.unit());
    auto *group = new QButtonGroup(holder);
    for (qsizetype i = 0; i < choices.size(); ++i) {
        auto *button = new QRadioButton(choices[i]);
        button->setObjectName(name + QString::number(i));
        group->addButton(button, static_cast<int>(i));
        row->addWidget(button);
    }
    row->addStretch(1);
    connect(group, &QButtonGroup::idToggled, this, [this, set](int id, bool on) {
        if (on && !m_showing)
            m_store.change([&](Settings &settings) { set(settings, id); });
    });
    m_shows.push_back([group, now] {
        if (QAbstractButton *button = group->button(now()))
            button->setChecked(true);
    });
    return holder;
}

QWidget *SettingsDialog::check(const QString &name, const QString &text, bool Settings::*field)
{
    auto *box = new QCheckBox(text);
    box->setObjectName(name);
    connect(box, &QCheckBox::toggled, this, [this, field](bool on) {
        if (!m_showing)
            m_store.change([&](Settings &settings) { settings.*field = on; });
    });
    m_shows.push_back([this, box, field] { box->setChecked(m_store.now().*field); });
    return box;
}

void SettingsDialog::showStored()
{
    m_showing = true;
    for (const auto &show : m_shows)
        show();
    m_showing = false;
}

void SettingsDialog::resetPage()
{
    const auto page = static_cast<std::size_t>(std::max(0, m_stack->currentIndex()));
    if (m_pages[page].reset)
        m_store.change(m_pages[page].reset);
}

void SettingsDialog::search(const QString &typed)
{
    const QStringList words = typed.toCaseFolded().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    std::vector<bool> matches(m_pages.size(), words.isEmpty());
    for (const Row &row : m_rows) {
        const bool shown = std::all_of(
            words.begin(), words.end(), [&](const QString &word) { return row.words.contains(word); });
        row.label->setVisible(shown);
        row.field->setVisible(shown);
        if (shown)
            matches[row.page] = true;
    }
    int first = -1;
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        m_titles->item(static_cast<int>(i))->setHidden(!matches[i]);
        if (matches[i] && first < 0)
            first = static_cast<int>(i);
    }
    const int current = m_titles->currentRow();
    if (first >= 0 && (current < 0 || !matches[static_cast<std::size_t>(current)]))
        m_titles->setCurrentRow(first);
}

void SettingsDialog::showPage(const QString &title)
{
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        if (m_pages[i].title == title)
            m_titles->setCurrentRow(static_cast<int>(i));
    }
}

bool SettingsDialog::eventFilter(QObject *watched, QEvent *event)
{
    // A wheel over a field that has not been chosen scrolls the page and changes nothing.
    if (event->type() == QEvent::Wheel && !static_cast<QWidget *>(watched)->hasFocus()) {
        event->ignore();
        return true;
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace tenure::ui
