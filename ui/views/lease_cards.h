// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/observe/status.h"
#include "ui/models/lease_source.h"

#include <QFrame>

class QLabel;
class QVBoxLayout;

namespace tenure::ui
{

class Theme;

/// The band that says which environment one is in: solid PRODUCTION, striped STAGING, plain
/// DEVELOPMENT, framed SIM; always with the word.
class EnvironmentBand final : public QWidget
{
    Q_OBJECT
public:
    EnvironmentBand(const Theme &theme, QWidget *parent);
    void set(Surroundings where);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    const Theme &m_theme;
    Surroundings m_where = Surroundings::Development;
};

/// A titled box; what it shows is added to body().
class Card final : public QFrame
{
    Q_OBJECT
public:
    Card(const Theme &theme, const QString &title, QWidget *parent);
    [[nodiscard]] QVBoxLayout *body() const { return m_body; }
    void setTitle(const QString &title);
    /// A line of text of its own: plain, selectable, elided nowhere but wrapped.
    QLabel *addLine(const QString &objectName);

private:
    QLabel *m_title;
    QVBoxLayout *m_body;
};

/// What the cards of a lease page say; pure text, so that it is tested without a window.
struct LeaseTexts {
    QString state; ///< glyph and word
    QString holder; ///< "sched-7f9c", "was sched-7f9c", "nobody"
    QString since; ///< "since 02:14:26 UTC (3 m 02 s)"
    QString safety; ///< what is certain about the time left
    QString renewDue;
    QString term;
    QString changes;
    QString claim; ///< the server's own times
    QString timing;
    QString candidates;
    QString heartbeat;
};
[[nodiscard]] LeaseTexts leaseTexts(const LeaseStatus &status, const LinkStatus &link, const Clock &clock);

} // namespace tenure::ui
