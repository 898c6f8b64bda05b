-- SPDX-License-Identifier: GPL-3.0-or-later
-- A lock of Redisson: a hash with one field <client uuid>:<thread>.
-- KEYS: the lock, its companion, queue and timeouts of a fair lock. ARGV: our channel, verb, field
-- seen, Redisson's channel, by, nonce, duration in ms.
local verb, field, by, nonce = ARGV[2], ARGV[3], ARGV[5], ARGV[6]
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' or redis.call('HLEN', KEYS[1]) ~= 1
    or redis.call('HEXISTS', KEYS[1], field) == 0 then
  return {'conflict'}
end
local time = redis.call('TIME')
if verb == 'hold' then
  -- Redisson's own candidates see a foreign field and wait until it expires.
  local ms = math.max(tonumber(ARGV[7]), redis.call('PTTL', KEYS[1]))
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'hold:' .. by .. '#' .. nonce, 1)
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ms))
else
  redis.call('DEL', KEYS[1])
  -- A dead head would block the queue of a fair lock.
  local head = redis.call('LINDEX', KEYS[3], 0)
  local dropAt = head and redis.call('ZSCORE', KEYS[4], head)
  if dropAt and tonumber(dropAt) <= tonumber(time[1]) * 1000 then
    redis.call('LPOP', KEYS[3])
    redis.call('ZREM', KEYS[4], head)
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  redis.pcall('PUBLISH', head and (ARGV[4] .. ':' .. head) or ARGV[4], '0')
end
redis.pcall('PUBLISH', ARGV[1], verb == 'hold' and 'held' or 'released')
return {'operated'}
