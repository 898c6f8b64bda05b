// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/tokens.h"

#include <QFont>
#include <QObject>
#include <QPalette>

class QApplication;

namespace tenure::ui
{

enum class ThemeChoice { System, Light, Dark, HighContrast };

enum class FontRole {
    Body,
    Strong, ///< body, semi-bold: names, words of abnormal states
    Small, ///< captions, column heads
    Title, ///< name of a page
    Number, ///< body with digits of one width
    BigNumber, ///< the one number of a card
    Mono, ///< raw records, commands
};

/// How the console looks: the scheme in force, its colours and fonts. Made once by main() and handed
/// by reference to every painted widget, which repaints on changed(). GUI thread; outlives the widgets.
class Theme final : public QObject
{
    Q_OBJECT
public:
    explicit Theme(QObject *parent = nullptr);

    /// Puts style (Fusion), palette, font and style sheet on `app` and keeps them in step from now on.
    void install(QApplication &app);
    void setChoice(ThemeChoice choice);
    [[nodiscard]] ThemeChoice choice() const { return m_choice; }
    [[nodiscard]] Scheme scheme() const { return m_scheme; }

    [[nodiscard]] QColor color(Token token) const { return tokenColor(m_scheme, token); }
    [[nodiscard]] QFont font(FontRole role) const;
    [[nodiscard]] QPalette palette() const;
    /// Padding unit in device independent pixels, from the font: layouts scale with the text.
    [[nodiscard]] int unit() const { return m_unit; }
    [[nodiscard]] int rowHeight() const;

Q_SIGNALS:
    void changed();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void resolve();
    void apply();
    [[nodiscard]] Scheme systemScheme();

    QApplication *m_app = nullptr;
    ThemeChoice m_choice = ThemeChoice::System;
    Scheme m_scheme = Scheme::Light;
    QFont m_base;
    int m_unit = 4;
    bool m_applying = false; ///< our own palette change is not the system's
};

/// The style sheet for the widgets that the palette alone leaves grey and bevelled.
[[nodiscard]] QString styleSheet(const Theme &theme);

} // namespace tenure::ui
