// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/card_panel.h"

#include "ui/dialogs/tone.h"
#include "ui/theme/words.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace tenure::ui
{
namespace
{

/// In scripts a choice is one word: "the-end-of-the-ttl".
QString choiceWords(const std::string &choice)
{
    return shown(choice).replace(QLatin1Char('-'), QLatin1Char(' '));
}

} // namespace

CardPanel::CardPanel(QWidget *parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("card"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins({});
    m_question = new QLabel;
    m_question->setObjectName(QStringLiteral("question"));
    m_choices = new QHBoxLayout;
    m_goOn = new QPushButton(tr("Go on"));
    m_goOn->setObjectName(QStringLiteral("goOn"));
    connect(m_goOn, &QPushButton::clicked, this, [this] {
        dismiss();
        Q_EMIT goOn();
    });
    row->addWidget(m_question);
    row->addLayout(m_choices);
    row->addWidget(m_goOn);
    row->addStretch();
    hide();
}

void CardPanel::ask(const sim::Card &card)
{
    dismiss();
    m_card = card;
    ++m_asked;
    m_question->setText(tr("Card: %1").arg(shown(card.question)));
    setTone(m_question, Tone::Info);
    for (const std::string &choice : card.choices) {
        auto *button = new QPushButton(choiceWords(choice));
        connect(button, &QPushButton::clicked, this, [this, text = button->text()] { answer(text); });
        m_choices->addWidget(button);
    }
    m_goOn->hide();
    show();
}

void CardPanel::answer(const QString &choice)
{
    const bool isRight = std::any_of(m_card.right.begin(), m_card.right.end(), [&](const std::string &one) { return choiceWords(one) == choice; });
    ++m_answers;
    m_right += isRight ? 1 : 0;
    for (int i = 0; i < m_choices->count(); ++i)
        m_choices->itemAt(i)->widget()->setEnabled(false);
    QStringList all;
    for (const std::string &one : m_card.right)
        all += choiceWords(one);
    m_question->setText(isRight ? tr("✓ Right: %1 (%2 of %3 so far)").arg(choice).arg(m_right).arg(m_asked)
                              : tr("✖ Not %1, but %2 (%3 of %4 so far)").arg(choice, all.join(tr(" and "))).arg(m_right).arg(m_asked));
    setTone(m_question, isRight ? Tone::Normal : Tone::Warning);
    m_goOn->show();
    Q_EMIT answered(choice, isRight);
}

void CardPanel::dismiss()
{
    while (QLayoutItem *item = m_choices->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    hide();
}

void CardPanel::forget()
{
    dismiss();
    m_asked = m_answers = m_right = 0;
}

} // namespace tenure::ui
