// SPDX-License-Identifier: GPL-3.0-or-later
// What one does with the fleet besides looking: views, export, copying, pinning.
#include "ui/views/fleet_view.h"

#include "core/base/time_text.h"
#include "ui/bridge/save_file.h"
#include "ui/models/fleet_export.h"
#include "ui/settings/settings_store.h"
#include "ui/theme/theme.h"
#include "ui/theme/words.h"
#include "ui/views/copy_as.h"
#include "ui/views/fleet_bar.h"
#include "ui/views/fleet_table.h"
#include "ui/views/group_panel.h"
#include "ui/views/pinned_band.h"
#include "ui/views/tile_wall.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace tenure::ui
{

QWidget *FleetView::makeTablePage()
{
    auto *page = new QWidget(this);
    auto *row = new QHBoxLayout(page);
    row->setContentsMargins({});
    row->setSpacing(1);
    m_groups = new GroupPanel(m_theme, page);
    row->addWidget(m_groups);
    row->addWidget(m_table, 1);
    connect(m_groups, &GroupPanel::groupPicked, this, [this](int first) {
        m_table->setCurrentIndex(m_model->index(first, 0));
        m_table->scrollTo(m_model->index(first, 0), QAbstractItemView::PositionAtTop);
    });
    return page;
}

QWidget *FleetView::makeTilePage()
{
    const int unit = m_theme.unit();
    auto *page = new QWidget(this);
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins({});
    column->setSpacing(0);
    column->addWidget(m_tiles, 1);
    auto *legend = new QLabel(tr("Full: held   Half: late   Quarter: overdue   Triangle: nobody leads   Stripes: "
                                 "churn   Frame: operator hold   Hatched: unknown   Pale: hidden by the filter"), page);
    legend->setProperty("role", QStringLiteral("caption"));
    legend->setWordWrap(true);
    m_tileText = new QLabel(page);
    m_tileText->setObjectName(QStringLiteral("tileText"));
    m_tileText->setTextFormat(Qt::PlainText);
    auto *open = new QPushButton(tr("Open"), page);
    open->setObjectName(QStringLiteral("tileOpen"));
    auto *line = new QHBoxLayout;
    line->setContentsMargins(4 * unit, unit, 4 * unit, unit);
    line->setSpacing(3 * unit);
    line->addWidget(legend, 3);
    line->addWidget(m_tileText, 2);
    line->addWidget(open);
    column->addLayout(line);
    connect(m_tiles, &TileWall::currentChanged, this, &FleetView::showTile);
    connect(m_tiles, &TileWall::activated, this, &FleetView::activate);
    connect(open, &QPushButton::clicked, this, [this] {
        if (const auto key = m_tiles->current())
            activate(*key);
    });
    return page;
}

void FleetView::makeBar()
{
    connect(m_bar, &FleetBar::groupPicked, this, &FleetView::setGroup);
    connect(m_bar, &FleetBar::tilesPicked, this, &FleetView::setTiles);
    connect(m_bar, &FleetBar::pitchPicked, m_tiles, &TileWall::setPitch);
    connect(m_bar, &FleetBar::resortAsked, m_model, &FleetModel::resort);
    connect(m_bar, &FleetBar::exportAsked, this, [this](FleetBar::Format format) { askFile(static_cast<int>(format)); });
    connect(m_bar, &FleetBar::saveViewAsked, this, &FleetView::askViewName);
    connect(m_bar, &FleetBar::viewPicked, this, [this](const QString &name) {
        for (const SavedView &view : std::vector(m_store->now().views)) {
            if (view.name == name)
                showView(view);
        }
    });
    connect(m_bar, &FleetBar::removeViewAsked, this, [this](const QString &name) {
        m_store->change([&](Settings &settings) {
            std::erase_if(settings.views, [&](const SavedView &view) { return view.name == name; });
        });
    });
}

void FleetView::setStore(SettingsStore &store)
{
    m_store = &store;
    m_bar->setStore(&store);
    const auto pins = [this] {
        m_pinned->setPins(m_store->now().pins);
        updateSummary();
    };
    connect(&store, &SettingsStore::changed, this, pins);
    pins();
}

void FleetView::setTiles(bool tiles)
{
    m_bar->setTiles(tiles);
    if (tiles && m_table->current())
        m_tiles->setCurrent(*m_table->current());
    updateSummary();
    if (tiles)
        m_tiles->setFocus();
}

void FleetView::setGroup(FleetGroup group)
{
    m_bar->setGroup(group);
    m_model->setGroup(group);
}

std::optional<FleetKey> FleetView::current() const
{
    return m_bar->tiles() ? m_tiles->current() : m_table->current();
}

void FleetView::showTile()
{
    const QString sentence = m_tiles->sentence();
    m_tileText->setText(m_tileText->fontMetrics().elidedText(sentence, Qt::ElideMiddle, std::max(m_tileText->width(), 60 * m_theme.unit())));
    m_tileText->setToolTip(sentence);
}

SavedView FleetView::view(const QString &name) const
{
    return {name, m_filter->text(), groupWord(m_bar->group()), m_bar->tiles()};
}

void FleetView::showView(const SavedView &view)
{
    setFilter(view.filter);
    setGroup(groupFromWord(view.group));
    setTiles(view.tiles);
}

void FleetView::askViewName()
{
    if (m_store == nullptr)
        return;
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save this view"));
    dialog->setLabelText(tr("Filter, grouping and table or tiles are kept under this name:"));
    dialog->setTextValue(m_filter->text());
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString &typed) {
        const QString name = typed.trimmed();
        if (name.isEmpty())
            return;
        m_store->change([&](Settings &settings) {
            std::erase_if(settings.views, [&](const SavedView &view) { return view.name == name; });
            settings.views.push_back(view(name));
        });
    });
    dialog->open();
}

void FleetView::askExport()
{
    m_bar->popupExport();
}

void FleetView::askFile(int format)
{
    const bool png = format == static_cast<int>(FleetBar::Format::Png);
    const bool csv = format == static_cast<int>(FleetBar::Format::Csv);
    const QString suffix = csv ? QStringLiteral("csv") : png ? QStringLiteral("png") : QStringLiteral("json");
    auto *dialog = new QFileDialog(this, tr("Export the fleet"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(QStringLiteral("fleet.") + suffix);
    connect(dialog, &QFileDialog::fileSelected, this, [this, format](const QString &path) { exportTo(format, path); });
    dialog->open();
}

void FleetView::exportTo(int format, const QString &path)
{
    QByteArray bytes;
    switch (static_cast<FleetBar::Format>(format)) {
    case FleetBar::Format::Csv:
        bytes = fleetCsv(*m_model, m_model->clock());
        break;
    case FleetBar::Format::Json:
        bytes = fleetJson(*m_model, m_model->clock());
        break;
    case FleetBar::Format::Png: {
        QBuffer buffer(&bytes);
        picture().save(&buffer, "PNG");
        break;
    }
    }
    saveFile(path, bytes, this, [this, path](const QString &why) {
        if (why.isEmpty())
            Q_EMIT told(tr("Exported to %1.").arg(path));
        else
            Q_EMIT problem(tr("The fleet could not be written to %1: %2").arg(path, why));
    });
}

QImage FleetView::picture()
{
    const QPixmap page = m_pages->grab();
    bool sim = false;
    for (const FleetModel::Block &block : m_model->blocks())
        sim = sim || (block.open && block.info.where == Surroundings::Sim);
    const int head = static_cast<int>((m_theme.rowHeight() + 2 * m_theme.unit()) * page.devicePixelRatio());
    QImage image(page.width(), page.height() + head, QImage::Format_RGB32);
    image.fill(m_theme.color(sim ? Token::SimBand : Token::Surface));
    QPainter painter(&image);
    painter.drawPixmap(QRect(0, head, page.width(), page.height()), page);
    painter.setPen(m_theme.color(sim ? Token::OnSimBand : Token::Text));
    painter.setFont(m_theme.font(FontRole::Strong));
    const QString title = (sim ? QStringLiteral("\u25C7 SIM \u25C7  ") : QString()) + tr("Leases, %1").arg(text(rfc3339(m_model->clock().wall())));
    painter.drawText(QRect(4 * m_theme.unit(), 0, page.width(), head), Qt::AlignLeft | Qt::AlignVCenter, title);
    return image;
}

void FleetView::copyName()
{
    if (const auto key = current()) {
        QGuiApplication::clipboard()->setText(shown(key->lease.name()));
        Q_EMIT told(tr("Copied the name."));
    }
}

void FleetView::copyCommand()
{
    const auto key = current();
    const int position = key ? m_model->positionOf(*key) : -1;
    if (position < 0)
        return;
    const FleetRow &row = m_model->row(position);
    const LeaseStatus *status = m_model->status(row);
    if (status == nullptr)
        return;
    QGuiApplication::clipboard()->setText(
        copyAs(CopyFormat::Tenurectl, *status, m_model->connection(row), {}, m_model->clock()));
    Q_EMIT told(tr("Copied the tenurectl command."));
}

void FleetView::togglePin()
{
    const auto key = current();
    const int position = key ? m_model->positionOf(*key) : -1;
    if (position < 0 || m_store == nullptr)
        return;
    const PinnedLease pin{m_model->connection(m_model->row(position)).name, QByteArray::fromStdString(key->lease.name())};
    m_store->change([&](Settings &settings) {
        if (std::erase(settings.pins, pin) == 0)
            settings.pins.push_back(pin);
    });
}

} // namespace tenure::ui
