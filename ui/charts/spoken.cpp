// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/spoken.h"

#include <QAccessibleWidget>
#include <QWidget>

namespace tenure::ui
{
namespace
{

class SpokenInterface final : public QAccessibleWidget, public QAccessibleValueInterface
{
public:
    SpokenInterface(QWidget *widget, Spoken &spoken) : QAccessibleWidget(widget, spoken.spokenRole()), m_spoken(spoken) { }

    QString text(QAccessible::Text kind) const override
    {
        return kind == QAccessible::Value ? m_spoken.spokenValue() : QAccessibleWidget::text(kind);
    }
    void *interface_cast(QAccessible::InterfaceType type) override
    {
        if (type == QAccessible::ValueInterface && m_spoken.spokenNumber())
            return static_cast<QAccessibleValueInterface *>(this);
        return QAccessibleWidget::interface_cast(type);
    }
    QVariant currentValue() const override
    {
        const auto number = m_spoken.spokenNumber();
        return number ? QVariant(number->first) : QVariant();
    }
    void setCurrentValue(const QVariant &) override { } // it shows, it does not take
    QVariant minimumValue() const override { return 0.0; }
    QVariant maximumValue() const override
    {
        const auto number = m_spoken.spokenNumber();
        return number ? QVariant(number->second) : QVariant();
    }
    QVariant minimumStepSize() const override { return 0.0; }

private:
    Spoken &m_spoken;
};

QAccessibleInterface *make(const QString &, QObject *object)
{
    auto *widget = qobject_cast<QWidget *>(object);
    auto *spoken = dynamic_cast<Spoken *>(object);
    return widget != nullptr && spoken != nullptr ? new SpokenInterface(widget, *spoken) : nullptr;
}

} // namespace

void Spoken::speak()
{
    static const bool kOnce = (QAccessible::installFactory(make), true);
    static_cast<void>(kOnce);
}

void Spoken::valueChanged(QWidget *widget, const QString &value)
{
    if (!QAccessible::isActive())
        return;
    QAccessibleValueChangeEvent event(widget, value);
    QAccessible::updateAccessibility(&event);
}

} // namespace tenure::ui
