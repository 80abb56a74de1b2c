import { createNames, deriveSecret } from '../../lib/derived-secret.ts';
import {
  createScript,
  isRefusal,
  type Redis,
  type RedisReply,
  runScript,
  type SendCommand,
} from '../../lib/redis.ts';
import type { Question } from '../../query/question.ts';
import type { Answer } from '../../query/run.ts';
import { createFrames, FRAME_BYTES_MAX, MARK_BYTES, markOf } from './frame.ts';
import { createLeases, LEASE_MS, type Lease } from './lease.ts';

// Bytes that are read of a lease: more than any of our tokens has.
const TOKEN_BYTES_MAX = 64;

export type SharedCache = ReturnType<typeof createRedisCache>;

export interface Probe {
  /** Differs for every answer; empty if there is none. */
  readonly mark: string;
  /** Differs each time that the lease is taken; empty if no replica holds it. */
  readonly holder: string;
}

export interface RedisCacheOptions {
  readonly redis: Redis;
  /** The secret of all replicas. */
  readonly secret: Uint8Array;
  /** Names the store that the answers come from: others may use the same Redis with the same secret. */
  readonly store: string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly createToken: () => string;
  /** Called if the value read as an answer was not stored by a replica. */
  readonly onRefused: () => void;
}

// Keeps a stored answer if it is later. One from the future is not ours and is replaced.
const KEEP = createScript(`
local time = redis.call('TIME')
local kept = redis.pcall('GETRANGE', KEYS[1], 0, ${MARK_BYTES - 1})
local madeMs = type(kept) == 'string' and tonumber(string.sub(kept, 2)) or 0
if madeMs > tonumber(ARGV[2]) and madeMs <= time[1] * 1000 + time[2] / 1000 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`);

/**
 * A cache on Redis or Valkey. Names there are hashes under the secret, and answers are signed together with their keys: names
 * reveal nothing, and only an answer that a replica has stored for the same question is accepted.
 *
 * Ages are measured by the clock of Redis, which all replicas share; their own may differ. Redis may be unavailable at any time,
 * which is never a failure: every call then returns `undefined`, and the replica works without the others.
 */
export function createRedisCache(options: RedisCacheOptions) {
  const { redis, secret, store, now, onRefused } = options;
  const frames = createFrames(deriveSecret(secret, `tailrace answers of ${store}`));
  const nameSecret = deriveSecret(secret, `tailrace names of ${store}`);
  const nameOf = createNames(nameSecret, 'tailrace:1:answer:');
  const leaseNameOf = createNames(nameSecret, 'tailrace:1:lease:');
  const takeLease = createLeases(redis, options.createToken);
  const marks = new WeakMap<Answer, string>();

  /** The time of Redis, and this process's time just before and just after it was read. */
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
    /** Returns the mark under which `find` found an answer or `keep` stored it; `undefined` for one that was not stored there. */
    markOf: (answer: Answer) => marks.get(answer),
    /**
     * Returns the answer to a question with its instant by this replica's clock: its true age, or older by a round trip, never younger.
     *
     * @returns `none` if there is none that can be trusted
     */
    async find({ key, format }: Question): Promise<Answer | 'none' | undefined> {
      const name = nameOf(key);
      const found = await redis.run((send) =>
        Promise.all([readBytes(send, name, FRAME_BYTES_MAX), compareClocks(send)]),
      );
      if (found === undefined) return undefined;
      const [bytes, { redisMs, before }] = found;
      if (bytes?.length === 0) return 'none';
      const framed = bytes && (await frames.decode(key, bytes));
      if (framed === undefined) return await refuse(name);
      const answer = { ...framed.answer, format, instantMs: before - (redisMs - framed.madeMs) };
      marks.set(answer, markOf(framed.madeMs));
      return answer;
    },
    /** Reads the state of a key, without the answer. */
    async probe(key: string): Promise<Probe | undefined> {
      const seen = await redis.run((send) =>
        Promise.all([
          readBytes(send, nameOf(key), MARK_BYTES - 1),
          readBytes(send, leaseNameOf(key), TOKEN_BYTES_MAX - 1),
          send(['PTTL', leaseNameOf(key)]),
        ]),
      );
      if (seen === undefined) return undefined;
      const [bytes, token, leftMs] = seen;
      // A lease with a longer life is not ours and is ignored.
      const isLeased = typeof leftMs === 'number' && leftMs > 0 && leftMs <= LEASE_MS;
      const holder = isLeased ? (token?.toString('latin1') ?? '') : '';
      return { mark: bytes?.toString('latin1') ?? '', holder };
    },
    /** Takes the lease of a key unless a replica has it: its holder computes the answer, the others wait for that. */
    lease: (key: string): Promise<Lease | 'held' | undefined> => takeLease(leaseNameOf(key), nameOf(key)),
    /**
     * Stores an answer, unless there is a later one.
     *
     * @param lifeSeconds how long it may be served, counted from the instant of its query
     */
    async keep(key: string, answer: Answer, lifeSeconds: number): Promise<void> {
      const clocks = await redis.run(compareClocks);
      if (clocks === undefined) return;
      const ageMs = Math.max(clocks.after - answer.instantMs, 0);
      const madeMs = clocks.redisMs - ageMs;
      const lifeMs = Math.floor(lifeSeconds * 1000 - ageMs);
      const bytes = lifeMs > 0 ? await frames.encode(key, { answer, madeMs }) : undefined;
      if (bytes === undefined) return;
      const args = [bytes, String(madeMs), String(lifeMs)];
      const kept = await redis.run((send) => runScript(send, KEEP, { keys: [nameOf(key)], args }));
      if (kept === 1) marks.set(answer, markOf(madeMs));
    },
  };
}

/** Reads the bytes of a value up to position `last`; empty if there is none, `undefined` if it is not a string. */
async function readBytes(send: SendCommand, name: string, last: number): Promise<Buffer | undefined> {
  try {
    const reply = await send(['GETRANGE', name, '0', String(last)]);
    return Buffer.isBuffer(reply) ? reply : undefined;
  } catch (error) {
    if (isRefusal(error, 'WRONGTYPE')) return undefined;
    throw error;
  }
}

/** Converts the reply to `TIME`, seconds and microseconds, to ms. */
function readTime(reply: RedisReply): number {
  if (!Array.isArray(reply)) throw new Error('the reply of Redis to TIME is not a list');
  const [seconds, micros] = reply.map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
