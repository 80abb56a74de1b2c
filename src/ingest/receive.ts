import { hash } from 'node:crypto';
import type { Source } from '../definitions/source.ts';
import { HASHED_BYTES_MAX, hashByParts } from '../lib/hash-by-parts.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import type { CommitOptions, Committer } from './committer.ts';
import type { Batch, BatchInput } from './decode-batch.ts';
import type { Decoder } from './decoder.ts';
import type { Idempotency, Received } from './idempotency/idempotency.ts';

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

export type Receive = (post: EventPost) => Promise<Received & { readonly source: Source }>;

export interface ReceiverOptions {
  readonly decoder: Decoder;
  readonly committer: Committer;
  readonly idempotency: Idempotency;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The time from which the age of events is counted, ms since the epoch; not `now` while the clock is known to be wrong. */
  readonly ageAt: () => number;
  readonly eventBytesMax: number;
  /** See `BatchInput`. */
  readonly blockRowsMin: number | undefined;
  readonly onRefused: (source: string, count: number) => void;
  readonly onWithoutProject: (source: string, count: number) => void;
  readonly onRepaired: (source: string, count: number) => void;
}

/**
 * Stores the events of requests: decode → authorize → commit, the last once for all requests with one Idempotency-Key. Resolves when
 * all events that were not rejected are stored.
 */
export function createReceiver(options: ReceiverOptions): Receive {
  const { decoder, committer, idempotency, now, ageAt, eventBytesMax, blockRowsMin } = options;

  async function store({ source, ...batch }: Batch, how: CommitOptions): Promise<Received> {
    const { rows, accepted, withoutProject, repaired, refused, reasons } = batch;
    if (refused > 0) options.onRefused(source.name, refused);
    if (rows.length > 0) await committer.commit(source, rows, how);
    if (withoutProject > 0) options.onWithoutProject(source.name, withoutProject);
    if (repaired > 0) options.onRepaired(source.name, repaired);
    return { stored: accepted, reasons, refused, withoutProject, repaired };
  }

  return async ({ project, pinnedProject, keyId, idempotencyKey: key, authorize, ...body }) => {
    const times = { now: now() * MICROS_PER_MS, ageAt: ageAt() * MICROS_PER_MS };
    const rules = { ...times, eventBytesMax, project, pinnedProject };
    const bodyHash = key === undefined ? '' : await hashOf(body.bytes); // before the bytes move to another thread
    return await decoder.decode(keyId, { ...body, rules, blockRowsMin }, async (batch) => {
      const { source } = batch;
      authorize(source);
      if (key === undefined) return { source, ...(await store(batch, { key: keyId })) };
      const scope = `${keyId}\0${source.id}\0${project}`;
      const work = (token: string) => store(batch, { key: keyId, token });
      return { source, ...(await idempotency.once({ key, scope, bodyHash }, work)) };
    });
  };
}

function hashOf(bytes: Buffer): string | Promise<string> {
  return bytes.length > HASHED_BYTES_MAX ? hashByParts(bytes, 'hex') : hash('sha256', bytes);
}
