// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/aside_panel.h"

#include "core/base/text.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/lease_cards.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace tenure::ui
{

RightsLine::RightsLine(const Theme &theme, QWidget *parent) : QWidget(parent), m_text(new QLabel(this))
{
    m_text->setObjectName(QStringLiteral("missingRights"));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setProperty("role", QStringLiteral("warn"));
    auto *copy = new QPushButton(tr("Copy for admin"), this);
    copy->setObjectName(QStringLiteral("copyForAdmin"));
    copy->setToolTip(tr("What is missing, for whom, and the commands that give it"));
    connect(copy, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(m_forAdmin);
        Q_EMIT told(tr("Copied: what an administrator needs to give the right."));
    });
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(3 * theme.unit());
    row->addWidget(m_text);
    row->addWidget(copy);
    row->addStretch(1);
    hide();
}

void RightsLine::set(const MissingRights &missing)
{
    m_forAdmin = QString::fromStdString(missing.forAdmin);
    m_text->setText(tr("\u26A0  Release is not possible: %1").arg(shown(missing.what)));
    setVisible(!missing.what.empty());
}

BackendEvents::BackendEvents(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_card(new Card(theme, tr("EVENTS OF THE CLUSTER    kept there for about an hour"), this)),
      m_why(m_card->addLine(QStringLiteral("clusterEventsWhy"))), m_grid(new QGridLayout)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_card);
    m_why->setProperty("role", QStringLiteral("caption"));
    m_grid->setHorizontalSpacing(4 * theme.unit());
    m_grid->setVerticalSpacing(theme.unit());
    m_grid->setColumnStretch(1, 1);
    m_card->body()->addLayout(m_grid);
    hide();
}

void BackendEvents::set(const LeaseAside &aside, WallTime now)
{
    setVisible(!aside.events.empty() || !aside.noEvents.empty());
    if (aside == m_shown)
        return;
    m_shown = aside;
    m_why->setText(tr("Not to be seen: %1").arg(shown(aside.noEvents)));
    m_why->setVisible(!aside.noEvents.empty());
    while (m_lines.size() < aside.events.size()) {
        const int row = static_cast<int>(m_lines.size());
        std::array<QLabel *, 3> line{};
        for (int column = 0; column < 3; ++column) {
            auto *label = new QLabel(m_card);
            label->setObjectName(QStringLiteral("clusterEvent%1_%2").arg(row).arg(column));
            label->setTextFormat(Qt::PlainText);
            label->setTextInteractionFlags(Qt::TextSelectableByMouse);
            label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
            label->setWordWrap(column == 1);
            label->setFont(m_theme.font(column == 0 ? FontRole::Number : FontRole::Body));
            if (column != 1)
                label->setProperty("role", QStringLiteral("caption"));
            m_grid->addWidget(label, row, column);
            line[static_cast<std::size_t>(column)] = label;
        }
        m_lines.push_back(line);
    }
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const bool used = i < aside.events.size();
        for (QLabel *label : m_lines[i])
            label->setVisible(used);
        if (!used)
            continue;
        const BackendEvent &event = aside.events[i];
        m_lines[i][0]->setText(event.at ? stampText(*event.at, now) : tr("no time"));
        m_lines[i][1]->setText(shown(event.text));
        m_lines[i][2]->setText(shown(event.by));
    }
}

} // namespace tenure::ui
