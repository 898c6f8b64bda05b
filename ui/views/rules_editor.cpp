// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/rules_editor.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/walk_keys.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

QString s(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

constexpr int kMostRaised = 200;

/// Shares are edited as percent.
double factorOf(ThresholdUnit unit)
{
    return unit == ThresholdUnit::Share ? 100 : 1;
}

QString thresholdsText(const RuleDefinition &rule, const RuleValue &value)
{
    QStringList parts;
    for (std::size_t i = 0; i < rule.thresholds.size(); ++i) {
        const ThresholdDefinition &one = rule.thresholds[i];
        const double number = value.thresholds[i];
        const QString amount = one.unit == ThresholdUnit::Seconds
            ? text(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(number)))
            : one.unit == ThresholdUnit::Share ? QStringLiteral("%1 %").arg(number * 100) : QString::number(number);
        parts << s(one.key) + QLatin1Char(' ') + amount;
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace

RulesEditor::RulesEditor(const Theme &theme, const Clock &clock, RuleBook book, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_settings(book.settings()), m_list(new QTreeWidget(this)),
      m_fires(new QLabel(this)), m_previewText(new QLabel(this)), m_replay(new QLabel(this)), m_raised(new QTreeWidget(this)),
      m_known(new QLineEdit(this)), m_globs(new QComboBox(this)), m_priority(new QComboBox(this)),
      m_on(new QCheckBox(tr("On"), this)), m_form(new QFormLayout), m_save(new QPushButton(tr("Save rules"), this)),
      m_remove(new QPushButton(tr("Remove pattern"), this))
{
    setObjectName(QStringLiteral("rulesEditor"));
    m_list->setObjectName(QStringLiteral("rulesList"));
    m_list->setAccessibleName(tr("Rules"));
    m_list->setHeaderLabels({tr("Rule"), tr("On"), tr("Priority"), tr("Thresholds"), tr("Last day")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(3, QHeaderView::Stretch);
    for (const int column : {1, 2, 4})
        m_list->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    m_list->setColumnWidth(0, 36 * theme.unit());
    walkWithJK(m_list);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 4 * theme.unit(), 4 * theme.unit());
    row->setSpacing(4 * theme.unit());
    row->addWidget(m_list, 3);
    row->addLayout(makeForm(), 2);
    connect(m_list, &QTreeWidget::currentItemChanged, this, [this] {
        fillGlobs();
        fillForm();
        fillRaised();
    });
    fillList();
    m_list->setCurrentItem(m_list->topLevelItem(0));
}

QVBoxLayout *RulesEditor::makeForm()
{
    const int unit = m_theme.unit();
    m_fires->setWordWrap(true);
    m_fires->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_globs->setObjectName(QStringLiteral("ruleGlob"));
    m_globs->setAccessibleName(tr("For leases"));
    m_priority->setObjectName(QStringLiteral("rulePriority"));
    m_priority->addItems({tr("P1, wakes somebody"), tr("P2, today"), tr("P3, when there is time")});
    m_on->setObjectName(QStringLiteral("ruleOn"));
    m_previewText->setObjectName(QStringLiteral("rulesPreviewText"));
    m_previewText->setWordWrap(true);
    m_previewText->setProperty("role", QStringLiteral("caption"));
    m_replay->setObjectName(QStringLiteral("ruleReplay"));
    m_replay->setWordWrap(true);
    m_replay->setProperty("role", QStringLiteral("caption"));
    m_raised->setObjectName(QStringLiteral("ruleRaised"));
    m_raised->setAccessibleName(tr("What the rule would have raised"));
    m_raised->setRootIsDecorated(false);
    m_raised->setFrameShape(QFrame::NoFrame);
    m_raised->setVisible(false);
    m_known->setObjectName(QStringLiteral("ruleKnownHolders"));
    m_known->setPlaceholderText(QStringLiteral("sched-*, batch-?"));
    m_known->setToolTip(tr("Names of holders, * for any run of characters, with commas between"));
    auto *add = new QPushButton(tr("Other pattern…"), this);
    auto *preview = new QPushButton(tr("Preview the last day"), this);
    preview->setObjectName(QStringLiteral("rulesPreview"));
    m_save->setObjectName(QStringLiteral("rulesSave"));
    auto *reset = new QPushButton(tr("As shipped"), this);
    reset->setObjectName(QStringLiteral("rulesReset"));
    auto *pattern = new QHBoxLayout;
    pattern->setSpacing(2 * unit);
    pattern->addWidget(m_globs, 1);
    pattern->addWidget(add);
    pattern->addWidget(m_remove);
    m_form->setHorizontalSpacing(4 * unit);
    m_form->setVerticalSpacing(2 * unit);
    m_form->addRow(tr("For leases"), pattern);
    m_form->addRow(QString(), m_on);
    m_form->addRow(tr("Priority"), m_priority);
    m_form->addRow(tr("Known holders"), m_known);
    auto *right = new QVBoxLayout;
    right->setSpacing(3 * unit);
    right->addWidget(m_fires);
    right->addLayout(m_form);
    right->addWidget(m_replay);
    right->addWidget(m_raised, 1);
    right->addStretch(0);
    right->addWidget(m_previewText);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(2 * unit);
    for (QPushButton *button : {preview, reset, m_save})
        buttons->addWidget(button);
    right->addLayout(buttons);
    connect(m_globs, &QComboBox::activated, this, &RulesEditor::fillForm);
    connect(m_on, &QCheckBox::toggled, this, &RulesEditor::changed);
    connect(m_priority, &QComboBox::activated, this, &RulesEditor::changed);
    connect(m_known, &QLineEdit::textEdited, this, &RulesEditor::changed);
    connect(add, &QPushButton::clicked, this, &RulesEditor::addGlob);
    connect(m_remove, &QPushButton::clicked, this, &RulesEditor::removeGlob);
    connect(preview, &QPushButton::clicked, this, [this] {
        m_previewText->setText(tr("Reading the last day…"));
        Q_EMIT previewAsked();
    });
    connect(reset, &QPushButton::clicked, this, [this] { setBook({}); });
    connect(m_save, &QPushButton::clicked, this, &RulesEditor::saveAsked);
    return right;
}

void RulesEditor::setBook(const RuleBook &book)
{
    m_settings = book.settings();
    m_preview.reset();
    fillList();
    fillGlobs();
    fillForm();
}

RuleId RulesEditor::rule() const
{
    return static_cast<RuleId>(std::max(0, m_list->indexOfTopLevelItem(m_list->currentItem())));
}

std::string RulesEditor::glob() const
{
    return m_globs->currentIndex() <= 0 ? std::string("*") : m_globs->currentText().toStdString();
}

/// As the settings say for exactly this pattern, over those for all.
RuleValue RulesEditor::valueOf(RuleId rule, const std::string &glob) const
{
    std::vector<RuleSetting> settings;
    for (const RuleSetting &one : m_settings) {
        if (one.rule == rule && (one.glob == "*" || one.glob == glob)) {
            settings.push_back(one);
            settings.back().glob = "*";
        }
    }
    return RuleBook(std::move(settings)).valuesFor("any")[static_cast<std::size_t>(rule)];
}

RuleSetting &RulesEditor::setting()
{
    const std::string pattern = glob();
    const RuleId which = rule();
    for (RuleSetting &one : m_settings) {
        if (one.rule == which && one.glob == pattern)
            return one;
    }
    RuleSetting fresh;
    fresh.rule = which;
    fresh.glob = pattern;
    // What is for all stands first: a later setting that matches wins.
    return *m_settings.insert(pattern == "*" ? m_settings.begin() : m_settings.end(), fresh);
}

void RulesEditor::fillList()
{
    const auto catalogue = ruleCatalogue();
    while (m_list->topLevelItemCount() < static_cast<int>(catalogue.size()))
        new QTreeWidgetItem(m_list);
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        const RuleDefinition &definition = catalogue[i];
        const RuleValue value = valueOf(definition.id, "*");
        QTreeWidgetItem *item = m_list->topLevelItem(static_cast<int>(i));
        const auto patterns = std::count_if(m_settings.begin(), m_settings.end(),
            [&](const RuleSetting &one) { return one.rule == definition.id && one.glob != "*"; });
        item->setText(0, s(definition.title));
        item->setText(1, value.on ? QStringLiteral("\u2713") : QString(QChar(0x2013)));
        item->setText(2, QStringLiteral("P%1").arg(value.priority));
        item->setText(3, thresholdsText(definition, value) + (patterns > 0 ? tr("  (+%1 patterns)").arg(patterns) : QString()));
        item->setToolTip(3, item->text(3));
        item->setText(4, !m_preview ? QString() : replayability(definition.id).how == Replayable::No
                ? QString(QChar(0x2013)) : QString::number(m_preview->countOf(definition.id)));
        item->setToolTip(4, s(replayability(definition.id).why));
        item->setTextAlignment(4, Qt::AlignRight | Qt::AlignVCenter);
        item->setSizeHint(0, {0, m_theme.rowHeight()});
        const QColor ink = m_theme.color(value.on ? Token::Text : Token::Muted);
        for (int column = 0; column < 5; ++column)
            item->setForeground(column, ink);
    }
}

void RulesEditor::fillGlobs()
{
    m_globs->clear();
    m_globs->addItem(tr("all leases (*)"));
    for (const RuleSetting &one : m_settings) {
        if (one.rule == rule() && one.glob != "*")
            m_globs->addItem(shown(one.glob));
    }
}

void RulesEditor::fillForm()
{
    m_filling = true;
    const RuleDefinition &definition = definitionOf(rule());
    const RuleValue value = valueOf(rule(), glob());
    m_fires->setText(tr("%1: fires when %2. Clears when %3.\nWhat to do: %4.")
                         .arg(s(definition.title), s(definition.fires), s(definition.clears), s(definition.action)));
    m_on->setChecked(value.on);
    m_priority->setCurrentIndex(std::clamp(value.priority, 1, 3) - 1);
    m_remove->setEnabled(m_globs->currentIndex() > 0);
    m_replay->setText(s(replayability(rule()).why));
    m_replay->setVisible(!m_replay->text().isEmpty());
    QStringList known;
    for (const std::string &one : value.knownHolders)
        known << shown(one);
    m_form->setRowVisible(m_known, rule() == RuleId::UnknownHolder);
    m_known->setText(known.join(QStringLiteral(", ")));
    for (QWidget *old : m_thresholds)
        m_form->removeRow(old);
    m_thresholds.clear();
    for (std::size_t i = 0; i < definition.thresholds.size(); ++i) {
        const ThresholdDefinition &one = definition.thresholds[i];
        auto *spin = new QDoubleSpinBox(this);
        spin->setObjectName(QStringLiteral("threshold_") + s(one.key));
        spin->setDecimals(one.unit == ThresholdUnit::Count ? 0 : 1);
        spin->setRange(0, one.unit == ThresholdUnit::Share ? 100 : 1e6);
        spin->setSuffix(one.unit == ThresholdUnit::Seconds ? tr(" s") : one.unit == ThresholdUnit::Share ? tr(" %") : QString());
        spin->setValue(value.thresholds[i] * factorOf(one.unit));
        spin->setMaximumWidth(36 * m_theme.unit());
        spin->setKeyboardTracking(false);
        connect(spin, &QDoubleSpinBox::valueChanged, this, &RulesEditor::changed);
        QString meaning = s(one.meaning);
        m_form->addRow(meaning.isEmpty() ? meaning : meaning.left(1).toUpper() + meaning.mid(1), spin);
        m_thresholds.push_back(spin);
    }
    m_filling = false;
}

void RulesEditor::changed()
{
    if (m_filling)
        return;
    const RuleDefinition &definition = definitionOf(rule());
    RuleSetting &mine = setting();
    mine.on = m_on->isChecked();
    mine.priority = m_priority->currentIndex() + 1;
    for (std::size_t i = 0; i < m_thresholds.size(); ++i) {
        mine.thresholds[definition.thresholds[i].key] = m_thresholds[i]->value() / factorOf(definition.thresholds[i].unit);
    }
    if (definition.id == RuleId::UnknownHolder) {
        mine.knownHolders.clear();
        for (const QString &one : m_known->text().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
            if (const QString name = one.trimmed(); !name.isEmpty())
                mine.knownHolders.push_back(name.toStdString());
        }
    }
    m_preview.reset();
    fillRaised();
    m_previewText->setText(tr("Not saved yet."));
    fillList();
}

void RulesEditor::addGlob()
{
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Other values for some leases"));
    dialog->setLabelText(tr("Names of leases, * for any run of characters, as in mail/*:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString &typed) {
        const QString pattern = typed.trimmed();
        if (pattern.isEmpty() || pattern == QLatin1String("*"))
            return;
        RuleSetting fresh;
        fresh.rule = rule();
        fresh.glob = pattern.toStdString();
        m_settings.push_back(fresh);
        fillGlobs();
        m_globs->setCurrentIndex(m_globs->count() - 1);
        fillForm();
        changed();
    });
    dialog->open();
}

void RulesEditor::removeGlob()
{
    std::erase_if(m_settings, [&](const RuleSetting &one) { return one.rule == rule() && one.glob == glob() && one.glob != "*"; });
    fillGlobs();
    fillForm();
    changed();
}

/// The alerts behind the number of the rule in front, the newest first.
void RulesEditor::fillRaised()
{
    m_raised->clear();
    m_raised->setHeaderLabels({tr("Would have raised (%1)").arg(zoneText()), tr("Lease"), tr("For"), tr("What")});
    const WallTime today = m_clock.wall();
    if (m_preview) {
        for (auto one = m_preview->raised.rbegin(); one != m_preview->raised.rend() && m_raised->topLevelItemCount() < kMostRaised; ++one) {
            if (one->rule != rule())
                continue;
            auto *item = new QTreeWidgetItem(m_raised, {timeText(one->firstAt, today), shown(one->lease.lease.name()),
                one->clearedAt ? text(Duration(*one->clearedAt - one->firstAt)) : tr("still so"), shown(one->text)});
            item->setToolTip(3, item->text(3));
        }
    }
    m_raised->setVisible(m_raised->topLevelItemCount() > 0);
    for (int column = 0; column < 3; ++column)
        m_raised->resizeColumnToContents(column);
}

void RulesEditor::showPreview(const RulePreview &preview)
{
    m_preview = preview;
    const auto total = preview.raised.size();
    m_previewText->setText((total == 1 ? tr("In the last day these rules would have raised 1 alert")
                                       : tr("In the last day these rules would have raised %1 alerts").arg(total))
        + tr(", judged from %1 changes and %2 renewals.").arg(preview.events).arg(preview.renewals)
        + (preview.complete ? QString() : tr(" Too much happened for all of it: only a part was replayed.")));
    fillList();
    fillRaised();
}

void RulesEditor::showPreviewProblem(const QString &why)
{
    m_previewText->setText(why);
}

} // namespace tenure::ui
