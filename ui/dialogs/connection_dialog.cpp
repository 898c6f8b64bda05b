// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/connection_dialog.h"

#include "ui/bridge/profile_store.h"
#include "ui/bridge/retire.h"
#include "ui/dialogs/tone.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QEvent>
#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace tenure::ui
{
namespace
{

using namespace std::chrono_literals;

constexpr Duration kTestLimit = 5s;
constexpr int kStateRole = Qt::UserRole;
constexpr std::array kSchemes{"redis", "rediss", "redis+unix", "redis+sentinel", "sqlite", "demo"};

QLineEdit *lineEdit(const char *name, const QString &placeholder)
{
    auto *edit = new QLineEdit;
    edit->setObjectName(QLatin1String(name));
    edit->setPlaceholderText(placeholder);
    return edit;
}

std::vector<std::pair<std::string, std::uint16_t>> hostsFromText(const QString &text)
{
    std::vector<std::pair<std::string, std::uint16_t>> hosts;
    for (const QString &part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        const QString host = part.trimmed();
        const auto colon = host.lastIndexOf(QLatin1Char(':'));
        const bool bareV6 = host.count(QLatin1Char(':')) > 1 && !host.contains(QLatin1Char(']'));
        const bool hasPort = colon > host.lastIndexOf(QLatin1Char(']')) && !bareV6;
        QString name = hasPort ? host.left(colon) : host;
        name.remove(QLatin1Char('[')).remove(QLatin1Char(']'));
        hosts.emplace_back(name.toStdString(), hasPort ? host.mid(colon + 1).toUShort() : 0);
    }
    return hosts;
}

QString textFromHosts(const StoreUri &uri)
{
    QStringList parts;
    for (const auto &[host, port] : uri.hosts) {
        QString part = QString::fromStdString(host);
        if (part.contains(QLatin1Char(':')))
            part = QStringLiteral("[%1]").arg(part);
        parts += port == 0 ? part : QStringLiteral("%1:%2").arg(part).arg(port);
    }
    return parts.join(QStringLiteral(", "));
}

QString glyphOf(TestStep::State state)
{
    switch (state) {
    case TestStep::State::Passed:
        return QStringLiteral("✓");
    case TestStep::State::Noted:
        return QStringLiteral("!");
    case TestStep::State::Failed:
        return QStringLiteral("✖");
    case TestStep::State::Skipped:
        return QStringLiteral("–");
    }
    return {};
}

} // namespace

ConnectionDialog::ConnectionDialog(ConnectionProfile profile, QWidget *parent)
    : QDialog(parent), m_profile(std::move(profile)), m_mailbox(this)
{
    const bool isNew = m_profile.url.isEmpty();
    setWindowTitle(isNew ? tr("New connection") : tr("Connection %1").arg(m_profile.name));
    if (isNew)
        m_profile.url = QStringLiteral("redis://127.0.0.1:6379/0");

    auto *columns = new QHBoxLayout;
    auto *left = new QVBoxLayout;
    left->addWidget(buildFields());
    left->addWidget(buildSafety());
    left->addStretch();
    columns->addLayout(left, 3);
    columns->addWidget(buildTest(), 2);

    auto *buttons = new QDialogButtonBox;
    buttons->addButton(QDialogButtonBox::Cancel);
    m_accept = buttons->addButton(
        isNew ? tr("Save and connect") : tr("Save"), QDialogButtonBox::AcceptRole);
    m_accept->setObjectName(QStringLiteral("accept"));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto *all = new QVBoxLayout(this);
    all->addLayout(columns);
    all->addWidget(buttons);

    m_name->setText(m_profile.name);
    m_environment->setCurrentIndex(static_cast<int>(m_profile.environment));
    m_glob->setText(m_profile.glob);
    m_readOnly->setChecked(m_profile.startReadOnly);
    m_atStart->setChecked(m_profile.connectAtStart);
    m_secret->setCurrentIndex(static_cast<int>(m_profile.secretFrom));
    m_url->setText(m_profile.url);
    connectFields();
    urlToFields();
    m_name->setFocus();
    resize(sizeHint().expandedTo({fontMetrics().averageCharWidth() * 120, 0}));
}

ConnectionDialog::~ConnectionDialog()
{
    m_mailbox.close();
    cancelTest();
}

QWidget *ConnectionDialog::buildFields()
{
    auto *box = new QGroupBox(tr("Where"));
    m_form = new QFormLayout(box);
    m_kind = new QComboBox;
    m_kind->setObjectName(QStringLiteral("kind"));
    m_kind->addItems({tr("Redis"), tr("Redis over TLS"), tr("Redis, unix socket"),
        tr("Redis, through Sentinel"), tr("SQLite file"), tr("Demo (simulated, no network)")});
    m_name = lineEdit("name", tr("what you call it, for example orders-redis"));
    m_hosts = lineEdit("hosts", QStringLiteral("127.0.0.1:6379"));
    m_master = lineEdit("master", QStringLiteral("mymaster"));
    m_file = lineEdit("file", tr("/path/to/the/file"));
    m_database = new QSpinBox;
    m_database->setRange(0, 65535);
    m_database->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_user = lineEdit("user", tr("none"));
    m_password = lineEdit("password", tr("none, or from TENURE_PASSWORD"));
    m_password->setEchoMode(QLineEdit::Password);
    m_secret = new QComboBox;
    m_secret->addItems({tr("Do not keep"), tr("System keyring"), tr("Ask each time")});
    m_prefix = lineEdit("prefix", tr("none: every key that is a lease"));
    m_glob = lineEdit("glob", QStringLiteral("*"));
    m_url = lineEdit("url", QStringLiteral("redis://user@host:6379/0?prefix=app:"));
    m_problem = new QLabel;
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setWordWrap(true);
    m_form->addRow(tr("&Kind"), m_kind);
    m_form->addRow(tr("&Name"), m_name);
    m_form->addRow(tr("&Host"), m_hosts);
    m_form->addRow(tr("Master na&me"), m_master);
    m_form->addRow(tr("&File"), m_file);
    m_form->addRow(tr("&Database"), m_database);
    m_form->addRow(tr("&User"), m_user);
    m_form->addRow(tr("&Password"), m_password);
    m_form->addRow(tr("Keep the password"), m_secret);
    m_form->addRow(tr("Key p&refix"), m_prefix);
    m_form->addRow(tr("Only &leases like"), m_glob);
    m_form->addRow(tr("UR&L"), m_url);
    m_form->addRow(m_problem);
    return box;
}

QWidget *ConnectionDialog::buildSafety()
{
    auto *box = new QGroupBox(tr("Safety"));
    auto *form = new QFormLayout(box);
    m_environment = new QComboBox;
    m_environment->setObjectName(QStringLiteral("environment"));
    for (const Environment one : {Environment::Production, Environment::Staging,
             Environment::Development, Environment::Sim})
        m_environment->addItem(environmentWord(one));
    m_hint = new QLabel;
    m_hint->setObjectName(QStringLiteral("productionHint"));
    m_hint->setWordWrap(true);
    m_readOnly = new QCheckBox(tr("Start read-only (operator mode is switched on by hand, 15 min)"));
    m_readOnly->setObjectName(QStringLiteral("readOnly"));
    m_atStart = new QCheckBox(tr("Connect at start"));
    form->addRow(tr("&Environment"), m_environment);
    form->addRow(m_hint);
    form->addRow(m_readOnly);
    form->addRow(m_atStart);
    return box;
}

QWidget *ConnectionDialog::buildTest()
{
    auto *box = new QGroupBox(tr("Test"));
    auto *layout = new QVBoxLayout(box);
    m_steps = new QTreeWidget;
    m_steps->setObjectName(QStringLiteral("steps"));
    m_steps->setAccessibleName(tr("Results of the connection test"));
    m_steps->setColumnCount(2);
    m_steps->setHeaderHidden(true);
    m_steps->setRootIsDecorated(false);
    m_steps->setWordWrap(true);
    m_steps->setSelectionMode(QAbstractItemView::NoSelection);
    m_steps->header()->setSectionResizeMode(0, QHeaderView::Fixed);
    m_steps->header()->resizeSection(0, fontMetrics().horizontalAdvance(tr("✓  URL understood")) + fontMetrics().height() * 2);
    m_steps->setMinimumWidth(fontMetrics().averageCharWidth() * 62);
    m_testButton = new QPushButton(tr("&Test"));
    m_testButton->setObjectName(QStringLiteral("test"));
    m_testButton->setToolTip(tr("Looks only: nothing is written. Ends after 5 s at the latest."));
    connect(m_testButton, &QPushButton::clicked, this,
        [this] { isTesting() ? cancelTest() : startTest(); });
    layout->addWidget(m_steps);
    layout->addWidget(m_testButton, 0, Qt::AlignRight);
    return box;
}

void ConnectionDialog::connectFields()
{
    connect(m_kind, &QComboBox::currentIndexChanged, this, [this] {
        showRowsOfKind();
        fieldsToUrl();
    });
    for (QLineEdit *edit : {m_hosts, m_master, m_file, m_user, m_prefix})
        connect(edit, &QLineEdit::textEdited, this, &ConnectionDialog::fieldsToUrl);
    connect(m_database, &QSpinBox::valueChanged, this, &ConnectionDialog::fieldsToUrl);
    connect(m_url, &QLineEdit::textEdited, this, &ConnectionDialog::urlToFields);
    connect(m_name, &QLineEdit::textEdited, this, &ConnectionDialog::judge);
    connect(m_environment, &QComboBox::currentIndexChanged, this, [this] {
        if (m_environment->currentIndex() == static_cast<int>(Environment::Production))
            m_readOnly->setChecked(true);
        judge();
    });
}

StoreUri ConnectionDialog::uriFromFields() const
{
    const int kind = m_kind->currentIndex();
    StoreUri uri;
    uri.scheme = kSchemes[static_cast<std::size_t>(kind)];
    uri.parameters = m_otherParameters;
    const auto set = [&](const char *name, const std::string &value) {
        if (value.empty())
            uri.parameters.erase(name);
        else
            uri.parameters[name] = value;
    };
    const std::string database = std::to_string(m_database->value());
    if (kind == Demo)
        return uri;
    if (kind == Sqlite || kind == RedisUnix)
        uri.path = m_file->text().toStdString();
    if (kind == Sqlite)
        return uri;
    uri.user = m_user->text().toStdString();
    set("prefix", m_prefix->text().toStdString());
    if (kind == Redis || kind == RedisTls)
        uri.path = database;
    else
        set("db", m_database->value() == 0 ? std::string() : database);
    if (kind == Sentinel)
        uri.path = m_master->text().toStdString();
    if (kind != RedisUnix)
        uri.hosts = hostsFromText(m_hosts->text());
    return uri;
}

void ConnectionDialog::fieldsToUrl()
{
    if (m_syncing)
        return;
    m_url->setText(QString::fromStdString(uriFromFields().secretText()));
    judge();
}

void ConnectionDialog::urlToFields()
{
    auto uri = StoreUri::parse(m_url->text().trimmed().toStdString());
    if (uri) {
        if (!uri->password.empty()) { // it belongs into its own field, hidden
            m_password->setText(QString::fromStdString(uri->password));
            uri->password.clear();
            m_url->setText(QString::fromStdString(uri->secretText()));
        }
        m_syncing = true;
        fillFields(*uri);
        m_syncing = false;
    }
    showRowsOfKind();
    judge();
}

void ConnectionDialog::fillFields(const StoreUri &uri)
{
    for (std::size_t i = 0; i < kSchemes.size(); ++i) {
        if (uri.scheme == kSchemes[i])
            m_kind->setCurrentIndex(static_cast<int>(i));
    }
    const int kind = m_kind->currentIndex();
    const QString path = QString::fromStdString(uri.path);
    m_otherParameters = uri.parameters;
    m_otherParameters.erase("prefix");
    m_otherParameters.erase("db");
    m_user->setText(QString::fromStdString(uri.user));
    m_prefix->setText(QString::fromStdString(uri.parameter("prefix")));
    m_hosts->setText(textFromHosts(uri));
    if (kind == Sqlite || kind == RedisUnix)
        m_file->setText(path);
    if (kind == Sentinel)
        m_master->setText(path);
    const bool inPath = kind == Redis || kind == RedisTls;
    m_database->setValue((inPath ? path : QString::fromStdString(uri.parameter("db"))).toInt());
}

void ConnectionDialog::showRowsOfKind()
{
    const int kind = m_kind->currentIndex();
    const bool redis = kind <= Sentinel;
    m_form->setRowVisible(m_hosts, redis && kind != RedisUnix);
    m_form->setRowVisible(m_master, kind == Sentinel);
    m_form->setRowVisible(m_file, kind == RedisUnix || kind == Sqlite);
    for (QWidget *row : std::initializer_list<QWidget *>{m_database, m_user, m_password, m_secret, m_prefix})
        m_form->setRowVisible(row, redis);
}

/// Says what is wrong with the URL, and asks about production where it looks like it.
void ConnectionDialog::judge()
{
    const auto uri = StoreUri::parse(m_url->text().trimmed().toStdString());
    QString problem;
    if (!uri) {
        problem = QString::fromStdString(uri.error().what);
        if (!uri.error().remedy.empty())
            problem += QStringLiteral(". ") + QString::fromStdString(uri.error().remedy);
    }
    m_problem->setVisible(!problem.isEmpty());
    m_problem->setText(problem);
    setTone(m_problem, Tone::Critical);
    m_accept->setEnabled(problem.isEmpty() && !m_name->text().trimmed().isEmpty());
    m_accept->setToolTip(m_accept->isEnabled() ? QString()
            : problem.isEmpty() ? tr("Give it a name first") : problem);
    const bool ask = m_environment->currentIndex() != static_cast<int>(Environment::Production)
        && looksLikeProduction(m_url->text(), m_name->text());
    m_hint->setVisible(ask);
    m_hint->setText(tr("This looks like production (not this machine, and a name says so). "
                       "Mark it as PRODUCTION?"));
    setTone(m_hint, Tone::Warning);
}

ConnectionProfile ConnectionDialog::profile() const
{
    ConnectionProfile out = m_profile;
    if (out.id.isEmpty())
        out.id = newProfileId();
    out.name = m_name->text().trimmed();
    out.url = m_url->text().trimmed();
    out.environment = static_cast<Environment>(m_environment->currentIndex());
    if (m_kind->currentIndex() == Demo)
        out.environment = Environment::Sim;
    out.glob = m_glob->text().isEmpty() ? QStringLiteral("*") : m_glob->text();
    out.connectAtStart = m_atStart->isChecked();
    out.startReadOnly = m_readOnly->isChecked();
    out.secretFrom = static_cast<SecretFrom>(m_secret->currentIndex());
    return out;
}

QString ConnectionDialog::password() const
{
    return m_password->text();
}

void ConnectionDialog::startTest()
{
    cancelTest();
    m_steps->clear();
    auto cancel = std::make_shared<std::atomic<bool>>(false);
    m_cancel = cancel;
    m_testButton->setText(tr("Cancel test"));
    retire([this, cancel, url = m_url->text().trimmed().toStdString(),
               password = m_password->text().toStdString(), glob = m_glob->text().toStdString(),
               slot = m_mailbox.slot()] {
        const auto inGui = [&](auto job) {
            Mailbox::postTo(slot, [this, cancel, job] {
                if (m_cancel == cancel)
                    job();
            });
        };
        runConnectionTest(url, password, glob, kTestLimit, *cancel,
            [&](TestStep step) { inGui([this, step] { onStep(step); }); });
        inGui([this] { onTestEnded(); });
    });
}

void ConnectionDialog::cancelTest()
{
    if (!m_cancel)
        return;
    *m_cancel = true;
    onTestEnded();
}

void ConnectionDialog::onStep(const TestStep &step)
{
    auto *item = new QTreeWidgetItem(m_steps);
    item->setText(0, glyphOf(step.state) + QStringLiteral("  ") + QString::fromStdString(step.title));
    const QString detail = QString::fromStdString(step.detail);
    item->setToolTip(1, detail);
    auto *label = new QLabel(detail); // an item's own text does not wrap
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    label->setMargin(fontMetrics().height() / 4);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    const int width = std::max(fontMetrics().averageCharWidth() * 30,
        m_steps->viewport()->width() - m_steps->columnWidth(0));
    item->setSizeHint(1, {0, label->heightForWidth(width)});
    item->setTextAlignment(0, Qt::AlignTop | Qt::AlignLeft);
    m_steps->setItemWidget(item, 1, label);
    item->setData(0, kStateRole, static_cast<int>(step.state));
    colourSteps();
}

void ConnectionDialog::colourSteps()
{
    for (int i = 0; i < m_steps->topLevelItemCount(); ++i) {
        QTreeWidgetItem *item = m_steps->topLevelItem(i);
        const auto state = static_cast<TestStep::State>(item->data(0, kStateRole).toInt());
        item->setForeground(0, toneColor(state == TestStep::State::Failed ? Tone::Critical
                : state == TestStep::State::Noted ? Tone::Warning : Tone::Normal));
    }
}

void ConnectionDialog::changeEvent(QEvent *event)
{
    QDialog::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_steps)
        colourSteps();
}

void ConnectionDialog::onTestEnded()
{
    m_cancel.reset();
    m_testButton->setText(tr("&Test again"));
}

} // namespace tenure::ui
