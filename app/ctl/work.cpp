// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ctl/commands.h"
#include "app/ctl/lease_json.h"
#include "app/ctl/release_plan.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/runtime/journal_tap.h"
#include "core/work/open_work_queue.h"

#include <cstdlib>
#include <istream>
#include <iostream>
#include <iterator>

namespace tenure::ctl
{
namespace
{

struct WorkOptions {
    std::string url, queue;
    bool json = false;
    std::string state = "dead";
    std::size_t limit = 50;
    std::string key, delay;
    int maxAttempts = 5;
    std::int64_t id = 0;
    bool all = false;
    bool dryRun = false;
    std::string reason;
    std::string journal = Journal::defaultPath();
};

constexpr const char *kExamples = R"(
Examples:
  echo '{"invoice": 17}' | tenurectl work put sqlite:///var/lib/app/work.db invoices --key invoice-17
  tenurectl work counts postgresql://localhost/app invoices --json
  tenurectl work list   postgresql://localhost/app invoices --state dead
  tenurectl work retry  postgresql://localhost/app invoices --id 4711

Queues are kept in SQLite and PostgreSQL, beside the leases. Items are claimed and completed by services
that link the library (find_package(Tenure), core/work/work_queue.h).)";

Instant later()
{
    return BootClock::now() + kCallTimeout;
}

Result<StoreUri> uriOf(const WorkOptions &options)
{
    auto uri = StoreUri::parse(options.url);
    const char *password = std::getenv("TENURE_PASSWORD");
    if (uri && uri->password.empty() && password != nullptr)
        uri->password = password;
    return uri;
}

using QueueUse = std::function<Exit(WorkQueue &, Output &)>;

Exit withQueue(const WorkOptions &options, Output &output, const QueueUse &use)
{
    const auto uri = uriOf(options);
    if (!uri)
        return complain(uri.error());
    const auto queue = openWorkQueue(*uri, options.queue);
    if (!queue)
        return complain(queue.error());
    return use(**queue, output);
}

Exit init(const WorkOptions &options, WorkQueue &queue, Output &output)
{
    const auto made = queue.init(options.dryRun, later());
    if (!made)
        return complain(made.error());
    output.line(*made);
    return Exit::Done;
}

Exit counts(const WorkOptions &options, WorkQueue &queue, Output &output)
{
    const auto counted = queue.counts(later());
    if (!counted)
        return complain(counted.error());
    const auto &c = *counted;
    if (options.json) {
        Json line = {{"queue", textJson(options.queue)}, {"pending", c.pending}, {"delayed", c.delayed},
            {"processing", c.processing}, {"late", c.late}, {"completed", c.completed}, {"dead", c.dead}};
        line["oldest_pending_ms"] = c.oldestPending
            ? Json(std::chrono::duration_cast<Milliseconds>(*c.oldestPending).count())
            : Json(nullptr);
        line["fence"] = c.fence ? Json(c.fence.value) : Json(nullptr);
        output.line(oneLine(line));
        return Exit::Done;
    }
    const auto row = [&](const char *name, std::uint64_t many, const std::string &note = {}) {
        std::string text = std::string(name) + std::string(12 - std::string_view(name).size(), ' ');
        output.line(text + std::to_string(many) + (note.empty() ? "" : "   " + note));
    };
    row("pending", c.pending, c.oldestPending ? "oldest put in " + durationText(*c.oldestPending) + " ago" : "");
    row("delayed", c.delayed);
    row("processing", c.processing);
    row("late", c.late, c.late > 0 ? "their claims ran out" : "");
    row("completed", c.completed);
    row("dead", c.dead, c.dead > 0 ? "see: tenurectl work list ... --state dead" : "");
    return Exit::Done;
}

Json itemJson(const ItemView &item)
{
    Json line = {{"id", item.id}, {"state", stateWord(item.state)}, {"key", textJson(item.key)},
        {"attempts", item.attempts}, {"max_attempts", item.maxAttempts}, {"worker", textJson(item.worker)}};
    line["token"] = item.token ? Json(item.token.value) : Json(nullptr);
    line["fence"] = item.fence ? Json(item.fence.value) : Json(nullptr);
    line["due_ms"] = std::chrono::duration_cast<Milliseconds>(item.due).count();
    line["age_ms"] = std::chrono::duration_cast<Milliseconds>(item.age).count();
    line["bytes"] = item.bytes;
    line["excerpt"] = printable(item.excerpt, 200);
    line["reason"] = textJson(item.reason);
    return line;
}

Exit list(const WorkOptions &options, WorkQueue &queue, Output &output)
{
    std::optional<ItemState> state;
    for (const ItemState one : {ItemState::Pending, ItemState::Processing, ItemState::Completed, ItemState::Dead}) {
        if (options.state == stateWord(one))
            state = one;
    }
    if (!state)
        return complainUsage("--state is one of pending, processing, completed, dead");
    const auto items = queue.items(*state, options.id, options.limit, later());
    if (!items)
        return complain(items.error());
    for (const ItemView &item : *items) {
        if (options.json) {
            output.line(oneLine(itemJson(item)));
            continue;
        }
        std::string line = std::to_string(item.id) + "  " + stateWord(item.state) + "  attempt "
            + std::to_string(item.attempts) + " of " + std::to_string(item.maxAttempts);
        if (!item.worker.empty())
            line += "  " + printable(item.worker, 255) + " token " + std::to_string(item.token.value);
        line += "  put in " + durationText(item.age) + " ago  " + printable(item.excerpt, 60);
        output.line(line + (item.reason.empty() ? "" : "  (" + printable(item.reason, 120) + ")"));
    }
    return Exit::Done;
}

Exit put(const WorkOptions &options, WorkQueue &queue, Output &output)
{
    NewItem item;
    // One byte beyond the limit is enough to know that it is too large.
    std::istreambuf_iterator<char> in(std::cin);
    while (in != std::istreambuf_iterator<char>() && item.payload.size() <= kMaxPayloadBytes)
        item.payload += *in++;
    item.key = options.key;
    item.maxAttempts = options.maxAttempts;
    if (!options.delay.empty()) {
        const auto delay = parseDuration(options.delay);
        if (!delay)
            return complain(delay.error());
        item.delay = *delay;
    }
    const auto done = queue.enqueue(std::span(&item, 1), later());
    if (!done)
        return complain(done.error());
    const Enqueued &one = done->front();
    output.line(std::to_string(one.id) + (one.isNew ? "" : "  (was there already)"));
    return Exit::Done;
}

Exit retry(const WorkOptions &options, WorkQueue &queue, Output &output)
{
    if ((options.id == 0) != options.all)
        return complainUsage("Say which: --id ID, or --all for every dead letter");
    const std::string where = uriOf(options)->display(); // it was opened, so it can be read
    Journal::Options keep;
    keep.path = options.journal;
    const auto journal = std::make_shared<Journal>(keep);
    journal->describe({where, where, where});
    OperatorGate gate(nullptr, SystemClock::instance(), journaledAudit(journal, where, {}));
    gate.allowWrites(std::chrono::minutes(1)); // typing the command is the person's word
    const RetryPlan plan{options.queue, options.id, operatorName(),
        options.reason.empty() ? "none given" : options.reason};
    const RetryResult done = gate.retryDead(queue, plan);
    if (journal->status().state != JournalState::Writing)
        std::cerr << "tenurectl: this retry is not in the journal: " << journal->status().sentence << "\n";
    if (!done)
        return complain(done.error());
    output.line(std::to_string(*done) + " back to pending");
    return *done == 0 && options.id != 0 ? Exit::NobodyLeads : Exit::Done;
}

using Action = Exit (*)(const WorkOptions &, WorkQueue &, Output &);

CommandNode addAction(CommandNode &work, const char *name, const char *help,
    const std::shared_ptr<WorkOptions> &options, Chosen &chosen, Action action)
{
    CommandNode command = work.subcommand(name, help);
    command.option("URL", options->url, "Where the queue is").typeName("").required();
    command.option("QUEUE", options->queue, "Its name").typeName("").required();
    command.onChosen([options, &chosen, action] {
        chosen = [options, action](Output &output) {
            return withQueue(*options, output,
                [&](WorkQueue &queue, Output &out) { return action(*options, queue, out); });
        };
    });
    return command;
}

} // namespace

void addWorkCommand(CommandNode &app, Chosen &chosen)
{
    auto options = std::make_shared<WorkOptions>();
    CommandNode work = app.subcommand("work", "Look into a work queue, put items in, retry dead letters");
    work.requireSubcommand();
    work.footer(kExamples);
    addAction(work, "init", "Make what must exist", options, chosen, init)
        .flag("--dry-run", options->dryRun, "Show it, make nothing");
    addAction(work, "counts", "How many items, in which state, how old", options, chosen, counts)
        .flag("--json", options->json, "One JSON object");
    CommandNode items = addAction(work, "list", "Items of one state", options, chosen, list);
    items.option("--state", options->state, "pending, processing, completed or dead; default: dead")
        .typeName("STATE");
    items.option("--limit", options->limit, "At most so many; default: 50").typeName("N");
    items.option("--after", options->id, "Those listed behind this id; completed ones are listed newest first").typeName("ID");
    items.flag("--json", options->json, "One JSON object an item");
    CommandNode in = addAction(work, "put", "Put an item in; its payload comes from standard input", options, chosen, put);
    in.option("--key", options->key, "Idempotency key: a second item with it is not put in").typeName("KEY");
    in.option("--delay", options->delay, "Not to be claimed sooner").typeName("TIME");
    in.option("--max-attempts", options->maxAttempts, "Then it is a dead letter; default: 5").typeName("N");
    CommandNode again = addAction(work, "retry", "Dead letters become pending again", options, chosen, retry);
    again.option("--id", options->id, "This one").typeName("ID");
    again.flag("--all", options->all, "Every one");
    again.option("--reason", options->reason, "Why, for the audit trail").typeName("TEXT");
    again.option("--journal", options->journal, "Where the retry is noted; default the user's journal")
        .typeName("FILE");
}

} // namespace tenure::ctl
