// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QWidget>

namespace tenure::ui
{

/// The environment of a connection as nobody can overlook it: PRODUCTION a solid red band, STAGING
/// stripes, DEV quiet, SIM magenta; always with the word and the connection's name.
class EnvironmentBadge final : public QWidget
{
    Q_OBJECT
public:
    explicit EnvironmentBadge(Environment environment, QString name, QWidget *parent = nullptr);
    void setEnvironment(Environment environment, const QString &name);
    [[nodiscard]] QString text() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    Environment m_environment;
    QString m_name;
};

} // namespace tenure::ui
