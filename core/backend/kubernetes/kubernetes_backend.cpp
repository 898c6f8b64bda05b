// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/kubernetes/kubernetes_backend.h"

#include "core/backend/kubernetes/kube_feed.h"
#include "core/backend/kubernetes/kube_store.h"

namespace tenure
{
namespace
{

class KubernetesBackend final : public Backend
{
public:
    explicit KubernetesBackend(kube::Settings settings)
        : m_settings(std::make_shared<const kube::Settings>(std::move(settings)))
    {
        m_traits.scheme = "kubernetes";
        m_traits.display = m_settings->display;
        m_traits.limits.floor = std::chrono::seconds(1);
        m_traits.limits.wholeSeconds = true;
        if (!m_settings->target.tls.verify)
            m_traits.danger = "The server's certificate is not checked (insecure-skip-tls-verify)";
        m_traits.maxNameBytes = m_settings->bareNames ? 253 : 63 + 1 + 253;
    }

    [[nodiscard]] const StoreTraits &traits() const override { return m_traits; }
    [[nodiscard]] std::unique_ptr<LeaseStore> makeStore() const override
    {
        return std::make_unique<kube::KubeStore>(m_settings, m_view, m_traits);
    }
    [[nodiscard]] std::unique_ptr<LeaseFeed> makeFeed() const override
    {
        return std::make_unique<kube::KubeFeed>(m_settings, m_view);
    }

private:
    const std::shared_ptr<const kube::Settings> m_settings;
    const std::shared_ptr<kube::View> m_view = std::make_shared<kube::View>();
    StoreTraits m_traits;
};

} // namespace

Result<std::shared_ptr<const Backend>> makeKubernetesBackend(const StoreUri &uri)
{
    auto settings = kube::settingsOf(uri);
    if (!settings)
        return fail(std::move(settings.error()));
    return std::make_shared<const KubernetesBackend>(*std::move(settings));
}

} // namespace tenure
