-- SPDX-License-Identifier: GPL-3.0-or-later
-- ARGV: channel, holder, nonce, token ('0': compare holder and nonce alone).
if not held or owner ~= ARGV[2] .. '#' .. ARGV[3] or (ARGV[4] ~= '0' and h[TOKEN] ~= ARGV[4]) then
  return answer('lost')
end
redis.call('DEL', KEYS[1]) -- first: a server with full memory takes this, and then the others
set(RELEASED, '1')
settleAsk(tonumber(now))
owner, pttl = false, -2
tell('released')
return answer('released')
