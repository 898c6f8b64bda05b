// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/lease_page.h"

#include "core/backend/store.h"
#include "core/base/text.h"
#include "ui/charts/freshness_chip.h"
#include "ui/charts/heartbeat_strip.h"
#include "ui/charts/ttl_ring.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/aside_panel.h"
#include "ui/views/copy_as.h"
#include "ui/views/events_view.h"
#include "ui/views/health_panel.h"
#include "ui/views/lease_cards.h"
#include "ui/views/place_card.h"
#include "ui/views/terms_panel.h"

#include <QAction>
#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

/// A name of 500 bytes must not widen the page: labels elide by hand and keep all in the tooltip.
void setElided(QLabel *label, const QString &full, int width)
{
    label->setText(label->fontMetrics().elidedText(full, Qt::ElideMiddle, width));
    label->setToolTip(full);
}

} // namespace

LeasePage::LeasePage(const Theme &theme, const Clock &clock, LeaseSource *source, LeaseId lease, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_clock(clock), m_source(source), m_connection(source->connection()),
      m_lease(std::move(lease))
{
    setObjectName(QStringLiteral("leasePage"));
    const int unit = theme.unit();
    QWidget *header = makeHeader();
    auto *area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    m_content = new QWidget(area);
    auto *details = new QVBoxLayout(m_content);
    details->setContentsMargins(4 * unit, 0, 4 * unit, 4 * unit);
    details->setSpacing(3 * unit);
    details->addWidget(makeCards());
    makeDetails(*details);
    area->setWidget(m_content);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3 * unit);
    column->addWidget(header);
    column->addWidget(area, 1);

    connect(source, &LeaseSource::leasesChanged, this, [this](const std::vector<LeaseId> &ids) {
        if (std::find(ids.begin(), ids.end(), m_lease) != ids.end())
            refresh();
    });
    connect(source, &LeaseSource::leasesRemoved, this, &LeasePage::refresh);
    connect(source, &LeaseSource::wasReset, this, &LeasePage::refresh);
    connect(source, &LeaseSource::linkChanged, this, &LeasePage::refresh);
    connect(source, &LeaseSource::asideChanged, this, &LeasePage::refresh);
    connect(source, &QObject::destroyed, this, &LeasePage::detach);
    connect(&m_timer, &QTimer::timeout, this, &LeasePage::refresh);
    connect(&theme, &Theme::changed, this, &LeasePage::refresh);
    makeKeys();
    refresh();
}

void LeasePage::detach()
{
    if (m_source == nullptr)
        return;
    disconnect(m_source, nullptr, this, nullptr);
    m_source = nullptr;
    refresh();
}

QWidget *LeasePage::makeHeader()
{
    const int unit = m_theme.unit();
    auto *header = new QWidget(this);
    m_band = new EnvironmentBand(m_theme, header);
    m_band->set(m_connection.where);
    m_title = new QLabel(header);
    m_title->setObjectName(QStringLiteral("leaseTitle"));
    useFont(m_title, m_theme, FontRole::Title);
    m_title->setTextFormat(Qt::PlainText);
    m_title->setMinimumWidth(20 * unit);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_freshness = new FreshnessChip(m_theme, m_clock, header);
    m_raw = new QPushButton(tr("Raw"), header);
    m_raw->setObjectName(QStringLiteral("leaseRaw"));
    m_raw->setCheckable(true);
    m_raw->setShortcut(QKeySequence(Qt::Key_R));
    m_raw->setToolTip(tr("The record as it is stored (R)"));
    m_copy = new QPushButton(tr("Copy as"), header);
    m_copy->setObjectName(QStringLiteral("leaseCopyAs"));
    makeCopyMenu();
    m_release = new QPushButton(tr("Release\u2026"), header);
    m_release->setObjectName(QStringLiteral("leaseRelease"));
    m_release->setProperty("danger", true);
    connect(m_release, &QPushButton::clicked, this, [this] { Q_EMIT releaseRequested(m_connection.id, m_lease); });
    m_state = new QLabel(header);
    m_state->setObjectName(QStringLiteral("leaseState"));
    useFont(m_state, m_theme, FontRole::Title);
    m_explanation = new QLabel(header);
    m_explanation->setObjectName(QStringLiteral("leaseExplanation"));
    m_explanation->setTextFormat(Qt::PlainText);
    m_explanation->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_explanation->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);

    auto *first = new QHBoxLayout;
    first->setSpacing(2 * unit);
    first->addWidget(m_band);
    first->addSpacing(unit);
    first->addWidget(m_title, 1);
    first->addWidget(m_freshness);
    first->addSpacing(unit);
    first->addWidget(m_raw);
    first->addWidget(m_copy);
    first->addWidget(m_release);
    auto *second = new QHBoxLayout;
    second->setSpacing(4 * unit);
    second->addWidget(m_state);
    second->addWidget(m_explanation, 1);
    auto *column = new QVBoxLayout(header);
    column->setContentsMargins(4 * unit, 3 * unit, 4 * unit, 0);
    column->setSpacing(2 * unit);
    m_rights = new RightsLine(m_theme, header);
    connect(m_rights, &RightsLine::told, this, &LeasePage::told);
    column->addLayout(first);
    column->addLayout(second);
    column->addWidget(m_rights);
    return header;
}

void LeasePage::makeCopyMenu()
{
    auto *menu = new QMenu(m_copy);
    for (const CopyFormat format : {CopyFormat::Name, CopyFormat::Tenurectl, CopyFormat::RedisCli, CopyFormat::Psql, CopyFormat::Kubectl, CopyFormat::Json,
             CopyFormat::Markdown}) {
        if (format == CopyFormat::RedisCli && !m_connection.url.startsWith(QLatin1String("redis")))
            continue;
        if (format == CopyFormat::Kubectl && !isKubernetes(m_connection))
            continue;
        if (format == CopyFormat::Psql && !isPostgres(m_connection))
            continue;
        connect(menu->addAction(title(format)), &QAction::triggered, this, [this, format] {
            copy(static_cast<int>(format));
        });
    }
    m_copy->setMenu(menu);
}

void LeasePage::copy(int format)
{
    const LeaseStatus *status = m_source == nullptr ? nullptr : m_source->find(m_lease);
    if (status == nullptr)
        return;
    const auto wanted = static_cast<CopyFormat>(format);
    QGuiApplication::clipboard()->setText(copyAs(wanted, *status, m_connection, m_source->link(), m_clock));
    Q_EMIT told(tr("Copied: %1.").arg(title(wanted)));
}

void LeasePage::makeKeys()
{
    const auto key = [this](const QKeySequence &keys, const QString &name, auto act) {
        auto *action = new QAction(name, this);
        action->setShortcut(keys); // of the window: hidden pages do not listen
        connect(action, &QAction::triggered, this, act);
        addAction(action);
    };
    key(Qt::Key_C, tr("Copy name"), [this] { copy(static_cast<int>(CopyFormat::Name)); });
    key(Qt::SHIFT | Qt::Key_C, tr("Copy as command"), [this] { copy(static_cast<int>(CopyFormat::Tenurectl)); });
    key(Qt::Key_P, tr("Pin or unpin"), [this] { Q_EMIT pinAsked(m_connection.name, QByteArray::fromStdString(m_lease.name())); });
}

void LeasePage::setHistory(History *history, const std::string &journalId)
{
    m_terms->setHistory(history, journalId);
    m_health->setHistory(history, journalId);
}

/// A backend that restarted may have forgotten a lease that somebody still believes in.
QString LeasePage::restartText(const LeaseStatus &status)
{
    const std::string &epoch = m_source->link().epoch;
    if (!epoch.empty() && epoch != m_epoch) {
        if (!m_epoch.empty())
            m_restarted = m_clock.now();
        m_epoch = epoch;
    }
    const Duration ttl = status.usualTtl.value_or(Duration(status.record.ttl.value_or(15000ms)));
    const Duration barred = ttl + 1s;
    if (!m_restarted || m_clock.now() - *m_restarted > barred)
        return {};
    return tr("The backend restarted %1 ago and may have forgotten a lease that somebody still believes in: for one ttl and "
              "a second (%2) candidates of Tenure are granted no new term.")
        .arg(text(m_clock.now() - *m_restarted), text(barred));
}

void LeasePage::addFact(QGridLayout &grid, int row, const QString &name, QLabel *&value, const QString &objectName)
{
    auto *caption = new QLabel(name);
    caption->setProperty("role", QStringLiteral("caption"));
    caption->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    value = new QLabel;
    value->setObjectName(objectName);
    value->setTextFormat(Qt::PlainText);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setWordWrap(true);
    useFont(value, m_theme, FontRole::Number);
    grid.addWidget(caption, row, 0);
    grid.addWidget(value, row, 1);
}

QWidget *LeasePage::makeCards()
{
    const int unit = m_theme.unit();
    auto *cards = new QWidget(m_content);
    auto *holder = new Card(m_theme, tr("HOLDER"), cards);
    m_holder = holder->addLine(QStringLiteral("leaseHolder"));
    useFont(m_holder, m_theme, FontRole::Title);
    m_holder->setWordWrap(false);
    m_holder->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_since = holder->addLine(QStringLiteral("leaseSince"));
    m_note = holder->addLine(QStringLiteral("leaseNote"));
    m_note->setProperty("role", QStringLiteral("warn"));
    holder->body()->addStretch(1);

    auto *ttl = new Card(m_theme, tr("TIME LEFT"), cards);
    m_ring = new TtlRing(m_theme, m_clock, ttl);
    auto *beside = new QVBoxLayout;
    auto *row = new QHBoxLayout;
    row->setSpacing(4 * unit);
    row->addWidget(m_ring);
    m_safety = new QLabel(ttl);
    m_safety->setObjectName(QStringLiteral("leaseSafety"));
    m_renewDue = new QLabel(ttl);
    m_renewDue->setObjectName(QStringLiteral("leaseRenewDue"));
    for (QLabel *label : {m_safety, m_renewDue}) {
        useFont(label, m_theme, FontRole::Number);
        label->setMinimumWidth(34 * unit);
        label->setWordWrap(true);
    }
    beside->addStretch(1);
    beside->addWidget(m_safety);
    beside->addWidget(m_renewDue);
    beside->addStretch(1);
    row->addLayout(beside, 1);
    ttl->body()->addLayout(row);
    ttl->body()->addStretch(1);

    auto *identity = new Card(m_theme, tr("IDENTITY AND TIMING"), cards);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(4 * unit);
    grid->setVerticalSpacing(unit);
    grid->setColumnStretch(1, 1);
    addFact(*grid, 0, tr("Term (token)"), m_term, QStringLiteral("leaseTerm"));
    addFact(*grid, 1, tr("Changes"), m_changes, QStringLiteral("leaseChanges"));
    addFact(*grid, 2, tr("Renewed"), m_claim, QStringLiteral("leaseClaim"));
    addFact(*grid, 3, tr("Timing"), m_timing, QStringLiteral("leaseTiming"));
    addFact(*grid, 4, tr("Format"), m_kind, QStringLiteral("leaseKind"));
    identity->body()->addLayout(grid);
    identity->body()->addStretch(1);

    auto *line = new QHBoxLayout(cards);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(3 * unit);
    line->addWidget(holder, 3);
    line->addWidget(ttl, 2);
    line->addWidget(identity, 4);
    return cards;
}

void LeasePage::makeDetails(QVBoxLayout &column)
{
    const int unit = m_theme.unit();
    m_rawCard = new Card(m_theme, tr("RAW RECORD"), m_content);
    m_rawText = new QPlainTextEdit(m_rawCard);
    m_rawText->setObjectName(QStringLiteral("leaseRawText"));
    m_rawText->setReadOnly(true);
    useFont(m_rawText, m_theme, FontRole::Mono);
    m_rawText->setFixedHeight(30 * unit);
    m_rawCard->body()->addWidget(m_rawText);
    m_rawCard->hide();
    connect(m_raw, &QPushButton::toggled, m_rawCard, &QWidget::setVisible);

    auto *heartbeat = new Card(m_theme, tr("RENEW HEARTBEAT, LAST 60    tick = renewal, short = late, gap = missed"), m_content);
    m_heartbeat = new HeartbeatStrip(m_theme, m_clock, heartbeat);
    heartbeat->body()->addWidget(m_heartbeat);
    m_beats = heartbeat->addLine(QStringLiteral("leaseBeats"));
    m_beats->setProperty("role", QStringLiteral("caption"));

    m_candidatesCard = new Card(m_theme, tr("CANDIDATES"), m_content);
    m_candidates = m_candidatesCard->addLine(QStringLiteral("leaseCandidates"));

    auto *terms = new Card(m_theme, tr("TERMS    drag to pan, wheel to zoom, Shift and drag to select    \u25C6 operator   \u25B2 alert   hatched: no leader   dotted: not observed"), m_content);
    m_terms = new TermsPanel(m_theme, m_clock, m_connection, m_lease, terms);
    connect(m_terms, &TermsPanel::problem, this, &LeasePage::problem);
    connect(m_terms, &TermsPanel::told, this, &LeasePage::told);
    terms->body()->addWidget(m_terms);

    auto *health = new Card(m_theme, tr("HEALTH"), m_content);
    m_health = new HealthPanel(m_theme, m_clock, m_lease, health);
    health->body()->addWidget(m_health);

    auto *events = new Card(m_theme, tr("EVENTS OF THIS LEASE"), m_content);
    m_events = new EventsView(m_theme, m_clock, m_lease, events);
    m_events->setMinimumHeight(7 * m_theme.rowHeight());
    m_events->addSource(m_source);
    events->body()->addWidget(m_events);

    m_place = new PlaceCard(m_theme, m_content);
    m_backendEvents = new BackendEvents(m_theme, m_content);
    column.addWidget(m_rawCard);
    column.addWidget(m_place);
    column.addWidget(m_backendEvents);
    column.addWidget(heartbeat);
    column.addWidget(m_candidatesCard);
    column.addWidget(terms);
    column.addWidget(health);
    column.addWidget(events, 1);
}

QString LeasePage::whyNoRelease() const
{
    if (m_source == nullptr)
        return tr("Disabled: the connection is closed.");
    const LinkStatus &link = m_source->link();
    const LinkState state = linkStateAt(link, m_clock.now());
    const LeaseStatus *status = m_source->find(m_lease);
    if (status == nullptr)
        return tr("Disabled: this lease is not there any more.");
    if (state == LinkState::Denied)
        return tr("Disabled: this connection has no right to it. %1").arg(link.error ? shown(link.error->text()) : QString());
    if (!isFresh(state))
        return tr("Disabled: the data is %1 old. Release needs fresh data.").arg(text(m_clock.now() - link.lastProof));
    const StoreTraits *traits = m_source->traits();
    if (traits == nullptr || !(traits->canAsk || traits->canHold || traits->canClear))
        return tr("Disabled: this backend cannot release by hand.");
    if (const LeaseAside *aside = m_source->aside(m_lease); aside != nullptr && !aside->release.what.empty())
        return tr("Disabled: %1").arg(shown(aside->release.what));
    if (!status->record.holder)
        return tr("Disabled: nobody holds it.");
    if (!m_source->canWrite())
        return tr("Read-only. Switch %1 to operator mode first.").arg(m_connection.name);
    return {};
}

void LeasePage::refresh()
{
    setElided(m_title, m_connection.name + QStringLiteral("  /  ") + shown(m_lease.name()), std::max(m_title->width(), 80 * m_theme.unit()));
    const QString why = whyNoRelease();
    m_release->setEnabled(why.isEmpty());
    m_release->setToolTip(why.isEmpty() ? tr("End the present holder's term, with a check first") : why);
    if (m_source != nullptr)
        m_freshness->setLink(m_source->link());
    const LeaseStatus *status = m_source == nullptr ? nullptr : m_source->find(m_lease);
    m_content->setEnabled(status != nullptr);
    if (status != nullptr) {
        fill(*status);
        return;
    }
    m_state->setText(glyph(LeaseState::Unknown) + QStringLiteral("  ") + word(LeaseState::Unknown));
    m_explanation->setText(m_source == nullptr ? tr("The connection is closed. What stands below is the last that was seen.")
                                               : tr("The backend shows no such lease. What stands below is the last that was seen."));
}

void LeasePage::fill(const LeaseStatus &status)
{
    const LinkStatus &link = m_source->link();
    const LinkState linkState = linkStateAt(link, m_clock.now());
    const LeaseState state = stateAt(status, linkState, m_clock.now());
    const LeaseTexts texts = leaseTexts(status, link, m_clock);
    const auto ink = [&](QLabel *label, Token token) {
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, m_theme.color(token));
        label->setPalette(palette);
    };
    m_state->setText(texts.state + (status.churning ? QStringLiteral("  ") + churnGlyph() + QStringLiteral(" CHURN") : QString()));
    ink(m_state, token(state));
    // The word stands beside it already.
    QString why = text(explainState(status, linkState, m_clock.now()));
    if (why.startsWith(word(state)))
        why = why.mid(word(state).size() + (why.startsWith(word(state) + QLatin1Char(':')) ? 1 : 0)).trimmed();
    setElided(m_explanation, why, std::max(m_explanation->width(), 60 * m_theme.unit()));
    setElided(m_holder, texts.holder, std::max(m_holder->width(), 40 * m_theme.unit()));
    ink(m_holder, isFresh(linkState) && status.record.holder ? Token::Text : Token::Muted);
    m_since->setText(texts.since);
    QStringList notes;
    for (const QString &note : {shown(status.record.note), restartText(status)}) {
        if (!note.isEmpty())
            notes << note;
    }
    m_note->setText(notes.join(QLatin1Char('\n')));
    m_note->setVisible(!notes.empty());
    m_safety->setText(texts.safety);
    m_renewDue->setText(texts.renewDue);
    m_term->setText(texts.term);
    m_changes->setText(texts.changes);
    m_claim->setText(texts.claim);
    m_timing->setText(texts.timing);
    m_kind->setText(shown(status.record.kind));
    m_candidatesCard->setTitle(tr("CANDIDATES %1").arg(status.record.candidates.size()));
    m_candidates->setText(texts.candidates);
    m_beats->setText(texts.heartbeat);
    const QString raw = text(std::string_view(printable(status.record.raw, 16384)));
    if (raw != m_rawText->toPlainText())
        m_rawText->setPlainText(raw);
    m_place->setLease(status, m_connection);
    m_ring->setLease(status, link);
    m_heartbeat->setLease(status);
    m_terms->setLease(status);
    m_health->setLease(status);
    if (isVisible())
        m_source->askAside(m_lease);
    showAside();
}

void LeasePage::showAside()
{
    const LeaseAside *aside = m_source->aside(m_lease);
    m_rights->set(aside != nullptr ? aside->release : MissingRights());
    m_backendEvents->set(aside != nullptr ? *aside : LeaseAside(), m_clock.wall());
}

void LeasePage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_source != nullptr)
        m_source->focus(m_lease);
    m_timer.start(500ms);
    refresh();
}

void LeasePage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

} // namespace tenure::ui
