// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/lease_cards.h"

#include "core/base/text.h"
#include "ui/models/fleet_row.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QCoreApplication>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

QString tr(const char *source)
{
    return QCoreApplication::translate("LeasePage", source);
}

QString sinceText(const LeaseStatus &status, bool fresh, const Clock &clock)
{
    if (status.holderSince == Instant())
        return {};
    const QString when = stampText(wallOf(status.holderSince, clock), clock.wall());
    const QString how = status.holderSinceExact ? tr("since %1") : tr("since %1 or earlier");
    return fresh ? how.arg(when) + QStringLiteral(" (") + ageText(clock.now() - status.holderSince) + QLatin1Char(')')
                 : how.arg(when);
}

QString holderText(const LeaseStatus &status, LeaseState state)
{
    const bool led = state == LeaseState::Held || state == LeaseState::Late || state == LeaseState::Overdue;
    if (led && status.record.holder)
        return shown(*status.record.holder);
    if (state == LeaseState::OperatorHold && status.record.hold)
        return tr("nobody may lead: held by %1").arg(shown(status.record.hold->by));
    std::string last = status.record.holder.value_or(std::string());
    for (auto term = status.terms.rbegin(); last.empty() && term != status.terms.rend(); ++term)
        last = term->holder;
    return last.empty() ? tr("nobody") : tr("was %1").arg(shown(last));
}

QString timingText(const LeaseStatus &status)
{
    QStringList parts;
    if (status.record.ttl)
        parts << tr("ttl %1").arg(text(Duration(*status.record.ttl)));
    if (status.renewInterval)
        parts << tr("renews every %1").arg(text(*status.renewInterval));
    if (!status.renewals.empty())
        parts << tr("least headroom %1 %").arg(static_cast<int>(status.leastHeadroom() * 100));
    if (status.roundTrip >= std::chrono::milliseconds(1))
        parts << tr("read in %1").arg(text(status.roundTrip));
    else if (status.roundTrip > Duration::zero())
        parts << tr("read in under 1 ms");
    return parts.join(QStringLiteral(", "));
}

QString heartbeatText(const LeaseStatus &status)
{
    std::vector<Duration> intervals;
    for (const RenewalSeen &renewal : status.renewals) {
        if (renewal.interval > Duration::zero())
            intervals.push_back(renewal.interval);
    }
    constexpr std::size_t enough = 5;
    if (intervals.size() < enough)
        return tr("not enough history (%1 renewals seen)").arg(status.renewals.size());
    std::sort(intervals.begin(), intervals.end());
    return tr("between renewals: p50 %1, p95 %2, max %3 (n = %4)")
        .arg(text(intervals[intervals.size() / 2]), text(intervals[intervals.size() * 95 / 100]), text(intervals.back()))
        .arg(intervals.size());
}

QString candidatesText(const LeaseStatus &status)
{
    if (status.record.candidates.empty() && status.record.kind == "advisory")
        return tr("Nobody waits in the server's queue.");
    if (status.record.candidates.empty())
        return tr("None seen. This format shows its waiting candidates only if they register.");
    QStringList names;
    for (const std::string &name : status.record.candidates)
        names << shown(name);
    return names.join(QStringLiteral(", "));
}

} // namespace

LeaseTexts leaseTexts(const LeaseStatus &status, const LinkStatus &link, const Clock &clock)
{
    const Instant now = clock.now();
    const LinkState linkState = linkStateAt(link, now);
    const LeaseState state = stateAt(status, linkState, now);
    const bool fresh = isFresh(linkState);
    LeaseTexts out;
    out.state = glyph(state) + QStringLiteral("  ") + word(state);
    out.holder = holderText(status, state);
    out.since = sinceText(status, fresh, clock);
    if (const auto left = remainingAt(status, linkState, now)) {
        const Duration low = std::max(*left - status.uncertainty, Duration::zero());
        out.safety = tr("holds at least %1 more").arg(ageText(low));
        if (status.renewInterval && status.lastRenewalAt != Instant()) {
            const Duration due = status.lastRenewalAt + *status.renewInterval - now;
            out.renewDue = due >= Duration::zero() ? tr("renew due in %1").arg(ageText(due))
                                                   : tr("renew overdue by %1").arg(ageText(-due));
        }
    } else if (!fresh) {
        out.safety = tr("not known: the data is not fresh");
    }
    out.term = status.record.token ? QString::number(status.record.token.value) : tr("none: this format has no fencing token");
    out.changes = tr("%1 seen in this session").arg(status.transitionsSeen);
    if (status.record.transitions)
        out.changes += tr(", %1 by the backend's count").arg(*status.record.transitions);
    if (status.lastGap)
        out.changes += tr(", last gap %1").arg(text(*status.lastGap));
    if (status.record.renewedAt)
        out.claim = tr("%1 by the server").arg(stampText(*status.record.renewedAt, clock.wall()));
    else if (status.lastRenewalAt != Instant())
        out.claim = tr("%1, as seen from here").arg(stampText(wallOf(status.lastRenewalAt, clock), clock.wall()));
    out.timing = timingText(status);
    out.candidates = candidatesText(status);
    out.heartbeat = heartbeatText(status);
    return out;
}

EnvironmentBand::EnvironmentBand(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("environmentBand"));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void EnvironmentBand::set(Surroundings where)
{
    m_where = where;
    setAccessibleName(word(where));
    updateGeometry();
    update();
}

QSize EnvironmentBand::sizeHint() const
{
    const QFontMetrics metrics(m_theme.font(FontRole::Strong));
    return {metrics.horizontalAdvance(word(m_where)) + 8 * m_theme.unit(), metrics.height() + 2 * m_theme.unit()};
}

void EnvironmentBand::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const int unit = m_theme.unit();
    struct Ink {
        Token ground, text;
    };
    const Ink ink = m_where == Surroundings::Production ? Ink{Token::ProdBand, Token::OnProdBand}
        : m_where == Surroundings::Staging             ? Ink{Token::StageBand, Token::OnStageBand}
        : m_where == Surroundings::Sim                 ? Ink{Token::SimBand, Token::OnSimBand}
                                                       : Ink{Token::DevBand, Token::OnDevBand};
    painter.fillRect(rect(), m_theme.color(ink.ground));
    if (m_where == Surroundings::Staging) {
        // Stripes at both ends, the word on plain ground.
        for (const int left : {0, width() - 3 * unit})
            painter.fillRect(QRect(left, 0, 3 * unit, height()), QBrush(m_theme.color(ink.text), Qt::BDiagPattern));
    }
    painter.setFont(m_theme.font(FontRole::Strong));
    painter.setPen(m_theme.color(ink.text));
    painter.drawText(rect(), Qt::AlignCenter, word(m_where));
    if (m_where == Surroundings::Sim) {
        painter.setPen(QPen(m_theme.color(ink.text), 1));
        painter.drawRect(rect().adjusted(2, 2, -3, -3));
    }
}

Card::Card(const Theme &theme, const QString &title, QWidget *parent)
    : QFrame(parent), m_title(new QLabel(title, this)), m_body(new QVBoxLayout)
{
    setProperty("card", true);
    const int unit = theme.unit();
    useFont(m_title, theme, FontRole::Small);
    m_title->setProperty("role", QStringLiteral("caption"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(4 * unit, 3 * unit, 4 * unit, 3 * unit);
    column->setSpacing(2 * unit);
    column->addWidget(m_title);
    m_body->setSpacing(unit);
    column->addLayout(m_body, 1);
}

void Card::setTitle(const QString &title)
{
    m_title->setText(title);
}

QLabel *Card::addLine(const QString &objectName)
{
    auto *label = new QLabel(this);
    label->setObjectName(objectName);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    m_body->addWidget(label);
    return label;
}

} // namespace tenure::ui
