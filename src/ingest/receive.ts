import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GENERAL_SOURCE } from '../definitions/accepts.ts';
import type { Source } from '../definitions/source.ts';
import { HASHED_BYTES_MAX, hashByParts } from '../lib/hash.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import type { Backpressure } from './backpressure.ts';
import type { CommitOptions, Committer } from './committer.ts';
import { type Batch, type BatchInput, REASONS_MAX, type SourceRows } from './decode-batch.ts';
import type { Decoder } from './decoder.ts';
import { FILTER_RULES, type FilterCounts } from './filter/filter.ts';
import type { Receipt, Received } from './receipt.ts';
import type { Rejection, Sender } from './rejected.ts';
import type { Usage } from './usage/usage.ts';

/** A request with events in its body. */
export interface EventPost extends Omit<BatchInput, 'rules' | 'blockRowsMin'> {
  /** See `EventRules`. */
  readonly project: string;
  readonly pinnedProject: string | undefined;
  /** Id of the caller's key. */
  readonly keyId: string;
  readonly idempotencyKey: string | undefined;
  /** Throws if the caller may not send to the source. */
  readonly authorize: (source: Source) => void;
}

export type Receive = (post: EventPost) => Promise<Receipt>;

interface StoreOptions extends CommitOptions, Pick<EventPost, 'pinnedProject'> {
  readonly key: string;
}

export interface ReceiverOptions {
  readonly decoder: Decoder;
  readonly committer: Committer;
  readonly backpressure: Backpressure;
  readonly usage: Pick<Usage, 'checkKey' | 'spentProjects' | 'refuse' | 'count'>;
  /** ms since the epoch. */
  readonly now: () => number;
  /**
   * The time from which the age of events is counted, ms since the epoch; not `now` while the clock is known to be
   * wrong.
   */
  readonly ageAt: () => number;
  /** See `BatchInput`. */
  readonly blockRowsMin: number | undefined;
  readonly onRejectedCount: (source: string, count: number) => void;
  /** Called with the rejected events of a request, by source and reason. */
  readonly onRejected: (rejections: readonly Rejection[], sender: Sender) => void;
  readonly onWithoutProject: (source: string, count: number) => void;
  readonly onRepaired: (source: string, count: number) => void;
  /** Called with the events to which rules of their source applied. */
  readonly onFiltered: (source: string, counts: FilterCounts) => void;
}

// Outcomes of requests with an Idempotency-Key: 15 MB, if most of them have as many reasons as they may.
const OUTCOMES_MAX = 10_000;
const OUTCOME_REASONS_MAX = 100_000;

/**
 * Stores the events of requests: decode → authorize → commit, the last once for all requests with one Idempotency-Key
 * and body. Resolves when all events that were not rejected are stored.
 */
export function createReceiver(options: ReceiverOptions): Receive {
  const { decoder, committer, backpressure, usage, now, ageAt, blockRowsMin } = options;
  const outcomes = new LRUCache<string, Received>({
    max: OUTCOMES_MAX,
    maxSize: OUTCOME_REASONS_MAX,
    sizeCalculation: ({ reasons }) => 1 + reasons.length,
  });
  const flights = createSingleFlight<Received>();

  async function storePart(part: SourceRows, { pinnedProject: _, ...how }: StoreOptions): Promise<void> {
    const { source, rows, withoutProject, repaired, rejected, filtered, projects } = part;
    if (rejected > 0) options.onRejectedCount(source.name, rejected);
    if (rows.length > 0)
      await usage.count({ key: how.key, source: source.name, projects }, () =>
        committer.commit(source, rows, how),
      );
    if (withoutProject > 0) options.onWithoutProject(source.name, withoutProject);
    if (repaired > 0) options.onRepaired(source.name, repaired);
    if (FILTER_RULES.some((rule) => filtered[rule] > 0)) options.onFiltered(source.name, filtered);
  }

  async function store(batch: Batch, how: StoreOptions): Promise<Received> {
    const { parts, rejectedItems, rejected, rejections } = batch;
    const homeless = parts.reduce((left, part) => left - part.rejected, rejected);
    if (homeless > 0) options.onRejectedCount(GENERAL_SOURCE, homeless);
    const sender = { keyId: how.key, pinnedProject: how.pinnedProject };
    if (rejections.length > 0) options.onRejected(rejections, sender);
    await settleAll(parts.map((part) => storePart(part, how)));
    const sum = (name: 'accepted' | 'withoutProject' | 'repaired') =>
      parts.reduce((total, part) => total + part[name], 0);
    return {
      stored: sum('accepted'),
      reasons: rejectedItems.slice(0, REASONS_MAX).map(({ at, reason }) => `event ${at + 1}: ${reason}`),
      rejected,
      withoutProject: sum('withoutProject'),
      repaired: sum('repaired'),
      dropped: parts.reduce((total, { filtered }) => total + filtered.drop, 0),
    };
  }

  /**
   * Returns the outcome of the first request under a token, so that a repeat counts for no quota. After a restart, or
   * in another replica, the engine recognises the token, as it does in the same process: only events without a
   * timestamp that are repeated on another day are then stored again, since each day has its own tokens.
   */
  async function once(token: string, work: () => Promise<Received>): Promise<Received> {
    const known = outcomes.get(token);
    if (known !== undefined) return known;
    const { value } = await flights.run(token, work);
    outcomes.set(token, value);
    return value;
  }

  return async ({ project, pinnedProject, keyId, idempotencyKey: key, authorize, ...body }) => {
    const times = { now: now() * MICROS_PER_MS, ageAt: ageAt() * MICROS_PER_MS };
    usage.checkKey(keyId);
    const rules = { ...times, project, pinnedProject, spent: usage.spentProjects() };
    const bodyHash = key === undefined ? '' : await hashOf(body.bytes); // before the bytes move to another thread
    const use = async (batch: Batch) => {
      const { rejectedItems, echoes } = batch;
      const sources = batch.parts.map(({ source }) => source);
      for (const source of sources) authorize(source);
      if (batch.isOverQuota) throw usage.refuse();
      const receipt = { sources, rejectedItems, ...(echoes !== undefined && { echoes }) };
      const how = { key: keyId, pinnedProject };
      if (key === undefined) return { ...(await store(batch, how)), ...receipt };
      const scope = `${keyId}\0${sources.map(({ id }) => id).join()}\0${project}${body.index ?? ''}`;
      const token = hash('sha256', `${scope}\0${key}\0${bodyHash}`);
      return { ...(await once(token, () => store(batch, { ...how, token }))), ...receipt };
    };
    const decode = () => decoder.decode(keyId, { ...body, rules, blockRowsMin }, use);
    return await backpressure.run(keyId, body.bytes.length, decode);
  };
}

/** Waits for all, so that nothing of a failed request is stored after its response. @throws the first failure */
async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

function hashOf(bytes: Buffer): string | Promise<string> {
  return bytes.length > HASHED_BYTES_MAX ? hashByParts(bytes, 'hex') : hash('sha256', bytes);
}
