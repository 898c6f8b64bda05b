// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAccessible>

#include <optional>

class QWidget;

namespace tenure::ui
{

/// A painted widget that tells assistive tools what it shows. Inherit beside QWidget and call
/// speak() in the constructor; the value is asked for when somebody listens.
class Spoken
{
public:
    Spoken() = default;
    Spoken(const Spoken &) = delete;
    Spoken &operator=(const Spoken &) = delete;
    virtual ~Spoken() = default;

    /// What it shows now, as a person would say it: "13 s left".
    [[nodiscard]] virtual QString spokenValue() const = 0;
    [[nodiscard]] virtual QAccessible::Role spokenRole() const { return QAccessible::Graphic; }
    /// The value as a number from zero to the second one; nothing when it is not a number.
    [[nodiscard]] virtual std::optional<std::pair<double, double>> spokenNumber() const { return std::nullopt; }

protected:
    /// Makes known, once for the process, how widgets of this kind are asked.
    static void speak();
    /// Says that the value is another now, to whoever listens.
    static void valueChanged(QWidget *widget, const QString &value);
};

} // namespace tenure::ui
