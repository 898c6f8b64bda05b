-- SPDX-License-Identifier: GPL-3.0-or-later
-- ARGV: channel, holder, nonce, ttl in ms, '1' when new terms are refused (epoch rule).
local holder, nonce, ttl, barred = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if held and owner == holder .. '#' .. nonce then
  -- The very same grant again: its answer was lost. Same term, same token.
  if not h[TOKEN] or h[NONCE] ~= nonce then
    begin(holder, nonce, ttl, '')
  else
    set(RENEWED, now, TTL, ttl)
    pttl = tonumber(ttl)
    redis.call('PEXPIRE', KEYS[1], ttl)
  end
  return answer('granted')
end
if held then return answer('refused') end
if barred == '1' then
  owner, pttl = false, -2
  return answer('barred')
end
-- Deleted before its end, by hand or by eviction: its holder may still believe.
local endsAt = (tonumber(h[RENEWED] or '0') or 0) + (tonumber(h[TTL] or '0') or 0) * 1000
if not owner and h[RELEASED] ~= '1' and endsAt > tonumber(now)
    and not (h[HOLDER] == holder and h[NONCE] == nonce) then
  if tonumber(h[RENEWED]) > tonumber(now) then
    set(RENEWED, now) -- the clock stepped back: wait for one ttl from here, not for hours
  end
  return answer('guarded')
end
if endsAt <= tonumber(now) or h[RELEASED] == '1' then settleAsk(math.min(endsAt, tonumber(now))) end
if h[OUT_HOLDER] == holder and tonumber(h[OUT_UNTIL] or '0') > tonumber(now) then
  owner, pttl = false, -2
  return answer('out')
end
begin(holder, nonce, ttl, '')
tell('gained')
return answer('granted')
