// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/place_card.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/copy_as.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace tenure::ui
{

std::vector<RecordFact> placeOf(const LeaseStatus &status, const ConnectionInfo &connection)
{
    std::vector<RecordFact> facts = status.record.facts;
    if (facts.empty() && status.record.kind == "tenure" && isPostgres(connection)) {
        facts.push_back({"table", ownTable(connection).toStdString()});
        facts.push_back({"sql", psqlStatement(status, connection).toStdString()});
    }
    return facts;
}

PlaceCard::PlaceCard(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_card = new Card(theme, tr("IN THE STORE"), this);
    column->addWidget(m_card);
    m_grid = new QGridLayout;
    m_grid->setHorizontalSpacing(4 * theme.unit());
    m_grid->setVerticalSpacing(theme.unit());
    m_grid->setColumnStretch(1, 1);
    m_card->body()->addLayout(m_grid);
    hide();
}

void PlaceCard::setLease(const LeaseStatus &status, const ConnectionInfo &connection)
{
    std::vector<RecordFact> facts = placeOf(status, connection);
    setVisible(!facts.empty());
    m_card->setTitle(isPostgres(connection) ? tr("IN POSTGRESQL") : tr("IN THE STORE"));
    if (facts == m_shown)
        return;
    m_shown = std::move(facts);
    while (m_lines.size() < m_shown.size()) {
        const int row = static_cast<int>(m_lines.size());
        auto *name = new QLabel(m_card);
        name->setProperty("role", QStringLiteral("caption"));
        name->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        auto *value = new QLabel(m_card);
        value->setObjectName(QStringLiteral("leasePlace%1").arg(row));
        value->setTextFormat(Qt::PlainText);
        value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        value->setWordWrap(true);
        value->setFont(m_theme.font(FontRole::Number));
        m_grid->addWidget(name, row, 0);
        m_grid->addWidget(value, row, 1);
        m_lines.push_back({name, value});
    }
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const bool used = i < m_shown.size();
        m_lines[i].name->setVisible(used);
        m_lines[i].value->setVisible(used);
        if (!used)
            continue;
        QString name = shown(m_shown[i].name);
        name.replace(0, 1, name.left(1).toUpper());
        m_lines[i].name->setText(name == QLatin1String("Sql") ? QStringLiteral("SQL") : name);
        const bool code = m_shown[i].name == "sql";
        m_lines[i].value->setFont(m_theme.font(code ? FontRole::Mono : FontRole::Number));
        m_lines[i].value->setText(shown(m_shown[i].value));
    }
}

} // namespace tenure::ui
