// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/walk_keys.h"

#include <QAbstractItemView>
#include <QKeyEvent>

#include <algorithm>

namespace tenure::ui
{
namespace
{

class Walker final : public QObject
{
public:
    explicit Walker(QAbstractItemView *view) : QObject(view), m_view(view) { view->installEventFilter(this); }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (event->type() != QEvent::KeyPress)
            return QObject::eventFilter(watched, event);
        const auto *key = static_cast<QKeyEvent *>(event);
        const bool walks = key->key() == Qt::Key_J || key->key() == Qt::Key_K;
        const QAbstractItemModel *model = m_view->model();
        if (!walks || key->modifiers() != Qt::NoModifier || model == nullptr || model->rowCount() == 0)
            return QObject::eventFilter(watched, event);
        const int step = key->key() == Qt::Key_J ? 1 : -1;
        const int row = std::clamp(m_view->currentIndex().row() + step, 0, model->rowCount() - 1);
        m_view->setCurrentIndex(model->index(row, std::max(0, m_view->currentIndex().column())));
        return true;
    }

private:
    QAbstractItemView *m_view;
};

} // namespace

void walkWithJK(QAbstractItemView *view)
{
    new Walker(view); // its parent is the view
}

} // namespace tenure::ui
