// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/uri.h"
#include "ui/bridge/session.h"
#include "ui/dialogs/connection_test.h"

#include <QDialog>

#include <atomic>
#include <memory>

class QButtonGroup;
class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTreeWidget;

namespace tenure::ui
{

/// Adds or edits a connection, by fields or by URL, whichever one prefers: each follows the other.
/// The test runs on a thread of its own, lists what it finds step by step and can be cancelled.
/// The password never becomes part of the profile.
class ConnectionDialog final : public QDialog
{
    Q_OBJECT
public:
    explicit ConnectionDialog(ConnectionProfile profile, QWidget *parent = nullptr);
    ~ConnectionDialog() override;

    /// As it stands in the fields now.
    [[nodiscard]] ConnectionProfile profile() const;
    [[nodiscard]] QString password() const;
    [[nodiscard]] bool isTesting() const { return m_cancel != nullptr; }
    void startTest();
    void cancelTest();

protected:
    void changeEvent(QEvent *event) override; ///< another theme: the results are coloured anew

private:
    void colourSteps();
    enum Kind { Redis, RedisTls, RedisUnix, Sentinel, Sqlite, Demo };
    QWidget *buildFields();
    QWidget *buildTest();
    QWidget *buildSafety();
    void connectFields();
    [[nodiscard]] StoreUri uriFromFields() const;
    void fieldsToUrl();
    void urlToFields();
    void fillFields(const StoreUri &uri);
    void showRowsOfKind();
    void judge();
    void onStep(const TestStep &step);
    void onTestEnded();

    ConnectionProfile m_profile;
    Mailbox m_mailbox;
    std::shared_ptr<std::atomic<bool>> m_cancel; ///< of the test under way
    std::map<std::string, std::string> m_otherParameters; ///< kept although there is no field for them
    bool m_syncing = false;

    QComboBox *m_kind = nullptr;
    QLineEdit *m_name = nullptr;
    QComboBox *m_environment = nullptr;
    QLabel *m_hint = nullptr;
    QLineEdit *m_hosts = nullptr;
    QLineEdit *m_master = nullptr;
    QLineEdit *m_file = nullptr;
    QSpinBox *m_database = nullptr;
    QLineEdit *m_user = nullptr;
    QLineEdit *m_password = nullptr;
    QComboBox *m_secret = nullptr;
    QLineEdit *m_prefix = nullptr;
    QLineEdit *m_glob = nullptr;
    QLineEdit *m_url = nullptr;
    QLabel *m_problem = nullptr;
    QCheckBox *m_readOnly = nullptr;
    QCheckBox *m_atStart = nullptr;
    QFormLayout *m_form = nullptr;
    QTreeWidget *m_steps = nullptr;
    QPushButton *m_testButton = nullptr;
    QPushButton *m_accept = nullptr;
};

} // namespace tenure::ui
