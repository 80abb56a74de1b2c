import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import { GENERAL_SOURCE } from '../definitions/accepts.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine, InsertBatch } from '../engine/engine.ts';
import { hashByParts } from '../lib/hash.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { type Backpressure, createBackpressure, type Overload } from './backpressure.ts';
import { type Committer, createCommitter, settleAll } from './committer.ts';
import type { Batch, BatchInput, SourceRows } from './decode-batch.ts';
import { createDecoder, type Decoder } from './decoder.ts';
import {
  COUNTED,
  type EventCounts,
  NO_EVENTS,
  REASONS_MAX,
  type Receipt,
  type Received,
  type Rejection,
  type Sender,
} from './rejected.ts';
import type { Usage } from './usage.ts';

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

interface ReceiverParts extends Pick<BatchInput, 'blockRowsMin'> {
  readonly decoder: Decoder;
  readonly committer: Committer;
  readonly backpressure: Backpressure;
}

// Outcomes of requests with an Idempotency-Key: 15 MB, if most of them have as many reasons as they may.
const OUTCOMES_MAX = 10_000;
const OUTCOME_REASONS_MAX = 100_000;

/** Stores the events of requests: decode → authorize → commit, the last once for each Idempotency-Key and body. */
function createReceiver(options: IngestOptions, using: ReceiverParts): Receive {
  const { usage, now, ageAt, onCounted } = options;
  const { decoder, committer, backpressure, blockRowsMin } = using;
  /**
   * The outcome of the first request under a token, so that a repeat counts for no quota. After a restart, or in another
   * replica, the engine recognises the token. Each day has its own: events without a timestamp that are repeated on
   * another day are then stored again.
   */
  const outcomes = new LRUCache<string, Received, () => Promise<Received>>({
    max: OUTCOMES_MAX,
    maxSize: OUTCOME_REASONS_MAX,
    sizeCalculation: ({ reasons }) => 1 + reasons.length,
    fetchMethod: (_token, _known, { context: work }) => work(),
    ignoreFetchAbort: true, // a request goes on when others need its place
  });

  async function storePart(part: SourceRows, key: string, token: string | undefined): Promise<void> {
    const { source, rows, projects } = part;
    if (rows.length > 0)
      await usage.count({ key, source: source.name, projects }, () =>
        committer.commit(source, rows, { key, token }),
      );
    onCounted(source.name, part);
  }

  async function store(batch: Batch, sender: Sender, token?: string): Promise<Received> {
    const { parts, rejectedItems, rejected, rejections } = batch;
    await settleAll(parts.map((part) => storePart(part, sender.keyId, token)));
    const sum = (name: keyof EventCounts) => parts.reduce((total, part) => total + part[name], 0);
    onCounted(GENERAL_SOURCE, { ...NO_EVENTS, rejected: rejected - sum('rejected') }); // those that no source accepts
    if (rejections.length > 0) options.onRejected(rejections, sender);
    const counts = Object.fromEntries(COUNTED.map((name) => [name, sum(name)])) as EventCounts; // each of them
    const reasons = rejectedItems.slice(0, REASONS_MAX).map(({ at, reason }) => `event ${at + 1}: ${reason}`);
    return { ...counts, rejected, reasons };
  }

  return async ({ project, pinnedProject, keyId, idempotencyKey: key, authorize, ...body }) => {
    const times = { now: now() * MICROS_PER_MS, ageAt: ageAt() * MICROS_PER_MS };
    usage.checkKey(keyId);
    const rules = { ...times, project, pinnedProject, spent: usage.spentProjects() };
    const bodyHash = key === undefined ? '' : await hashByParts(body.bytes, 'hex'); // before the bytes move
    const use = async (batch: Batch) => {
      const { rejectedItems, echoes } = batch;
      const sources = batch.parts.map(({ source }) => source);
      for (const source of sources) authorize(source);
      if (batch.isOverQuota) throw usage.reject();
      const receipt = { sources, rejectedItems, ...(echoes !== undefined && { echoes }) };
      const sender = { keyId, pinnedProject };
      if (key === undefined) return { ...(await store(batch, sender)), ...receipt };
      const scope = `${keyId}\0${sources.map(({ id }) => id).join()}\0${project}${body.index ?? ''}`;
      const token = hash('sha256', `${scope}\0${key}\0${bodyHash}`);
      const work = () => store(batch, sender, token);
      return { ...(await outcomes.forceFetch(token, { context: work })), ...receipt };
    };
    const work = async () => await use(await decoder.decode(keyId, { ...body, rules, blockRowsMin }));
    return await backpressure.run(keyId, body.bytes.length, work);
  };
}

export type Ingest = ReturnType<typeof createIngest>;

interface IngestOptions {
  readonly engine: Engine;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The time from which the age of events is counted; not `now` while the clock is known to be wrong. */
  readonly ageAt: () => number;
  readonly usage: Usage;
  readonly config: Pick<Config, 'ingestWaitMsMax'>;
  /** Called before each insert; see `StoringWatch`. */
  readonly requireRoom: () => void;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
  readonly onOverload: (reason: Overload) => void;
  /** Called with what became of the events of a request in one source. */
  readonly onCounted: (source: string, counts: Readonly<EventCounts>) => void;
  /** Called with the rejected events of a request, by source and reason. */
  readonly onRejected: (rejections: readonly Rejection[], sender: Sender) => void;
}

/** See `BackpressureOptions`: some seconds of the engine's work, and memory that a small machine has. */
const QUEUE_BYTES_MAX = 128 * 1024 * 1024;
// Longest estimated wait of a request; then it is rejected before its body is read. Senders give up after some seconds.
const WAIT_MS_MAX = 2_000;
// How long events wait to be stored with others, which a sender does not notice; beside large bodies up to 20 times that.
const GROUP_WAIT_MS = 5;
// A larger group would make its first request wait without making the engine faster.
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
// Below, the fixed cost of an insert of blocks is more than what it saves; bench/NOTES.md has both.
const BLOCK_ROWS_MIN = 500;

/** Creates the write side of a service: everything between a request body and the engine. */
export function createIngest(options: IngestOptions) {
  const { engine, config, onOverload } = options;
  const blockRowsMin = engine.takesBlocks ? BLOCK_ROWS_MIN : undefined;
  const backpressure = createBackpressure({
    waitMsMax: config.ingestWaitMsMax ?? WAIT_MS_MAX,
    bytesMax: QUEUE_BYTES_MAX,
    now: () => performance.now(), // a wall clock may jump
    onOverload,
  });
  const insert = async (batch: InsertBatch) => {
    options.requireRoom();
    await backpressure.watch(() => engine.insert(batch));
  };
  const decoder = createDecoder();
  const committer = createCommitter(
    { insert },
    {
      waitMs: GROUP_WAIT_MS,
      expectsMore: () => decoder.pending > 0,
      groupBytesMax: GROUP_BYTES_MAX,
      onCommit: options.onCommit,
    },
  );
  return {
    receive: createReceiver(options, { decoder, committer, backpressure, blockRowsMin }),
    committer,
    backpressure,
    /** To be called before a body is read. @throws TailraceError as `Usage.checkKey` and `Backpressure.check` */
    admitEvents(key: string, bytes: number): void {
      options.usage.checkKey(key);
      backpressure.check(key, bytes);
    },
    /** Commits what is queued. */
    async close(): Promise<void> {
      await decoder.close();
      await committer.close();
    },
  };
}
