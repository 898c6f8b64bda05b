// SPDX-License-Identifier: GPL-3.0-or-later
// What stands on each page of the settings.
#include "ui/settings/settings_dialog.h"

#include <QComboBox>
#include <QDateTime>
#include <QDesktopServices>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSpinBox>
#include <QTimeZone>
#include <QUrl>

namespace tenure::ui
{

void SettingsDialog::makeAppearance()
{
    addPage(tr("Appearance"), {}, [](Settings &settings) {
        const Settings standard;
        settings.theme = standard.theme;
        settings.density = standard.density;
        settings.textSize = standard.textSize;
        settings.motion = standard.motion;
    });
    addRow(tr("Theme"), radios(QStringLiteral("setTheme"), {tr("System"), tr("Light"), tr("Dark"), tr("High contrast")},
        [this] { return static_cast<int>(m_store.now().theme); },
        [](Settings &settings, int value) { settings.theme = static_cast<ThemeChoice>(value); }));
    addRow(tr("Density"), radios(QStringLiteral("setDensity"), {tr("Comfortable"), tr("Compact")},
        [this] { return static_cast<int>(m_store.now().density); },
        [](Settings &settings, int value) { settings.density = static_cast<Density>(value); }),
        tr("Height of the rows in tables and timelines"));
    auto *size = new QSpinBox;
    size->setObjectName(QStringLiteral("setTextSize"));
    size->setRange(80, 200);
    size->setSingleStep(10);
    size->setSuffix(tr(" %"));
    size->setMaximumWidth(30 * m_theme.unit());
    size->setKeyboardTracking(false);
    size->installEventFilter(this);
    connect(size, &QSpinBox::valueChanged, this, [this](int percent) {
        if (!m_showing)
            m_store.change([&](Settings &settings) { settings.textSize = percent; });
    });
    m_shows.push_back([this, size] { size->setValue(m_store.now().textSize); });
    addRow(tr("Text size"), size, tr("Of the system's size. Paddings follow in windows opened afterwards."));
    addRow(tr("Motion"), radios(QStringLiteral("setMotion"), {tr("Full"), tr("Reduced")},
        [this] { return static_cast<int>(m_store.now().motion); },
        [](Settings &settings, int value) { settings.motion = static_cast<Motion>(value); }),
        tr("Reduced: docks do not glide, countdown rings move once a second"));
    addRow(tr("Docks"), check(QStringLiteral("setDocksLocked"), tr("Lock them where they are"), &Settings::docksLocked));
}

void SettingsDialog::makeTimes()
{
    addPage(tr("Time"), tr("Countdowns never use this computer's clock; this is about moments only."),
        [](Settings &settings) { settings.times = Settings().times; });
    const QString zone = QString::fromLatin1(QTimeZone::systemTimeZoneId());
    addRow(tr("Show times as"), radios(QStringLiteral("setTimes"), {tr("UTC"), tr("Local (%1)").arg(zone), tr("Both")},
        [this] { return static_cast<int>(m_store.now().times); },
        [](Settings &settings, int value) { settings.times = static_cast<TimeShown>(value); }),
        tr("Everywhere: tables, tooltips, timelines, the clock (T switches). Exports are always UTC with Z."));
}

void SettingsDialog::makeAlerts()
{
    addPage(tr("Alerts"), tr("The rules themselves are edited on the alerts page. A notification is never the only "
                             "way an alert is told: the bar above and the alerts page always show it."),
        [](Settings &settings) {
            const Settings standard;
            settings.notify = standard.notify;
            settings.notifyUpTo = standard.notifyUpTo;
            settings.tray = standard.tray;
            settings.closeToTray = standard.closeToTray;
        });
    addRow(tr("Notifications"), check(QStringLiteral("setNotify"), tr("Tell new alerts through the desktop"), &Settings::notify),
        m_context.notifyHow);
    addRow(tr("From priority"), radios(QStringLiteral("setNotifyUpTo"), {tr("P1 only"), tr("P1 and P2"), tr("All")},
        [this] { return m_store.now().notifyUpTo - 1; },
        [](Settings &settings, int value) { settings.notifyUpTo = value + 1; }));
    QWidget *tray = check(QStringLiteral("setTray"), tr("Icon in the tray"), &Settings::tray);
    tray->setEnabled(m_context.hasTray);
    addRow(tr("Tray"), tray, m_context.hasTray ? tr("This desktop has a tray.") : tr("This desktop has no tray."));
    QWidget *close = check(QStringLiteral("setCloseToTray"), tr("Closing the window keeps watching in the tray"), &Settings::closeToTray);
    close->setEnabled(m_context.hasTray);
    addRow({}, close);
}

void SettingsDialog::makeWebhook()
{
    addPage(tr("Webhook"), tr("Alerts as JSON to an address of yours, signed when a secret is set. Retried three times, "
                              "never redirected."),
        [](Settings &settings) {
            settings.webhookUrl.clear();
            settings.webhookKind = Settings().webhookKind;
            settings.webhookSigned = false;
        });
    auto *url = new QLineEdit;
    url->setObjectName(QStringLiteral("setWebhookUrl"));
    url->setPlaceholderText(QStringLiteral("https://alerts.example.org/hook"));
    connect(url, &QLineEdit::editingFinished, this, [this, url] {
        m_store.change([&](Settings &settings) { settings.webhookUrl = url->text().trimmed(); });
    });
    m_shows.push_back([this, url] {
        if (!url->hasFocus())
            url->setText(m_store.now().webhookUrl);
    });
    addRow(tr("Address"), url, tr("Empty: nothing is sent."));
    addRow(tr("Format"), radios(QStringLiteral("setWebhookKind"), {tr("Generic JSON"), tr("Alertmanager v2")},
        [this] { return m_store.now().webhookKind == QLatin1String("alertmanager") ? 1 : 0; },
        [](Settings &settings, int value) {
            settings.webhookKind = value == 1 ? QStringLiteral("alertmanager") : QStringLiteral("json");
        }));
    auto *secret = new QLineEdit;
    secret->setObjectName(QStringLiteral("setWebhookSecret"));
    secret->setEchoMode(QLineEdit::Password);
    m_shows.push_back([this, secret] {
        secret->setPlaceholderText(m_store.now().webhookSigned ? tr("set, unchanged") : tr("none, messages are not signed"));
    });
    secret->setEnabled(static_cast<bool>(m_context.saveWebhookSecret));
    connect(secret, &QLineEdit::editingFinished, this, [this, secret] {
        if (!secret->text().isEmpty() && m_context.saveWebhookSecret)
            m_context.saveWebhookSecret(secret->text());
        secret->clear();
    });
    addRow(tr("Secret"), secret, tr("Signs each message (HMAC-SHA256). Kept in the system's keyring, never in the settings. Alertmanager needs none."));
    auto *row = new QWidget;
    auto *line = new QHBoxLayout(row);
    line->setContentsMargins({});
    auto *test = new QPushButton(tr("Send test"));
    test->setObjectName(QStringLiteral("webhookTest"));
    auto *result = new QLabel;
    result->setObjectName(QStringLiteral("webhookResult"));
    result->setWordWrap(true);
    result->setText(m_context.webhookStatus);
    line->addWidget(test);
    line->addWidget(result, 1);
    test->setEnabled(static_cast<bool>(m_context.testWebhook));
    if (!m_context.testWebhook)
        result->setText(tr("This build cannot send."));
    connect(test, &QPushButton::clicked, this, [this, test, result] {
        test->setEnabled(false);
        result->setText(tr("Sending…"));
        m_context.testWebhook([test = QPointer(test), result = QPointer(result)](const QString &outcome) {
            if (test && result) {
                test->setEnabled(true);
                result->setText(outcome);
            }
        });
    });
    addRow({}, row);
}

void SettingsDialog::setKey(const KeyBinding &binding, const QKeySequence &keys)
{
    m_store.change([&](Settings &settings) {
        if (keys == binding.standard)
            settings.keys.erase(binding.name);
        else
            settings.keys[binding.name] = keys.toString(QKeySequence::PortableText);
    });
}

void SettingsDialog::makeKeyboard()
{
    addPage(tr("Keyboard"), tr("Click a key and press the new one. Release has none on purpose: it opens only from the "
                               "lease page or by \"> release\" in the palette."),
        [](Settings &settings) { settings.keys.clear(); });
    for (const KeyBinding &binding : m_context.keys) {
        auto *edit = new QKeySequenceEdit;
        edit->setObjectName(QStringLiteral("key_") + binding.name);
        edit->setMaximumWidth(50 * m_theme.unit());
        connect(edit, &QKeySequenceEdit::editingFinished, this, [this, edit, binding] { setKey(binding, edit->keySequence()); });
        m_shows.push_back([this, edit, binding] {
            const auto changed = m_store.now().keys.find(binding.name);
            edit->setKeySequence(changed == m_store.now().keys.end() ? binding.standard
                                                                     : QKeySequence(changed->second, QKeySequence::PortableText));
        });
        addRow(binding.text, edit);
    }
}

void SettingsDialog::makePrivacy()
{
    addPage(tr("Privacy"), {}, {});
    const auto plain = [](const QString &text) {
        auto *label = new QLabel(text);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        return label;
    };
    addRow(tr("Network"), plain(tr("No account, no telemetry, no update check. Tenure talks to the connections you open "
                                   "and to the webhook you set, and to nothing else.")));
    addRow(tr("Passwords"), plain(tr("In the system's keyring or asked for each time; never in a file, a log or a link.")));
    auto *files = new QWidget;
    auto *row = new QHBoxLayout(files);
    row->setContentsMargins({});
    row->addWidget(plain(QFileInfo(m_store.path()).absolutePath()), 1);
    auto *open = new QPushButton(tr("Open"));
    connect(open, &QPushButton::clicked, this,
        [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_store.path()).absolutePath())); });
    row->addWidget(open);
    addRow(tr("Settings"), files);
    addRow(tr("Journal"), plain(m_context.journal.isEmpty() ? tr("Nothing is journaled: changes are kept for this session.")
                                                            : m_context.journal));
}

void SettingsDialog::makeAbout()
{
    addPage(tr("About"), {}, {});
    const auto line = [this](const QString &name, const QString &text) {
        auto *label = new QLabel(text);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        addRow(name, label);
    };
    line(tr("Tenure"), m_context.version);
    line(tr("Qt"), QLatin1String(qVersion()));
    line(tr("Licence"), tr("GPL-3.0-or-later"));
    line(tr("What it is"), tr("Elects leaders with leases and shows people who leads."));
}

} // namespace tenure::ui
