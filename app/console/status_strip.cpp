// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/console/status_strip.h"

#include "ui/charts/freshness_chip.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QHBoxLayout>

namespace tenure::ui
{
namespace
{

constexpr std::size_t kShown = 6;

} // namespace

StatusStrip::StatusStrip(const Theme &theme, const Clock &clock, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_row(new QHBoxLayout(this)),
      m_mode(new QLabel)
{
    m_row->setContentsMargins(theme.unit() * 2, theme.unit() / 2, theme.unit() * 2, theme.unit() / 2);
    m_row->addStretch();
    m_row->addWidget(m_mode);
    connect(&m_timer, &QTimer::timeout, this, &StatusStrip::refresh);
    m_timer.start(std::chrono::milliseconds(500));
    refresh();
}

void StatusStrip::setSessions(const std::vector<Session *> &sessions)
{
    for (QWidget *widget : m_widgets)
        delete widget;
    m_widgets.clear();
    m_parts.clear();
    int at = 0;
    for (Session *session : sessions) {
        auto *name = new QLabel(session->profile().name);
        auto *chip = new FreshnessChip(m_theme, m_clock, this);
        name->setContentsMargins(m_parts.empty() ? 0 : m_theme.unit() * 4, 0, m_theme.unit(), 0);
        m_row->insertWidget(at++, name);
        m_row->insertWidget(at++, chip);
        m_widgets.insert(m_widgets.end(), {name, chip});
        m_parts.push_back({session, chip});
        if (m_parts.size() == kShown)
            break;
    }
    if (sessions.size() > kShown) {
        auto *more = new QLabel(tr("and %1 more").arg(sessions.size() - kShown));
        m_row->insertWidget(at, more);
        m_widgets.push_back(more);
    }
    refresh();
}

void StatusStrip::setWarnings(int count)
{
    m_warnings = count;
    refresh();
}

void StatusStrip::setJournal(const QString &text, const QString &why)
{
    if (text == m_journal)
        return;
    m_journal = text;
    m_mode->setToolTip(why);
    refresh();
}

void StatusStrip::tell(const QString &success)
{
    m_told = success;
    m_toldUntil = m_clock.now() + std::chrono::seconds(5);
    refresh();
}

void StatusStrip::refresh()
{
    QStringList operators;
    QStringList skews;
    for (const Part &part : m_parts) {
        part.chip->setLink(part.session->link());
        if (part.session->gate() && part.session->gate()->operatorTimeLeft())
            operators += part.session->profile().name;
        const auto skew = part.session->link().skew;
        if (skew && (*skew > std::chrono::seconds(2) || *skew < std::chrono::seconds(-2))) {
            skews += tr("this computer's clock is %1 %2 %3, countdowns are not affected")
                         .arg(text(*skew < Duration::zero() ? -*skew : *skew),
                             *skew < Duration::zero() ? tr("ahead of") : tr("behind"),
                             part.session->profile().name);
        }
    }
    QStringList words = skews;
    if (!m_parts.empty())
        words += operators.isEmpty() ? tr("read-only") : tr("OPERATOR on %1").arg(operators.join(QStringLiteral(", ")));
    if (m_warnings > 0)
        words += m_warnings == 1 ? tr("log: 1 warning") : tr("log: %1 warnings").arg(m_warnings);
    if (!m_journal.isEmpty())
        words += m_journal;
    if (m_clock.now() < m_toldUntil)
        words.prepend(m_told);
    m_mode->setText(words.join(QStringLiteral(" · ")));
}

} // namespace tenure::ui
