// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sim/setup.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace tenure::ui
{

/// A trainer's question: the run stands still until it is answered, and the answer says whether it was
/// right. Hidden while there is nothing to ask.
class CardPanel final : public QWidget
{
    Q_OBJECT
public:
    explicit CardPanel(QWidget *parent = nullptr);
    void ask(const sim::Card &card);
    void dismiss();
    [[nodiscard]] int asked() const { return m_asked; }
    [[nodiscard]] int answersGiven() const { return m_answers; }
    [[nodiscard]] int right() const { return m_right; }
    void forget(); ///< a new scenario: the count begins again

Q_SIGNALS:
    void answered(const QString &choice, bool right);
    void goOn(); ///< answered, and read

private:
    void answer(const QString &choice);

    sim::Card m_card;
    int m_asked = 0;
    int m_answers = 0;
    int m_right = 0;
    QLabel *m_question = nullptr;
    QHBoxLayout *m_choices = nullptr;
    QPushButton *m_goOn = nullptr;
};

} // namespace tenure::ui
