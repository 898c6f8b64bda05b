// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/shelve_dialog.h"

#include <QButtonGroup>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

namespace tenure::ui
{

ShelveDialog::ShelveDialog(const QString &what, QWidget *parent)
    : QDialog(parent), m_durations(new QButtonGroup(this)), m_reason(new QLineEdit)
{
    setObjectName(QStringLiteral("shelveDialog"));
    setWindowTitle(tr("Shelve"));
    const int unit = fontMetrics().height() / 2;
    auto *text = new QLabel(what);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    text->setMinimumWidth(fontMetrics().averageCharWidth() * 56);
    auto *row = new QHBoxLayout;
    row->setSpacing(2 * unit);
    row->addWidget(new QLabel(tr("For")));
    for (const auto &[minutes, title] : {std::pair(30, tr("30 min")), std::pair(60, tr("1 h")), std::pair(120, tr("2 h")),
             std::pair(240, tr("4 h")), std::pair(480, tr("8 h"))}) {
        auto *one = new QRadioButton(title);
        m_durations->addButton(one, minutes);
        row->addWidget(one);
    }
    row->addStretch(1);
    m_durations->button(30)->setChecked(true);
    m_reason->setObjectName(QStringLiteral("shelveReason"));
    m_reason->setPlaceholderText(tr("Why, for those who look after you: INC-4711 load test"));
    m_reason->setAccessibleName(tr("Reason"));
    auto *hint = new QLabel(tr("It comes back by itself when the time is over, and ends early when nothing has matched for half an hour."));
    hint->setProperty("role", QStringLiteral("caption"));
    hint->setWordWrap(true);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    QPushButton *shelve = buttons->addButton(tr("Shelve"), QDialogButtonBox::AcceptRole);
    shelve->setObjectName(QStringLiteral("shelveAccept"));
    shelve->setEnabled(false);
    auto *all = new QVBoxLayout(this);
    all->setSpacing(2 * unit);
    all->addWidget(text);
    all->addLayout(row);
    all->addWidget(m_reason);
    all->addWidget(hint);
    all->addWidget(buttons);
    connect(m_reason, &QLineEdit::textChanged, shelve, [this, shelve] { shelve->setEnabled(!reason().isEmpty()); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_reason->setFocus();
}

Duration ShelveDialog::duration() const
{
    return std::chrono::minutes(m_durations->checkedId());
}

QString ShelveDialog::reason() const
{
    return m_reason->text().trimmed();
}

} // namespace tenure::ui
