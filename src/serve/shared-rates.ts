import { createNames, deriveSecret } from '../lib/hash.ts';
import type { Redis } from '../lib/redis.ts';
import { decideRate, ROUNDING_TOKENS } from '../lib/token-bucket.ts';
import type { Limited, NamedRate, SharedRates } from './admit.ts';

/**
 * `takeToken` of src/lib/token-bucket.ts, by the clock of Redis; test/http/shared-rates.timed.test.ts compares the
 * two. A bucket expires when it would be full again. A value that is not a bucket counts as a full one.
 *
 * KEYS the buckets; ARGV the rate and the burst of each. Returns, for each, whether there was a token and what is left.
 */
const TAKE = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local all = {}
for i, key in ipairs(KEYS) do
  local perSecond, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local kept = redis.pcall('GET', key)
  local tokens, atMs = string.match(type(kept) == 'string' and kept or '', '^(%S+) (%d+)$')
  tokens, atMs = tonumber(tokens or burst), tonumber(atMs or nowMs)
  if not (tokens and tokens >= 0) then tokens = burst end
  tokens = math.min(burst, tokens + math.max(0, nowMs - atMs) * perSecond / 1000)
  local passed = tokens >= 1 - ${ROUNDING_TOKENS}
  local left = passed and math.max(0, tokens - 1) or tokens
  local fullMs = math.min(1e13, math.ceil((burst - left) / perSecond * 1000) + 1000)
  redis.call('SET', key, string.format('%.17g %.0f', left, nowMs), 'PX', string.format('%.0f', fullMs))
  all[i] = {passed and 1 or 0, string.format('%.17g', left)}
  if not passed then break end
end
return all
`;

/** @param secret shared by all replicas: Redis has the ids of keys only as hashes under it */
export function createSharedRates(redis: Redis, secret: Uint8Array): SharedRates {
  const nameOf = createNames(deriveSecret(secret, 'tailrace rates'), 'tailrace:1:rate:');
  return {
    get isUp() {
      return redis.isUp;
    },
    async take(rates) {
      const keys = rates.map(({ name }) => nameOf(name));
      const args = rates.flatMap(({ rate }) => [String(rate.perSecond), String(rate.burst)]);
      const all = await redis.send(['EVAL', TAKE, String(keys.length), ...keys, ...args]);
      if (!Array.isArray(all)) return undefined;
      return all.map(([passed, left], i): Limited => {
        const { rate } = rates[i] as NamedRate; // the script returns one standing for each, or fewer
        return { rate, standing: decideRate(Number(left), passed === 1, rate) };
      });
    },
  };
}
