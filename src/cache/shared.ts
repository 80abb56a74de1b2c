import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { queryTimeout } from '../engine/failure.ts';
import { createDeadline, untilAborted } from '../lib/abort.ts';
import { createNames, deriveSecret } from '../lib/hash.ts';
import type { Redis } from '../lib/redis.ts';
import type { Question } from '../query/question.ts';
import type { Answer } from '../query/run.ts';

/** An answer, and whether this replica's engine computed it or another replica shared it. */
export interface FlightResult {
  readonly answer: Answer;
  readonly outcome: 'miss' | 'shared';
}

export interface Computation {
  readonly question: Question;
  /** How long the answer may be served, counted from the instant of its query. */
  readonly lifeSeconds: number;
  readonly compute: (signal: AbortSignal) => Promise<Answer>;
  /** Aborts when no caller waits any more. */
  readonly signal: AbortSignal;
}

/** The right to compute an answer while the other replicas wait for it. Called to release it. */
export type Lease = () => void;

/** Another replica has the answer, or this one computes it, or another one is computing it. */
type Claim = { readonly answer: Answer } | { readonly lease: Lease } | 'held';

export type SharedAnswers = ReturnType<typeof createSharedAnswers>;

/** Outcome of a look-up in Redis; `taken`: another replica has computed the refresh that was due. */
export type Lookup = 'hit' | 'miss' | 'taken';

export interface SharedAnswersOptions {
  readonly redis: Redis;
  /** The secret of all replicas. */
  readonly secret: Uint8Array;
  /** Names the store that the answers come from: others may use the same Redis with the same secret. */
  readonly store: string;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Longest that an answer may take, including the wait for other replicas. */
  readonly queryTimeoutMs: number;
  readonly onLookup: (result: Lookup) => void;
  /** Called if the value read as an answer was not stored by a replica. */
  readonly onRejected: () => void;
}

// At 400 Mbit/s this takes a third of the timeout of Redis; larger values would look like an unavailable Redis.
const VALUE_BYTES_MAX = 4 * 1024 * 1024;
// The largest body that is compressed: JSON rarely shrinks to less than an eighth.
const BODY_BYTES_MAX = 8 * VALUE_BYTES_MAX;
// A replica that died delays the others for so long. Its holder has three chances to renew a lease.
const LEASE_MS = 3_000;
const RENEW_MS = 1_000;
const POLL_MS = 25;
// The rest of the time is left for this replica's own query: the one that all wait for may hang.
const WAIT_SHARE = 0.5;
// Ages are measured by the clocks of the replicas. An answer from further in the future has no age that can be trusted.
const CLOCKS_DIFFER_MS_MAX = 2_000;

/**
 * Answers of all replicas, on Redis or Valkey. Names there are hashes under the secret, and values are sealed
 * together with their names: they reveal no question, and only an answer that a replica has stored for the same
 * question is accepted.
 *
 * Redis may be unavailable or lose anything at any time, which costs a query and is never a failure. A lease is a
 * key that expires; if two replicas hold it, such as after a pause, both compute.
 */
export function createSharedAnswers(options: SharedAnswersOptions) {
  const { redis, secret, store, now, queryTimeoutMs, onLookup } = options;
  const { seal, unseal } = createSeals(deriveSecret(secret, `tailrace answers of ${store}`));
  const nameSecret = deriveSecret(secret, `tailrace names of ${store}`);
  const nameOf = createNames(nameSecret, 'tailrace:2:answer:');
  const leaseNameOf = createNames(nameSecret, 'tailrace:2:lease:');
  const running = new Set<Promise<unknown>>();

  /** Returns the answer to a question; `undefined` if there is none that can be trusted. */
  async function find({ key, format }: Question): Promise<Answer | undefined> {
    const name = nameOf(key);
    // A range, since anybody could have stored more there than this process has memory for.
    const value = await redis.send(['GETRANGE', name, '0', String(VALUE_BYTES_MAX)]);
    if (!Buffer.isBuffer(value) || value.length === 0) return undefined;
    const found = await unseal(name, value);
    if (found === undefined) options.onRejected();
    const nowMs = now();
    if (found === undefined || found.instantMs > nowMs + CLOCKS_DIFFER_MS_MAX) return undefined;
    return { ...found, format, instantMs: Math.min(found.instantMs, nowMs) };
  }

  async function findGood(question: Question, isGood: (answer: Answer) => boolean) {
    const answer = await find(question);
    return answer !== undefined && isGood(answer) ? { answer } : undefined;
  }

  async function share(key: string, answer: Answer, lifeSeconds: number): Promise<void> {
    const name = nameOf(key);
    const value = await seal(name, answer);
    const lifeMs = Math.floor(answer.instantMs + lifeSeconds * 1000 - now());
    if (value !== undefined && lifeMs > 0) await redis.send(['SET', name, value, 'PX', String(lifeMs)]);
  }

  async function takeLease(key: string): Promise<Lease | 'held'> {
    const name = leaseNameOf(key);
    const set = (when: 'NX' | 'XX') => redis.send(['SET', name, '', when, 'PX', String(LEASE_MS)]);
    const reply = await set('NX');
    if (reply === null) return 'held';
    if (reply === undefined) return () => {}; // Redis is unavailable: computes at once, and no other replica waits
    const renewing = setInterval(() => void set('XX'), RENEW_MS);
    return () => {
      clearInterval(renewing);
      run(redis.send(['DEL', name]));
    };
  }

  /** Decides without waiting. An answer may have come since the caller looked for it, so it is looked for once more. */
  async function claim(question: Question, isGood: (answer: Answer) => boolean): Promise<Claim> {
    const lease = await takeLease(question.key);
    if (lease === 'held') return 'held';
    const found = await findGood(question, isGood);
    if (found === undefined) return { lease };
    lease();
    return found;
  }

  /** Fire and forget; `idle` waits for it. */
  function run(work: Promise<unknown>): void {
    const done = work.catch(() => {}).finally(() => running.delete(done));
    running.add(done);
  }

  /** Computes the answer and shares it. @param lease released when the answer is there or has failed */
  async function compute(computation: Computation, lease?: Lease): Promise<FlightResult> {
    const { question, lifeSeconds, signal } = computation;
    try {
      const answer = await computation.compute(signal);
      // In this order: a replica that sees the lease released has to find the answer.
      run(share(question.key, answer, lifeSeconds).finally(lease));
      return { answer, outcome: 'miss' };
    } catch (error) {
      lease?.();
      throw error;
    }
  }

  return {
    find,
    compute,
    /**
     * Returns the answer that is shared, or that another replica is computing; otherwise this one computes and shares it.
     * @param isGood whether an answer of another replica is acceptable
     */
    async obtain(computation: Computation, isGood: (answer: Answer) => boolean): Promise<FlightResult> {
      const { question } = computation;
      const late = () => queryTimeout(queryTimeoutMs);
      const { signal, clear } = createDeadline(queryTimeoutMs, late, computation.signal);
      const waitUntilMs = performance.now() + queryTimeoutMs * WAIT_SHARE;
      try {
        let claimed: Claim = (await findGood(question, isGood)) ?? (await claim(question, isGood));
        while (claimed === 'held' && performance.now() < waitUntilMs) {
          await untilAborted(delay(POLL_MS), signal);
          claimed = await claim(question, isGood);
        }
        if (claimed !== 'held' && 'answer' in claimed) {
          onLookup('hit');
          return { answer: claimed.answer, outcome: 'shared' };
        }
        onLookup('miss');
        return await compute({ ...computation, signal }, claimed === 'held' ? undefined : claimed.lease);
      } finally {
        clear();
      }
    },
    /** Whether this replica is to compute the next answer: another may be computing it, or have shared it. */
    async claimRefresh(question: Question, kept: Answer): Promise<Claim> {
      const claimed = await claim(question, ({ instantMs }) => instantMs > kept.instantMs);
      if (claimed !== 'held' && 'answer' in claimed) onLookup('taken');
      return claimed;
    },
    /** Resolves when all answers are shared and all leases released. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const MAC_BYTES = 32;

/** Seals answers as bytes that cannot be forged, changed or exchanged without the secret. */
function createSeals(secret: Uint8Array) {
  const sign = (name: string, content: Buffer) =>
    createHmac('sha256', secret).update(name).update(content).digest(); // names have one length
  return {
    /** @returns `undefined` for an answer that is too large to be shared */
    async seal(name: string, { body, format, ...head }: Answer): Promise<Buffer | undefined> {
      if (body.length > BODY_BYTES_MAX) return undefined;
      const content = await promisify(zstdCompress)(
        Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]),
      );
      if (content.length + MAC_BYTES > VALUE_BYTES_MAX) return undefined;
      return Buffer.concat([sign(name, content), content]);
    },
    /** @returns `undefined` for bytes that were not sealed under this name with this secret */
    async unseal(name: string, value: Buffer): Promise<Omit<Answer, 'format'> | undefined> {
      const content = value.subarray(MAC_BYTES);
      // First: nothing of a forged value is parsed.
      if (value.length < MAC_BYTES || !timingSafeEqual(sign(name, content), value.subarray(0, MAC_BYTES)))
        return undefined;
      const bytes = await promisify(zstdDecompress)(content);
      const end = bytes.indexOf('\n');
      const head = JSON.parse(bytes.toString('utf8', 0, end)) as Omit<Answer, 'format' | 'body'>; // by `seal`
      return { ...head, body: bytes.subarray(end + 1) };
    },
  };
}
