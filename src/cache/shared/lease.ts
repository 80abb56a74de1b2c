import { createScript, type Redis, runScript } from '../../lib/redis.ts';
import { MARK_BYTES } from './frame.ts';
import type { Lease } from './shared-cache.ts';

/** What a lease of a replica that died is given up after: how long it holds up the others. */
export const LEASE_MS = 3_000;
// Three chances to renew it.
const RENEW_MS = 1_000;

// A lease that does not end in time is none of ours, and keeps nobody. With the mark of the answer, so that whoever has the lease
// knows whether one has come since it looked.
const TAKE = createScript(`
local leftMs = redis.call('PTTL', KEYS[1])
local isHeld = leftMs > 0 and leftMs <= tonumber(ARGV[2])
if not isHeld then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
local answer = redis.pcall('GETRANGE', KEYS[2], 0, ${MARK_BYTES - 1})
return {isHeld and 0 or 1, type(answer) == 'string' and answer or ''}
`);
// Only its own: it may have been given up for dead, and taken by another.
const RENEW = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`);
const FREE = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

export interface LeaseNames {
  readonly lease: string;
  readonly answer: string;
}

/** Takes leases that their holder renews for as long as it lives. */
export function createLeases(redis: Redis, makeToken: () => string) {
  return async (names: LeaseNames): Promise<Lease | 'held' | undefined> => {
    const token = makeToken();
    const run = (script: typeof RENEW) =>
      redis.run((send) => runScript(send, script, { keys: [names.lease], args: [token, String(LEASE_MS)] }));
    const taken = await redis.run((send) =>
      runScript(send, TAKE, { keys: [names.lease, names.answer], args: [token, String(LEASE_MS)] }),
    );
    if (!Array.isArray(taken)) return undefined;
    if (taken[0] !== 1) return 'held';
    const renewing = setInterval(() => void run(RENEW), RENEW_MS);
    let freed: Promise<void> | undefined;
    return {
      mark: String(taken[1]),
      free() {
        clearInterval(renewing);
        freed ??= run(FREE).then(() => {});
        return freed;
      },
    };
  };
}
