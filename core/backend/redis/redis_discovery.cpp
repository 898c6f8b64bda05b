// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/redis/redis_discovery.h"

#include "core/backend/redis/redis_errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>

namespace tenure::redis
{
namespace
{

constexpr Duration kPageBudget = std::chrono::milliseconds(150);

enum class FoundBy { Key, Companion };

/// A superset of the names wanted: it must match both a key and its companion `{key}:tenure`.
std::string scanPattern(const Keys &keys, const std::string &glob)
{
    std::string ours; // '[' and '\\' are plain in our globs, special in Redis'
    for (const char c : glob)
        ours += c == '*' || c == '?' ? std::string(1, c) : globEscaped(std::string(1, c));
    return "*" + globEscaped(keys.prefix()) + ours + "*";
}

class Page
{
public:
    Page(RespConnection &connection, const Settings &settings, const List &list, Instant deadline)
        : m_connection(connection), m_settings(settings), m_list(list), m_deadline(deadline)
    {
    }

    Result<Reply> fill()
    {
        const Instant stopAt = std::min(BootClock::now() + kPageBudget, m_deadline);
        const std::string pattern = scanPattern(m_settings.keys, m_list.glob);
        const std::string count
            = std::to_string(std::clamp<std::size_t>(m_list.pageSize, 10, 2000));
        std::string cursor = m_list.cursor.empty() ? "0" : m_list.cursor;
        Reply reply;
        do {
            Pipeline scan;
            scan.add({"SCAN", cursor, "MATCH", pattern, "COUNT", count});
            auto answers = m_connection.ask(scan, m_deadline);
            if (!answers)
                return fail(std::move(answers.error()));
            RespValue &answer = answers->front();
            if (answer.isError())
                return fail(errorOf(answer.text, m_settings.display));
            if (answer.items.size() != 2)
                return fail(
                    ErrorKind::Corrupt, "SCAN's answer cannot be understood", m_settings.display);
            cursor = answer.items[0].text;
            if (auto read = readFound(answer.items[1].items, reply); !read)
                return fail(std::move(read.error()));
        } while (
            cursor != "0" && reply.records.size() < m_list.pageSize && BootClock::now() < stopAt);
        reply.cursor = cursor == "0" ? std::string() : cursor;
        return reply;
    }

private:
    /// A lease with a companion is told through it alone, so that it shows once over all pages.
    std::map<std::string, FoundBy> wanted(const std::vector<RespValue> &found) const
    {
        std::map<std::string, FoundBy> out;
        for (const RespValue &item : found) {
            const auto owner = Keys::keyOfCompanion(item.text);
            const std::string &key = owner ? *owner : item.text;
            const auto name = m_settings.keys.nameOf(key);
            if (!name || !globMatch(m_list.glob, *name))
                continue;
            if (owner)
                out[key] = FoundBy::Companion;
            else
                out.emplace(key, FoundBy::Key);
        }
        return out;
    }

    Result<void> readFound(const std::vector<RespValue> &found, Reply &reply)
    {
        const auto keys = wanted(found);
        if (keys.empty())
            return {};
        Pipeline pipeline;
        pipeline.add({"TIME"});
        for (const auto &[key, by] : keys)
            addFullRead(pipeline, key);
        const auto answers = m_connection.ask(pipeline, m_deadline);
        if (!answers)
            return fail(answers.error());
        const std::int64_t now = timeOf(answers->front());
        reply.serverTime = WallTime(std::chrono::microseconds(now));
        std::size_t next = 1;
        std::vector<std::string> others;
        for (const auto &[key, by] : keys) {
            const auto mine = std::span(*answers).subspan(next, 3);
            next += 3;
            if (mine[0].isError())
                others.push_back(key);
            else if (const auto state = fullState(mine, now, m_settings.display))
                take(key, by, *state, reply);
        }
        return readOthers(others, reply);
    }

    void take(const std::string &key, FoundBy by, const LeaseState &state, Reply &reply)
    {
        const bool known = state.hasCompanion();
        if (by == FoundBy::Key && known)
            return;
        const bool ours = known || (state.value && ownValue(*state.value));
        if (!ours && (!state.value || !foreignKind(key, *state.value, state.pttl)))
            return;
        reply.records.push_back(
            recordOf(LeaseId::observed(*m_settings.keys.nameOf(key)), key, state));
    }

    /// Hashes may be Redisson's locks; anything else of another type is not ours to tell.
    Result<void> readOthers(const std::vector<std::string> &keys, Reply &reply)
    {
        for (const std::string &key : keys) {
            if (Keys::keyOfCompanion(key))
                continue;
            auto record = readOther(
                m_connection, LeaseId::observed(*m_settings.keys.nameOf(key)), key, m_deadline);
            if (record)
                reply.records.push_back(std::move(*record));
            else if (record.error().kind != ErrorKind::BadConfig)
                return fail(std::move(record.error()));
        }
        return {};
    }

    RespConnection &m_connection;
    const Settings &m_settings;
    const List &m_list;
    const Instant m_deadline;
};

} // namespace

Result<Reply> listPage(
    RespConnection &connection, const Settings &settings, const List &list, Instant deadline)
{
    return Page(connection, settings, list, deadline).fill();
}

} // namespace tenure::redis
