// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pinned_band.h"

#include "ui/theme/theme.h"
#include "ui/theme/words.h"

#include <QAbstractButton>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{

/// One line of the band: state, lease, what is wrong, since when.
class PinnedRow final : public QAbstractButton
{
public:
    PinnedRow(const Theme &theme, QWidget *parent) : QAbstractButton(parent), m_theme(theme)
    {
        setFocusPolicy(Qt::TabFocus);
        setCursor(Qt::PointingHandCursor);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }

    void fill(const FleetModel &model, const FleetRow &row)
    {
        const LeaseStatus *status = model.status(row);
        const LinkState link = model.link(row);
        const Instant now = model.now();
        const QString connection = model.connection(row).name;
        key = {model.connection(row).id, row.lease};
        const bool onlyChurn = row.churning && !isAbnormal(row.state);
        m_ink = onlyChurn ? Token::Warn : token(row.state);
        m_state = onlyChurn ? churnGlyph() + QStringLiteral("  CHURN") : glyph(row.state) + QStringLiteral("  ") + word(row.state);
        m_name = row.name;
        m_where = connection;
        m_holder = cellText(row, status, FleetColumn::Holder, connection, link, now);
        m_age = onlyChurn && status != nullptr
            ? tr("%1 changes in 10 min").arg(status->transitionsSince(now - std::chrono::minutes(10)))
            : tr("since %1").arg(cellText(row, status, FleetColumn::HeldFor, connection, link, now));
        if (row.state == LeaseState::Late || row.state == LeaseState::Overdue)
            m_age = tr("%1 left").arg(cellText(row, status, FleetColumn::Left, connection, link, now));
        const QString sentence = rowSentence(row, status, connection, link, now);
        setAccessibleName(sentence);
        setToolTip(status == nullptr ? sentence : ui::text(explainState(*status, link, now)));
        update();
    }
    QSize sizeHint() const override { return {60 * m_theme.unit(), m_theme.rowHeight()}; }
    FleetKey key;

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        const int unit = m_theme.unit();
        if (underMouse())
            painter.fillRect(rect(), m_theme.color(Token::Alt));
        painter.fillRect(QRect(0, 2, unit, height() - 4), m_theme.color(m_ink));
        const int stateWidth = 30 * unit;
        const int ageWidth = 44 * unit;
        const int rest = width() - stateWidth - ageWidth - 6 * unit;
        int x = 3 * unit;
        const auto cell = [&](const QString &label, int cellWidth, FontRole role, Token ink, Qt::Alignment align) {
            painter.setFont(m_theme.font(role));
            painter.setPen(m_theme.color(ink));
            painter.drawText(QRect(x, 0, cellWidth - 2 * unit, height()), align | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(label, Qt::ElideMiddle, cellWidth - 2 * unit));
            x += cellWidth;
        };
        cell(m_state, stateWidth, FontRole::Strong, m_ink, Qt::AlignLeft);
        cell(m_name, rest * 45 / 100, FontRole::Strong, Token::Text, Qt::AlignLeft);
        cell(m_where, rest * 20 / 100, FontRole::Body, Token::Muted, Qt::AlignLeft);
        cell(m_holder, rest * 35 / 100, FontRole::Body, Token::Muted, Qt::AlignLeft);
        cell(m_age, ageWidth, FontRole::Number, Token::Text, Qt::AlignRight);
        if (hasFocus()) {
            painter.setPen(QPen(m_theme.color(Token::Info), 2));
            painter.drawRect(rect().adjusted(1, 1, -1, -1));
        }
    }

private:
    const Theme &m_theme;
    Token m_ink = Token::Text;
    QString m_state, m_name, m_where, m_holder, m_age;
};

PinnedBand::PinnedBand(const Theme &theme, const Clock &, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_more(new QPushButton(this))
{
    setObjectName(QStringLiteral("pinnedBand"));
    setAccessibleName(tr("Abnormal leases"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (std::size_t i = 0; i < kMost + kMostPins; ++i) {
        auto *row = new PinnedRow(theme, this);
        row->setObjectName(QStringLiteral("pinnedRow%1").arg(i));
        column->addWidget(row);
        connect(row, &QAbstractButton::clicked, this, [this, row] { Q_EMIT activated(row->key); });
        m_rows.push_back(row);
    }
    m_more->setObjectName(QStringLiteral("pinnedMore"));
    m_more->setProperty("quiet", true);
    column->addWidget(m_more, 0, Qt::AlignLeft);
    column->addSpacing(2 * theme.unit());
    connect(m_more, &QAbstractButton::clicked, this, &PinnedBand::restAsked);
    setVisible(false);
}

void PinnedBand::show(const FleetModel &model)
{
    std::size_t total = 0;
    const auto worst = model.worst(kMost, &total);
    std::vector<const FleetRow *> pinned = model.find(m_pins);
    std::erase_if(pinned, [&](const FleetRow *pin) { return std::find(worst.begin(), worst.end(), pin) != worst.end(); });
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const std::size_t pin = i - std::min(i, kMost);
        const FleetRow *row = i < kMost ? (i < worst.size() ? worst[i] : nullptr)
                                        : (pin < pinned.size() ? pinned[pin] : nullptr);
        m_rows[i]->setVisible(row != nullptr);
        if (row != nullptr)
            m_rows[i]->fill(model, *row);
    }
    m_more->setVisible(total > worst.size());
    m_more->setText(tr("and %1 more").arg(total - worst.size()));
    setVisible(total > 0 || !pinned.empty());
}

void PinnedBand::setPins(const std::vector<PinnedLease> &pins)
{
    m_pins.clear();
    for (const PinnedLease &pin : pins)
        m_pins.emplace_back(pin.connection, pin.lease.toStdString());
}

} // namespace tenure::ui
