import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { createLanes } from '../engine/lanes.ts';
import { TailraceError } from '../errors.ts';
import { freeMemory } from '../lib/memory.ts';
import { type DayRows, type RowLayout, toInsert } from './rows.ts';

export type Committer = ReturnType<typeof createCommitter>;

export interface CommitOptions {
  /** Id of the caller's key, which has its turns; empty for the service itself. */
  readonly key?: string;
  /** Deduplication token: rows that were committed under it are not stored again (within the engine's window). */
  readonly token?: string | undefined;
}

export interface CommitterOptions {
  /** How long the first rows of a group wait for others. */
  readonly waitMs: number;
  /**
   * Whether more large requests will come soon. Meanwhile a group of blocks waits up to `EXPECTING_WAITS_MAX` times
   * `waitMs`: an event in an insert of a thousand costs twice what it costs in one of ten thousand. Default: never.
   */
  readonly expectsMore?: () => boolean;
  /** A group of this size is committed without waiting. */
  readonly groupBytesMax: number;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
}

const EXPECTING_WAITS_MAX = 20;
// Some 3,000 events. With more, the engine would wait for the decoder, and then the decoder for the engine.
const EXPECTING_BYTES_MAX = 4 * 1024 * 1024;

/** Rows for one day of one table: the engine stores all of them or none. */
interface Group {
  readonly name: string;
  readonly source: Source;
  readonly layout: RowLayout;
  readonly token: string | undefined;
  readonly parts: Uint8Array[];
  readonly done: PromiseWithResolvers<void>;
  /** The keys whose rows it has: it is sent at the first turn of any of them. */
  readonly keys: Set<string>;
  count: number;
  bytes: number;
  /** Whether the group may be sent: it has waited long enough, or is large enough. */
  isDue: boolean;
}

/** Group commit: the rows of concurrent requests are stored by one insert, before any of them gets its response. */
export function createCommitter(engine: Pick<Engine, 'insert'>, options: CommitterOptions) {
  // The engine takes one insert at a time; while it runs, the other groups grow.
  const groups = new Map<string, Group>();
  // Each request with an Idempotency-Key, and each day of old events, is a separate insert, so keys take turns.
  const due = createLanes<Group>();
  const queued = { queuedBytes: 0, queuedRequests: 0 };
  let sending: Promise<void> | undefined;
  let closed = false;
  let holds = 0;
  let released = Promise.withResolvers<void>();

  // `sendDue` starts only if a group is due: otherwise it would end before `sending` is assigned, and would look
  // unfinished.
  function flushGroup(group: Group): void {
    if (group.isDue) return; // already due by its size; it may have been sent long ago
    group.isDue = true;
    for (const key of group.keys) due.push(key, group);
    startSending();
  }

  function startSending(): void {
    if (holds === 0) sending ??= sendDue();
  }

  async function sendDue(): Promise<void> {
    for (let next = takeDue(); next !== undefined; next = takeDue())
      await send(engine, next, options.onCommit);
    sending = undefined; // in the same tick as the last `takeDue`, so that no group becomes due in between
  }

  function takeDue(): Group | undefined {
    if (holds > 0) return undefined;
    const group = due.shift(() => true)?.waiter;
    if (group !== undefined) groups.delete(group.name);
    return group;
  }

  function createGroup(name: string, to: Pick<Group, 'source' | 'layout' | 'token'>): Group {
    const done = Promise.withResolvers<void>();
    done.promise.catch(() => {}); // each request that waits for it handles the rejection
    const group = { name, ...to, done, parts: [], keys: new Set<string>(), count: 0, bytes: 0, isDue: false };
    groups.set(name, group);
    gather(group, options, () => flushGroup(group));
    return group;
  }

  /** Adds the rows of a request to the groups of their days, and returns these groups. */
  function enqueue(source: Source, rows: readonly DayRows[], { key = '', token }: CommitOptions): Group[] {
    return rows.map(({ day, count, layout, bytes }) => {
      const name = `${source.table} ${day} ${layout} ${token ?? ''}`;
      const group = groups.get(name) ?? createGroup(name, { source, layout, token });
      if (group.isDue && !group.keys.has(key)) due.push(key, group);
      group.keys.add(key);
      group.parts.push(bytes);
      group.count += count;
      group.bytes += bytes.length;
      if (group.bytes >= options.groupBytesMax) flushGroup(group);
      return group;
    });
  }

  return {
    /** Resolves when all rows are stored; their bytes must not be used afterwards. Backpressure bounds those that wait. */
    async commit(source: Source, rows: readonly DayRows[], commitOptions: CommitOptions = {}): Promise<void> {
      if (closed) throw new TailraceError('engine_unavailable', 'the service is shutting down');
      const bytes = rows.reduce((sum, day) => sum + day.bytes.length, 0);
      const stored = enqueue(source, rows, commitOptions).map(({ done }) => done.promise);
      queued.queuedBytes += bytes;
      queued.queuedRequests++;
      // After the last group: a failed group does not remove the others from memory.
      await settleAll(stored).finally(() => {
        queued.queuedBytes -= bytes;
        queued.queuedRequests--;
      });
    },
    /** Holds rows that are not being stored yet until `release`. May be nested. `idle`: nothing is being stored. */
    hold() {
      if (holds++ === 0) released = Promise.withResolvers();
      let isHeld = true;
      const release = () => {
        if (!isHeld) return;
        isHeld = false;
        if (--holds > 0) return;
        if (due.size > 0) startSending();
        released.resolve();
      };
      return { idle: sending ?? Promise.resolve(), release };
    },
    /** Commits what is queued, once nothing holds it; later commits are rejected. */
    async close(): Promise<void> {
      closed = true;
      for (const group of groups.values()) flushGroup(group);
      // Another hold may begin at the end of the last one, and interrupt the sending.
      while (holds > 0 || sending !== undefined) await (holds > 0 ? released.promise : sending);
    },
    gauges: () => ({ ...queued }),
  };
}

/** Waits for all, so that nothing of a failed request is stored after its response. @throws the first failure */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

/** Calls `flush` when the group has waited long enough for others. */
function gather(group: Group, options: CommitterOptions, flush: () => void): void {
  const { token, layout } = group;
  const mayWait = () =>
    layout === 'blocks' && group.bytes < EXPECTING_BYTES_MAX && options.expectsMore?.() === true;
  const wait = (waits: number) =>
    void setTimeout(() => {
      if (!group.isDue && waits < EXPECTING_WAITS_MAX && mayWait()) wait(waits + 1);
      else flush();
    }, options.waitMs);
  if (token === undefined) wait(1);
  else setTimeout(flush, 0);
}

async function send(
  engine: Pick<Engine, 'insert'>,
  group: Group,
  onCommit: CommitterOptions['onCommit'],
): Promise<void> {
  const { source, token, count, done, layout, parts } = group;
  try {
    const rows = toInsert(source, layout, parts);
    await engine.insert({ table: source.table, ...rows, ...(token && { token }) });
    freeMemory(parts); // not after a failure: the socket may still have to send them
    onCommit(source.name, count);
    done.resolve();
  } catch (error) {
    onCommit(source.name, count, error);
    done.reject(toStoreError(error));
  }
}

/** `query_failed` is a 422: the sender would blame its events and drop them. */
function toStoreError(cause: unknown): unknown {
  if (!(cause instanceof TailraceError) || cause.code !== 'query_failed') return cause;
  const message = 'the events could not be stored; send them again';
  return new TailraceError('engine_unavailable', message, { cause });
}
