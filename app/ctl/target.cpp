// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/target.h"

#include <array>
#include <cstdlib>

namespace tenure::ctl
{

std::optional<std::string> environmentUrl()
{
    const char *url = std::getenv("TENURE_URL");
    if (url == nullptr || *url == '\0')
        return std::nullopt;
    return std::string(url);
}

Result<Named> sortArguments(
    Named typed, NeedsLease needs, const std::optional<std::string> &environmentUrl)
{
    const bool alone = typed.url && !typed.lease;
    // A lone argument is the lease when a URL stands in the environment, unless it is itself a URL
    // where the lease may be left out.
    const bool couldBeLease = needs == NeedsLease::Yes
        || (needs == NeedsLease::Optional && alone && !StoreUri::parse(*typed.url));
    if (alone && environmentUrl && couldBeLease) {
        typed.lease = std::move(typed.url);
        typed.url.reset();
    }
    if (!typed.url)
        typed.url = environmentUrl;
    if (!typed.url) {
        return fail(ErrorKind::BadConfig, "A URL is missing", {},
            "Name one, such as redis://localhost or demo:, or set TENURE_URL");
    }
    if (needs == NeedsLease::Yes && !typed.lease)
        return fail(ErrorKind::BadConfig, "The name of the lease is missing", {}, "Write it after the URL");
    return typed;
}

Result<Target> openTarget(const std::string &url)
{
    Result<StoreUri> uri = StoreUri::parse(url);
    if (!uri)
        return fail(uri.error());
    Target target;
    if (uri->scheme == "demo") {
        target.display = "demo:";
        target.demo = std::make_unique<DemoWorld>();
        target.demo->waitUntilLed(std::chrono::seconds(3));
        target.backend = target.demo->backend();
        return target;
    }
    const char *password = std::getenv("TENURE_PASSWORD");
    if (uri->password.empty() && password != nullptr)
        uri->password = password;
    Result<std::shared_ptr<const Backend>> backend = makeBackend(*uri);
    if (!backend)
        return fail(backend.error());
    target.backend = std::move(*backend);
    target.display = target.backend->traits().display;
    return target;
}

Result<Look> readLease(LeaseStore &store, const LeaseId &lease)
{
    const std::array<Command, 1> commands{Read{lease, ReadDepth::Full}};
    const Instant sentAt = BootClock::now();
    std::vector<Result<Reply>> replies = store.execute(commands, sentAt + kCallTimeout);
    Look look;
    look.receivedAt = BootClock::now();
    look.roundTrip = look.receivedAt - sentAt;
    if (!replies.front()) {
        if (replies.front().error().kind != ErrorKind::NotFound)
            return fail(replies.front().error());
        look.record.lease = lease;
        return look;
    }
    look.record = std::move(replies.front()->record);
    look.serverTime = replies.front()->serverTime;
    return look;
}

} // namespace tenure::ctl
