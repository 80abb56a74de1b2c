import { createNames, deriveSecret } from '../../lib/derived-secret.ts';
import {
  createScript,
  isRefusal,
  type Redis,
  type RedisReply,
  runScript,
  type SendCommand,
} from '../../lib/redis.ts';
import type { Answer } from '../../query/run.ts';
import { createFrames, FRAME_BYTES_MAX, MARK_BYTES, markOf } from './frame.ts';
import { createLeases, LEASE_MS } from './lease.ts';
import type { SharedCache } from './shared-cache.ts';

// Of what is read of a lease: more than any token of ours.
const TOKEN_BYTES_MAX = 64;

export interface RedisCacheOptions {
  readonly redis: Redis;
  /** What all replicas have in common, and nobody else. */
  readonly secret: Uint8Array;
  /** Told apart from others that use the same Redis with the same secret: the store that the answers come from. */
  readonly store: string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly makeToken: () => string;
  /** Something stood in the place of an answer that none of us has put there. */
  readonly onRefused: () => void;
}

// Of a later one than ours, or of one that cannot be: then it is no answer of ours, and makes room.
const KEEP = createScript(`
local time = redis.call('TIME')
local kept = redis.pcall('GETRANGE', KEYS[1], 0, ${MARK_BYTES - 1})
local madeMs = type(kept) == 'string' and tonumber(string.sub(kept, 2)) or 0
if madeMs > tonumber(ARGV[2]) and madeMs <= time[1] * 1000 + time[2] / 1000 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`);

/**
 * A cache on Redis or Valkey. Names there are hashes under the secret, and answers are signed with their keys, so that Redis
 * tells nothing of them but their bytes, and can give none but what a replica put there for the same question.
 *
 * Ages are told by Redis' own clock, which all replicas share; their own may differ as they like.
 */
export function createRedisCache(options: RedisCacheOptions): SharedCache {
  const { redis, secret, store, now, onRefused } = options;
  const frames = createFrames(deriveSecret(secret, `tailrace answers of ${store}`));
  const nameSecret = deriveSecret(secret, `tailrace names of ${store}`);
  const nameOf = createNames(nameSecret, 'tailrace:1:answer:');
  const leaseNameOf = createNames(nameSecret, 'tailrace:1:lease:');
  const takeLease = createLeases(redis, options.makeToken);
  const marks = new WeakMap<Answer, string>();

  /** What this clock says at a time of Redis' clock, at the latest and at the earliest. */
  async function compareClocks(send: SendCommand) {
    const before = now();
    const redisMs = readTime(await send(['TIME']));
    return { redisMs, before, after: now() };
  }

  async function refuse(name: string): Promise<'none'> {
    onRefused();
    await redis.run((send) => send(['DEL', name]));
    return 'none';
  }

  return {
    markOf: (answer) => marks.get(answer),
    async find(key) {
      const name = nameOf(key);
      const found = await redis.run((send) =>
        Promise.all([readBytes(send, name, FRAME_BYTES_MAX), compareClocks(send)]),
      );
      if (found === undefined) return undefined;
      const [bytes, { redisMs, before }] = found;
      if (bytes?.length === 0) return 'none';
      const framed = bytes && (await frames.decode(key, bytes));
      if (framed === undefined) return await refuse(name);
      const answer = { ...framed.answer, instantMs: before - (redisMs - framed.madeMs) };
      marks.set(answer, markOf(framed.madeMs));
      return answer;
    },
    async look(key) {
      const seen = await redis.run((send) =>
        Promise.all([
          readBytes(send, nameOf(key), MARK_BYTES - 1),
          readBytes(send, leaseNameOf(key), TOKEN_BYTES_MAX - 1),
          send(['PTTL', leaseNameOf(key)]),
        ]),
      );
      if (seen === undefined) return undefined;
      const [bytes, token, leftMs] = seen;
      // A lease that does not end in time is none of ours, and nobody waits for its holder.
      const isLeased = typeof leftMs === 'number' && leftMs > 0 && leftMs <= LEASE_MS;
      const holder = isLeased ? (token?.toString('latin1') ?? '') : '';
      return { mark: bytes?.toString('latin1') ?? '', holder };
    },
    lease: (key) => takeLease({ lease: leaseNameOf(key), answer: nameOf(key) }),
    async keep(key, answer, { seconds }) {
      const clocks = await redis.run(compareClocks);
      if (clocks === undefined) return;
      const ageMs = Math.max(clocks.after - answer.instantMs, 0);
      const madeMs = clocks.redisMs - ageMs;
      const lifeMs = Math.floor(seconds * 1000 - ageMs);
      const bytes = lifeMs > 0 ? await frames.encode(key, { answer, madeMs }) : undefined;
      if (bytes === undefined) return;
      const args = [bytes, String(madeMs), String(lifeMs)];
      const kept = await redis.run((send) => runScript(send, KEEP, { keys: [nameOf(key)], args }));
      if (kept === 1) marks.set(answer, markOf(madeMs));
    },
  };
}

/** The first bytes of a value, `last` and those before it; empty where there is none, `undefined` where it is no text at all. */
async function readBytes(send: SendCommand, name: string, last: number): Promise<Buffer | undefined> {
  try {
    const reply = await send(['GETRANGE', name, '0', String(last)]);
    return Buffer.isBuffer(reply) ? reply : undefined;
  } catch (error) {
    if (isRefusal(error, 'WRONGTYPE')) return undefined;
    throw error;
  }
}

/** Seconds and microseconds, as `TIME` tells them → ms. */
function readTime(reply: RedisReply): number {
  if (!Array.isArray(reply)) throw new Error('Redis tells no time');
  const [seconds, micros] = reply.map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
