-- SPDX-License-Identifier: GPL-3.0-or-later
-- ARGV: channel, holder, nonce, token, ttl in ms. Never re-creates.
if not held or owner ~= ARGV[2] .. '#' .. ARGV[3] or h[NONCE] ~= ARGV[3] or h[TOKEN] ~= ARGV[4] then
  return answer('lost')
end
-- First the write that a server with full memory still takes: behind it the other is taken too.
redis.call('PEXPIRE', KEYS[1], ARGV[5])
pttl = tonumber(ARGV[5])
set(RENEWED, now, TTL, ARGV[5])
return answer('renewed')
