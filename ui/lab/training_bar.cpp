// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lab/training_bar.h"

#include "ui/dialogs/tone.h"
#include "ui/lab/sim_lab.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace tenure::ui
{

TrainingBar::TrainingBar(const Theme &theme, SimLab &lab) : m_theme(theme), m_lab(lab)
{
    setObjectName(QStringLiteral("training"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins({});
    m_next = new QPushButton(tr("Next card"));
    m_next->setObjectName(QStringLiteral("nextCard"));
    m_next->setToolTip(tr("Asks the trainee the next question now"));
    connect(m_next, &QPushButton::clicked, this, &TrainingBar::nextCard);
    m_reveal = new QCheckBox(tr("Reveal the truth"));
    m_reveal->setObjectName(QStringLiteral("reveal"));
    m_reveal->setToolTip(tr("Shows the trainee what the store says and what each instance believes"));
    connect(m_reveal, &QCheckBox::toggled, this, [this](bool on) {
        if (m_trainee)
            m_trainee->setRevealed(on);
    });
    auto *mark = new QPushButton(tr("Bookmark"));
    mark->setObjectName(QStringLiteral("bookmark"));
    mark->setToolTip(tr("Remembers this moment of the run"));
    m_marks = new QComboBox;
    m_marks->setObjectName(QStringLiteral("bookmarks"));
    m_marks->setAccessibleName(tr("Bookmarks"));
    connect(mark, &QPushButton::clicked, this, [this] {
        m_bookmarks.push_back(m_lab.now());
        m_marks->addItem(tr("T+ %1").arg(text(m_lab.now())));
        showState();
    });
    connect(m_marks, &QComboBox::activated, this, [this](int which) {
        if (which > 0)
            m_lab.seek(m_bookmarks[static_cast<std::size_t>(which - 1)]);
    });
    m_result = new QLabel;
    m_result->setObjectName(QStringLiteral("traineeResult"));
    setTone(m_result, Tone::Muted);
    for (QWidget *one : std::initializer_list<QWidget *>{m_next, m_reveal, mark, m_marks, m_result})
        row->addWidget(one);
    row->addStretch();
    forget();
}

void TrainingBar::openTrainee()
{
    if (!m_trainee) {
        m_trainee = new TraineeWindow(m_theme, m_lab);
        m_trainee->setAttribute(Qt::WA_DeleteOnClose);
        connect(m_trainee, &TraineeWindow::answered, this, &TrainingBar::showState);
        connect(m_trainee, &TraineeWindow::goOn, &m_lab, &SimLab::play);
        connect(m_trainee, &QObject::destroyed, this, [this] {
            m_trainee.clear(); // a widget tells of it before its pointers know
            showState();
        });
    }
    m_trainee->setRevealed(m_reveal->isChecked());
    m_trainee->show();
    m_trainee->raise();
    showState();
}

bool TrainingBar::ask(const sim::Card &card)
{
    if (!m_trainee)
        return false;
    const auto &cards = m_lab.scenario().cards;
    for (std::size_t i = 0; i < cards.size(); ++i) {
        if (cards[i].question == card.question)
            m_asked = i + 1;
    }
    m_trainee->ask(card);
    showState();
    return true;
}

void TrainingBar::nextCard()
{
    const auto &cards = m_lab.scenario().cards;
    if (m_asked >= cards.size())
        return;
    m_lab.pause();
    ask(cards[m_asked]);
}

void TrainingBar::refresh()
{
    if (m_trainee)
        m_trainee->refresh();
}

void TrainingBar::forget()
{
    m_asked = 0;
    m_bookmarks.clear();
    m_marks->clear();
    m_marks->addItem(tr("Bookmarks"));
    if (m_trainee)
        m_trainee->forget();
    showState();
}

void TrainingBar::showState()
{
    const bool on = m_trainee != nullptr;
    m_next->setEnabled(on && m_asked < m_lab.scenario().cards.size());
    setVisible(on);
    m_marks->setEnabled(!m_bookmarks.empty());
    m_result->setText(on ? m_trainee->resultText() : QString());
}

} // namespace tenure::ui
