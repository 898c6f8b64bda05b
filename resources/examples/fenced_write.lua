-- SPDX-License-Identifier: GPL-3.0-or-later
-- A Redis key that refuses older tokens. KEYS[1]: a hash with the fields token and value.
-- ARGV: token (TENURE_TOKEN), value. Returns 1: written; 0: a newer token was here, stop.
-- Tokens are compared as digits, because Lua's numbers are exact only up to 2^53.
local seen = redis.call('HGET', KEYS[1], 'token') or '0'
local given = ARGV[1]
if #given < #seen or (#given == #seen and given < seen) then
    return 0
end
redis.call('HSET', KEYS[1], 'token', given, 'value', ARGV[2])
return 1
