import { createScript, type Redis, runScript } from '../../lib/redis.ts';
import { MARK_BYTES } from './frame.ts';

/** Life of a lease: a replica that died delays the others for so long. */
export const LEASE_MS = 3_000;
// Three chances to renew it.
const RENEW_MS = 1_000;

// A lease with a longer life is not ours and is ignored. Returns the mark of the answer, too: one may have come since the probe.
const TAKE = createScript(`
local leftMs = redis.call('PTTL', KEYS[1])
local isHeld = leftMs > 0 and leftMs <= tonumber(ARGV[2])
if not isHeld then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
local answer = redis.pcall('GETRANGE', KEYS[2], 0, ${MARK_BYTES - 1})
return {isHeld and 0 or 1, type(answer) == 'string' and answer or ''}
`);
// Only this replica's lease: another may have taken it after it had ended.
const RENEW = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`);
const RELEASE = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

export interface Lease {
  /** The mark of the answer that was stored when the lease was taken; empty if there was none. */
  readonly mark: string;
  /** Idempotent. */
  release(): Promise<void>;
}

/** Takes leases, and renews them while this process lives. @returns takes one; both parameters are names in Redis */
export function createLeases(redis: Redis, createToken: () => string) {
  return async (lease: string, answer: string): Promise<Lease | 'held' | undefined> => {
    const token = createToken();
    const run = (script: typeof TAKE, ...keys: string[]) =>
      redis.run((send) => runScript(send, script, { keys, args: [token, String(LEASE_MS)] }));
    const taken = await run(TAKE, lease, answer);
    if (!Array.isArray(taken)) return undefined;
    if (taken[0] !== 1) return 'held';
    const renewing = setInterval(() => void run(RENEW, lease), RENEW_MS);
    let released: Promise<void> | undefined;
    return {
      mark: String(taken[1]),
      release() {
        clearInterval(renewing);
        released ??= run(RELEASE, lease).then(() => {});
        return released;
      },
    };
  };
}
