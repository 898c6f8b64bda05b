// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/tokens.h"
#include "ui/theme/words.h"

#include <QFont>
#include <QObject>
#include <QPalette>

class QApplication;
class QWidget;

namespace tenure::ui
{

enum class ThemeChoice { System, Light, Dark, HighContrast };

/// How much room rows and paddings take.
enum class Density { Comfortable, Compact };
enum class Motion { Full, Reduced };

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
    /// Text in percent of the system's size, 80 to 200.
    void setTextSize(int percent);
    [[nodiscard]] int textSize() const { return m_percent; }
    void setDensity(Density density);
    [[nodiscard]] Density density() const { return m_density; }
    void setMotion(Motion motion);
    [[nodiscard]] Motion motion() const { return m_motion; }
    /// In which zone moments are shown (words.h); repaints everything that shows one.
    void setTimes(TimeShown shown);

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
    void measure();
    [[nodiscard]] Scheme systemScheme();

    QApplication *m_app = nullptr;
    ThemeChoice m_choice = ThemeChoice::System;
    Scheme m_scheme = Scheme::Light;
    QFont m_system;
    QFont m_base;
    int m_percent = 100;
    Density m_density = Density::Comfortable;
    Motion m_motion = Motion::Full;
    int m_unit = 4;
    bool m_applying = false; ///< our own palette change is not the system's
};

/// Puts the font of `role` on `widget` and keeps it when the text size changes.
void useFont(QWidget *widget, const Theme &theme, FontRole role);

/// The style sheet for the widgets that the palette alone leaves grey and bevelled.
[[nodiscard]] QString styleSheet(const Theme &theme);

} // namespace tenure::ui
