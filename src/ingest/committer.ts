import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { columnNames } from '../engine/table.ts';
import { TailraceError } from '../errors.ts';
import type { DayRows } from './rows.ts';

/** Stores the events of concurrent requests together; a request is answered when its events are committed. */
export interface Committer {
  /**
   * Resolves when all rows are in the store.
   *
   * @param token where given, rows committed under it before are not stored again (within the engine's window)
   * @throws TailraceError `overloaded` at once when the queue is full, before anything is stored; otherwise the engine's
   */
  commit(source: Source, rows: readonly DayRows[], token?: string): Promise<void>;
  /** Commits what is queued; what comes later is refused. */
  close(): Promise<void>;
  gauges(): { queuedBytes: number; queuedRequests: number };
}

export interface CommitterOptions {
  /** How long the first event of a group waits for company. */
  readonly waitMs: number;
  /** A group is committed without waiting when it has this size. */
  readonly groupBytesMax: number;
  /** All that waits or is being committed; a request beyond it is turned away, since memory is what it would cost. */
  readonly queueBytesMax: number;
  readonly onCommit: (source: string, rows: number, error?: unknown) => void;
}

/** Rows for one day of one table: the engine stores them as one part, and so all of them or none. */
interface Group {
  readonly source: Source;
  readonly token: string | undefined;
  readonly parts: Buffer[];
  /** Those that hold its events, since 1970. */
  readonly minutes: Set<number>;
  readonly done: PromiseWithResolvers<void>;
  count: number;
  bytes: number;
  /** Whether the group may be sent: it has waited long enough or is large enough. */
  ripe: boolean;
}

export function createCommitter(engine: Engine, options: CommitterOptions): Committer {
  // In the order of arrival; the engine takes one insert at a time, so while one runs the others gather company.
  const groups = new Map<string, Group>();
  const queued = { bytes: 0, requests: 0 };
  let sending: Promise<void> | undefined;
  let closed = false;

  /** There must be a ripe group when `sendRipe` begins: it would end at once, and its end be taken for work under way. */
  function ripen(group: Group): void {
    if (group.ripe) return; // its time has come after its size, and it may have been sent long ago
    group.ripe = true;
    sending ??= sendRipe();
  }

  async function sendRipe(): Promise<void> {
    for (let next = takeRipe(groups); next !== undefined; next = takeRipe(groups)) {
      await send(engine, next, options.onCommit);
      queued.bytes -= next.bytes;
    }
    sending = undefined; // in the same step as the last look, so that no group ripens unseen between them
  }

  function join(key: string, source: Source, token: string | undefined): Group {
    const existing = groups.get(key);
    if (existing !== undefined) return existing;
    const group = createGroup(source, token);
    groups.set(key, group);
    setTimeout(() => ripen(group), token === undefined ? options.waitMs : 0);
    return group;
  }

  /** Puts a request's rows into the groups of their days and returns these. */
  function enqueue(source: Source, rows: readonly DayRows[], token: string | undefined): Group[] {
    return rows.map(({ day, count, bytes, minutes }) => {
      const group = join(`${source.table} ${day} ${token ?? ''}`, source, token);
      group.parts.push(bytes);
      for (const minute of minutes) group.minutes.add(minute);
      group.count += count;
      group.bytes += bytes.length;
      queued.bytes += bytes.length;
      if (group.bytes >= options.groupBytesMax) ripen(group);
      return group;
    });
  }

  return {
    async commit(source, rows, token) {
      if (closed) throw new TailraceError('engine_unavailable', 'the service is shutting down');
      if (queued.bytes >= options.queueBytesMax) {
        throw new TailraceError(
          'overloaded',
          `${options.queueBytesMax} bytes of events are waiting to be stored already`,
        );
      }
      const joined = enqueue(source, rows, token);
      queued.requests++;
      await Promise.all(joined.map((group) => group.done.promise)).finally(() => {
        queued.requests--;
      });
    },
    async close() {
      closed = true;
      for (const group of groups.values()) ripen(group);
      await sending;
    },
    gauges: () => ({ queuedBytes: queued.bytes, queuedRequests: queued.requests }),
  };
}

function createGroup(source: Source, token: string | undefined): Group {
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {}); // heard by each request that waits for it
  return { source, token, parts: [], minutes: new Set(), done, count: 0, bytes: 0, ripe: false };
}

function takeRipe(groups: Map<string, Group>): Group | undefined {
  for (const [key, group] of groups) {
    if (!group.ripe) continue;
    groups.delete(key);
    return group;
  }
  return undefined;
}

async function send(engine: Engine, group: Group, onCommit: CommitterOptions['onCommit']): Promise<void> {
  const { source, token, parts, minutes, count, done } = group;
  try {
    await engine.insert({
      table: source.table,
      columns: columnNames(source),
      format: 'JSONCompactEachRow',
      bytes: Buffer.concat(parts),
      minutes,
      ...(token && { token }),
    });
    onCommit(source.name, count);
    done.resolve();
  } catch (error) {
    onCommit(source.name, count, error);
    done.reject(isFault(error) ? storeFailed(error) : error);
  }
}

/** "The query failed" would tell a sender that its events are at fault, and it would drop them. */
function isFault(error: unknown): boolean {
  return error instanceof TailraceError && error.code === 'query_failed';
}

function storeFailed(cause: unknown): TailraceError {
  return new TailraceError('engine_unavailable', 'the events could not be stored; send them again', {
    cause,
  });
}
