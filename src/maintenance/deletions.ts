import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { createDeletion, isRewriting, readUnfinished, type Unfinished } from '../engine/mutations.ts';
import { storedTable } from '../engine/table.ts';
import { messageOf, TailraceError } from '../errors.ts';
import type { ControlStore } from '../keys/control-store.ts';
import type { Actor } from '../keys/management.ts';
import { createLock } from '../lib/abort.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import { identifier, join, type Sql, sql } from '../sql/sql.ts';

/** Which events to delete, irrevocably. */
export interface Deletion {
  /** Empty: events without a project. */
  readonly project: string;
  readonly sources: readonly Source[];
  /** Whether the request named no source: then it deletes in every one that is there. */
  readonly isOfAll: boolean;
  /** Protected sources, which a deletion in every source leaves out. */
  readonly leftOut: readonly Source[];
  /** Only events whose timestamp is earlier. */
  readonly before: Micros | undefined;
}

/** Returns the SQL condition of a deletion, on the columns of every event. */
export function toCondition({ project, before }: Deletion): Sql {
  const ofProject = sql`project = ${project}`;
  if (before === undefined) return ofProject;
  return sql`${ofProject} AND timestamp < toDateTime64(${formatInstant(before)}, 6, 'UTC')`;
}

/** Describes the deletion to people and for the audit trail. */
export function describeDeletion({ project, sources, isOfAll, before }: Deletion): string {
  const what = project === '' ? 'events without a project' : `events of project ${JSON.stringify(project)}`;
  const where = isOfAll ? 'all sources' : sources.map(({ name }) => name).join(', ');
  const until = before === undefined ? '' : `, before ${formatInstant(before).replace(' ', 'T')}Z`;
  return `${what} in ${where}${until}`;
}

/** The events of one source that a deletion concerns. */
export interface SourceRows {
  readonly source: string;
  readonly rows: number;
  /** Events of a protected source, which stay; `rows` is then 0. */
  readonly kept?: number;
}

/** A deletion that was requested. */
export interface DeletionJob {
  readonly id: string;
  readonly deletion: Deletion;
  /** Its moment, ms since the epoch: it deletes what was acknowledged before, and nothing that is sent afterwards. */
  readonly acceptedMs: number;
  /** The events that it deletes; on a server, other processes may have stored more while they were counted. */
  readonly counted: readonly SourceRows[];
  readonly state: 'running' | 'done' | 'failed';
  /** While it runs: the source whose events are being deleted, and the parts of its table left to rewrite. */
  readonly progress: { readonly source: string; readonly partsLeft: number } | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  /** Resolves when no query finds the events. @throws its failure */
  readonly done: Promise<void>;
}

export interface DeletionsOptions {
  readonly core: {
    readonly engine: Engine;
    /** See `Core.followDeletions`. */
    followDeletions(): Promise<unknown>;
  };
  readonly control: Pick<ControlStore, 'record'>;
  /** Stops storing until `release`, which is idempotent. `idle` resolves when no events are being stored. */
  readonly holdInserts: () => { readonly idle: Promise<void>; readonly release: () => void };
  /** Called before each; see `Reserve.free`. */
  readonly makeRoom: () => Promise<void>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
}

const RUNNING_MAX = 100; // each holds a request or a command
const REMEMBERED_MAX = 1_000;
// It takes some milliseconds. If the engine hangs, events would wait for minutes, and their senders with them.
const HOLD_MS_MAX = 10_000;
const POLL_EVERY_MS = 250;
// Ten seconds of polls without progress, or without an answer of the engine, in which it restarts.
const IDLE_POLLS_MAX = 40;
/** Interval at which other processes on a server poll for deletions. */
export const FOLLOW_EVERY_MS = 1_000;

type Mutable<T> = { -readonly [name in keyof T]: T[name] };
type RunningJob = Mutable<DeletionJob> & { readonly ended: PromiseWithResolvers<void> };

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions(options: DeletionsOptions) {
  const { core, makeRoom, newId, wait } = options;
  const { engine } = core;
  const begin = createBegin(options);
  const jobs = new Map<string, DeletionJob>();
  const running = new Set<RunningJob>();
  let beginning = 0;
  let isWatching = false;

  function end(job: RunningJob, error?: unknown): void {
    running.delete(job);
    job.progress = undefined;
    job.state = error === undefined ? 'done' : 'failed';
    job.error = error === undefined ? undefined : messageOf(error);
    if (error === undefined) job.ended.resolve();
    else job.ended.reject(error);
  }

  function fail(error: unknown): void {
    for (const job of running) end(job, error);
  }

  /**
   * Ends the jobs whose tables have no unfinished deletion. Cached answers with their events are not found any more.
   * @returns the unfinished deletions as a text; empty if there are none
   */
  async function poll(isIdle: boolean): Promise<string> {
    const begun = [...running];
    const left = await readUnfinished(engine);
    await core.followDeletions();
    for (const job of begun) job.progress = findProgress(job.deletion, left, engine);
    const done = begun.filter(({ progress }) => progress === undefined);
    // Other processes have dropped their answers by then: one poll may have been under way, the next one has seen the end.
    if (done.length > 0 && !engine.seesEveryWrite) await wait(2 * FOLLOW_EVERY_MS);
    for (const job of done) end(job);
    if (isIdle && left.size > 0 && !(await isRewriting(engine))) fail(stuck(left));
    return left.size === 0 ? '' : JSON.stringify([...left]);
  }

  /** Polls the engine until no deletion is unfinished. */
  async function watch(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    try {
      let last = 'unknown';
      for (let idlePolls = 0; last !== '' || running.size > 0; idlePolls++) {
        const isIdle = idlePolls > IDLE_POLLS_MAX;
        const state = await poll(isIdle).catch((error: unknown) => {
          if (isIdle) throw error;
          return last;
        });
        if (state !== last) idlePolls = 0;
        last = state;
        if (last !== '') await wait(POLL_EVERY_MS);
      }
    } catch (error) {
      fail(error); // the engine is unavailable, or this process stops; the next deletion polls again
    } finally {
      isWatching = false; // in the same tick as the last look at `running`
    }
  }

  return {
    /** Counts the matching events by source. Those that an earlier deletion will remove do not count. */
    count: (deletion: Deletion) => countEvents(engine, deletion),
    /**
     * Creates a deletion and writes it into the audit trail, unless no event matches. When it resolves the engine knows
     * what to delete, and continues even after a crash.
     * @throws TailraceError `overloaded` if too many run; failures of the control store and the engine, after which it
     * may have begun
     */
    async start(deletion: Deletion, by: Actor): Promise<DeletionJob> {
      if (beginning + running.size >= RUNNING_MAX)
        throw new TailraceError('overloaded', `${RUNNING_MAX} deletions are running already`);
      beginning++;
      try {
        await makeRoom();
        const begun = await begin(deletion, by);
        const ended = Promise.withResolvers<void>();
        ended.promise.catch(() => {}); // callers that await it get the rejection
        const job: RunningJob = {
          ...{ id: newId(), deletion, ...begun, ended, done: ended.promise },
          ...{ state: 'running', progress: undefined, error: undefined },
        };
        running.add(job);
        jobs.set(job.id, job);
        const [oldest = job.id] = jobs.keys();
        if (jobs.size > REMEMBERED_MAX) jobs.delete(oldest);
        return job;
      } finally {
        beginning--;
        void watch(); // after a failure, too: some of it may have begun
      }
    },
    /** Finds one of the last jobs of this process. */
    find: (id: string): DeletionJob | undefined => jobs.get(id),
    isRunning: () => beginning + running.size > 0,
    /** Waits for deletions that an earlier process has left unfinished, too. */
    watch: () => void watch(),
  };
}

/**
 * Creates deletions in the engine, one at a time. This process stores nothing meanwhile, for 10 s at most: what a
 * deletion counts is what it deletes, and its moment is the same in all tables. Events that are stored after the 10
 * s, or by other processes on a server, come before or after it in the order in which the engine got both; events
 * that are sent once the deletion is accepted stay in any case.
 */
function createBegin({ core: { engine }, control, holdInserts, now }: DeletionsOptions) {
  const acquire = createLock();
  return async (deletion: Deletion, by: Actor): Promise<Pick<DeletionJob, 'acceptedMs' | 'counted'>> => {
    const unlock = await acquire();
    const { idle, release } = holdInserts();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      release();
      late.resolve(); // under load the queue may never be idle again
    }, HOLD_MS_MAX);
    try {
      await Promise.race([idle, late.promise]);
      const counted = await countEvents(engine, deletion);
      const rows = counted.reduce((sum, one) => sum + one.rows, 0);
      const detail = `${rows} ${describeDeletion(deletion)}`;
      const entry = { atMs: now(), action: 'deleted', keyId: '', ...by, detail, count: 1 } as const;
      if (rows > 0) await control.record([entry]);
      const found = new Set(counted.filter((one) => one.rows > 0).map(({ source }) => source));
      for (const source of deletion.sources.filter(({ name }) => found.has(name)))
        await createDeletion(engine, source, toCondition(deletion));
      return { acceptedMs: now(), counted };
    } finally {
      clearTimeout(timer);
      release();
      unlock();
    }
  };
}

async function countEvents(engine: Engine, deletion: Deletion): Promise<SourceRows[]> {
  const condition = toCondition(deletion);
  const { sources, leftOut } = deletion;
  const counts = [...sources, ...leftOut].map(
    ({ table }, i) =>
      sql`SELECT ${i} AS source, count() AS rows FROM ${identifier(table)} WHERE ${condition}`,
  );
  if (counts.length === 0) return [];
  const found: { source: number; rows: number }[] = await engine.inspect(
    sql`${join(counts, '\nUNION ALL ')}\nSETTINGS apply_mutations_on_fly = 1`,
  );
  const rows = new Map(found.map((one) => [one.source, one.rows]));
  const rowsAt = (i: number) => rows.get(i) ?? 0;
  return [
    ...sources.map(({ name }, i) => ({ source: name, rows: rowsAt(i) })),
    ...leftOut.map(({ name }, i) => ({ source: name, rows: 0, kept: rowsAt(sources.length + i) })),
  ];
}

function findProgress(
  { sources }: Deletion,
  left: ReadonlyMap<string, Unfinished>,
  { cluster }: Engine,
): DeletionJob['progress'] {
  const found = sources.find((source) => left.has(storedTable(source, cluster)));
  if (found === undefined) return undefined;
  return { source: found.name, partsLeft: left.get(storedTable(found, cluster))?.parts ?? 0 };
}

/** The failure of deletions that wait: on a full disk the engine waits without one. */
function stuck(left: ReadonlyMap<string, Unfinished>): TailraceError {
  const tables = [...left].map(([table, { parts }]) => `${parts} files of ${table}`).join(', ');
  const [fault] = [...left.values()].map((one) => one.fault).filter((text) => text !== '');
  const cause = new Error(fault ?? 'the engine gave no reason');
  const message =
    'the events are not deleted yet: the engine rewrites nothing, probably because the disk is ' +
    `full. ${tables} are left; it continues when there is room: delete whole days by a lower ` +
    'retention_days or TAILRACE_STORE_BYTES_MAX, or enlarge the disk';
  return new TailraceError('overloaded', message, { cause });
}
