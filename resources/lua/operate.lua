-- SPDX-License-Identifier: GPL-3.0-or-later
-- ARGV: channel, verb, value seen ('' for vacant), token seen ('0': none), by, nonce, duration in ms.
local verb, seen, token, duration = ARGV[2], ARGV[3], ARGV[4], ARGV[7]
local value = held and owner or ''
if value ~= seen or (token ~= '0' and h[TOKEN] ~= token) then return answer('conflict') end
if verb ~= 'hold' and not held then return answer('vacant') end
if verb == 'ask' then
  if not h[NONCE] or string.sub(owner, -32) ~= h[NONCE] then return answer('conflict') end
  set(ASK_NONCE, h[NONCE], ASK_MS, duration)
  tell('asked')
elseif verb == 'hold' then
  local ms = math.max(tonumber(duration), pttl)
  -- A key that was deleted by hand may have left somebody who still believes.
  local endsAt = (tonumber(h[RENEWED] or '0') or 0) + (tonumber(h[TTL] or '0') or 0) * 1000
  if not held and h[RELEASED] ~= '1' then
    ms = math.max(ms, math.ceil((endsAt - tonumber(now)) / 1000))
  end
  settleAsk(tonumber(now))
  begin('hold:' .. ARGV[5], ARGV[6], string.format('%.0f', ms), ARGV[5])
  tell('held')
else
  set(RELEASED, '1')
  settleAsk(tonumber(now))
  redis.call('DEL', KEYS[1])
  owner, pttl = false, -2
  tell('released')
end
return answer('operated')
