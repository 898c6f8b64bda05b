// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/backend.h"

#include "core/backend/memory/memory_backend.h"
#include "core/backend/sqlite/sqlite_backend.h"
#ifdef TENURE_HAVE_REDIS
#include "core/backend/redis/redis_backend.h"
#endif
#ifdef TENURE_HAVE_KUBERNETES
#include "core/backend/kubernetes/kubernetes_backend.h"
#endif
#ifdef TENURE_HAVE_POSTGRES
#include "core/backend/postgres/postgres_backend.h"
#endif

namespace tenure
{

Result<std::shared_ptr<const Backend>> makeBackend(const StoreUri &uri)
{
    if (uri.scheme == "memory") {
        return makeMemoryBackend(
            std::make_shared<MemoryServer>(SystemClock::instance()), uri.display());
    }
    if (uri.scheme == "sqlite")
        return makeSqliteBackend(uri);
#ifdef TENURE_HAVE_REDIS
    if (uri.scheme.starts_with("redis"))
        return makeRedisBackend(uri);
#endif
#ifdef TENURE_HAVE_KUBERNETES
    if (uri.scheme == "kubernetes")
        return makeKubernetesBackend(uri);
#endif
#ifdef TENURE_HAVE_POSTGRES
    if (uri.scheme == "postgresql")
        return makePostgresBackend(uri);
#endif
    if (uri.scheme == "demo") {
        return fail(ErrorKind::BadConfig, "The demo world is started by the program, not connected to",
            uri.display());
    }
    return fail(ErrorKind::Unsupported, "This build has no backend for " + uri.scheme, uri.display(),
        "Use memory:, sqlite:, redis:, postgresql: or kubernetes:");
}

} // namespace tenure
