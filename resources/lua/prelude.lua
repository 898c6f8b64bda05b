-- SPDX-License-Identifier: GPL-3.0-or-later
-- Put before every verb. KEYS[1] the lease (holder#nonce), KEYS[2] its companion hash.
-- Every verb answers {status, value, pttl, now in us, the FIELDS in order}: nobody needs a second call.
-- Numbers that may pass 2^53 (tokens) stay strings.
local FIELDS = {'holder', 'nonce', 'token', 'acquired_us', 'renewed_us', 'ttl_ms', 'transitions',
  'released', 'hold_by', 'ask_nonce', 'ask_ms', 'out_holder', 'out_until_us'}
local HOLDER, NONCE, TOKEN, ACQUIRED, RENEWED, TTL, TRANSITIONS, RELEASED, HOLD, ASK_NONCE, ASK_MS,
  OUT_HOLDER, OUT_UNTIL = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13

local time = redis.call('TIME')
local now = time[1] .. string.format('%06d', tonumber(time[2]))
local owner = redis.pcall('GET', KEYS[1])
if type(owner) == 'table' then
  if string.find(owner.err, 'WRONGTYPE', 1, true) then
    return {'type', redis.call('TYPE', KEYS[1]).ok}
  end
  return owner
end
local pttl = owner and redis.call('PTTL', KEYS[1]) or -2
local h = redis.call('HMGET', KEYS[2], unpack(FIELDS))
-- Less than a millisecond is over: whoever asks now may have it.
local held = owner and pttl ~= 0

local function answer(status)
  local shown = owner and string.sub(owner, 1, 4097)
  return {status, shown, pttl, now, unpack(h, 1, #FIELDS)}
end

local function set(...)
  local pairs = {...}
  local args = {}
  for i = 1, #pairs, 2 do
    h[pairs[i]] = pairs[i + 1]
    args[#args + 1] = FIELDS[pairs[i]]
    args[#args + 1] = pairs[i + 1]
  end
  redis.call('HSET', KEYS[2], unpack(args))
end

-- The right to publish is not needed to lead: without it others only learn later.
local function tell(body)
  redis.pcall('PUBLISH', ARGV[1], body)
end

local function larger(a, b)
  return #a > #b or (#a == #b and a > b)
end

-- max(previous + 1, now), as decimal strings.
local function nextToken()
  local s = h[TOKEN]
  if not s or not string.find(s, '^%d+$') then return now end
  local i = #s
  while i > 0 and string.byte(s, i) == 57 do i = i - 1 end
  local plus
  if i == 0 then
    plus = '1' .. string.rep('0', #s)
  else
    plus = string.sub(s, 1, i - 1) .. string.char(string.byte(s, i) + 1) .. string.rep('0', #s - i)
  end
  return larger(plus, now) and plus or now
end

local function begin(holder, nonce, ttl, hold)
  local changed = h[HOLDER] and h[HOLDER] ~= '' and h[HOLDER] ~= holder
  set(HOLDER, holder, NONCE, nonce, TOKEN, nextToken(), ACQUIRED, now, RENEWED, now, TTL, ttl,
    TRANSITIONS, tostring((tonumber(h[TRANSITIONS] or '0') or 0) + (changed and 1 or 0)),
    RELEASED, '0', HOLD, hold, ASK_NONCE, '', ASK_MS, '')
  owner = holder .. '#' .. nonce
  pttl = tonumber(ttl)
  redis.call('SET', KEYS[1], owner, 'PX', ttl)
end

-- A holder that was asked to step down stays out for as long as it was asked to.
local function settleAsk(endedAt)
  if h[ASK_NONCE] and h[ASK_NONCE] ~= '' and h[ASK_NONCE] == h[NONCE] then
    set(OUT_HOLDER, h[HOLDER],
      OUT_UNTIL, string.format('%.0f', endedAt + (tonumber(h[ASK_MS]) or 0) * 1000),
      ASK_NONCE, '')
  end
end
