// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/journal/rule_preview.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;
class QVBoxLayout;

namespace tenure::ui
{

class Theme;

/// The alert rules with what each means, when it fires, what it asks of an operator; switched,
/// prioritised and set for all leases or for those of a pattern. A preview says what the edited rules
/// would have raised in the last day. Nothing holds before Save.
class RulesEditor final : public QWidget
{
    Q_OBJECT
public:
    RulesEditor(const Theme &theme, const Clock &clock, RuleBook book, QWidget *parent);
    [[nodiscard]] RuleBook book() const { return RuleBook(m_settings); }
    void setBook(const RuleBook &book);
    /// The answer to previewAsked().
    void showPreview(const RulePreview &preview);
    void showPreviewProblem(const QString &why);

Q_SIGNALS:
    void previewAsked();
    void saveAsked();

private:
    [[nodiscard]] RuleId rule() const;
    [[nodiscard]] std::string glob() const;
    [[nodiscard]] RuleValue valueOf(RuleId rule, const std::string &glob) const;
    RuleSetting &setting();
    [[nodiscard]] QVBoxLayout *makeForm();
    void fillList();
    void fillForm();
    void fillGlobs();
    void fillRaised();
    void changed();
    void addGlob();
    void removeGlob();

    const Theme &m_theme;
    const Clock &m_clock;
    std::vector<RuleSetting> m_settings;
    std::optional<RulePreview> m_preview;
    QTreeWidget *m_list;
    QLabel *m_fires, *m_previewText, *m_replay;
    QTreeWidget *m_raised; ///< what the rule would have raised
    QLineEdit *m_known; ///< known holders, for the rule that asks for them
    QComboBox *m_globs, *m_priority;
    QCheckBox *m_on;
    QFormLayout *m_form;
    std::vector<QDoubleSpinBox *> m_thresholds;
    QPushButton *m_save, *m_remove;
    bool m_filling = false;
};

} // namespace tenure::ui
