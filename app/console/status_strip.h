// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/bridge/session.h"

#include <QLabel>
#include <QTimer>
#include <QWidget>

#include <vector>

class QHBoxLayout;

namespace tenure::ui
{

class FreshnessChip;
class Theme;

/// In the status bar: the freshness of each open connection, and whether anything can be changed.
class StatusStrip final : public QWidget
{
    Q_OBJECT
public:
    StatusStrip(const Theme &theme, const Clock &clock, QWidget *parent);
    /// Warnings and errors in the log so far.
    void setWarnings(int count);
    /// How the journal is when it is not well; empty: it is.
    void setJournal(const QString &text, const QString &why);
    /// Says for some seconds that something went well.
    void tell(const QString &success);
    void setSessions(const std::vector<Session *> &sessions);

private:
    struct Part {
        Session *session;
        FreshnessChip *chip;
    };
    void refresh();

    const Theme &m_theme;
    const Clock &m_clock;
    QHBoxLayout *m_row;
    QLabel *m_mode;
    std::vector<Part> m_parts;
    std::vector<QWidget *> m_widgets;
    int m_warnings = 0;
    QString m_journal;
    QString m_told;
    Instant m_toldUntil;
    QTimer m_timer;
};

} // namespace tenure::ui
