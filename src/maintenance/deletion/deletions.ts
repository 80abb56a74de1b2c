import type { Source } from '../../definitions/source.ts';
import { finishDeletion, wasCutOff } from '../../engine/delete-rows.ts';
import type { Engine } from '../../engine/engine.ts';
import { messageOf, TailraceError } from '../../errors.ts';
import { type BeginParts, type By, countEvents, createBegin, type SourceRows } from './begin.ts';
import type { Deletion } from './request.ts';

/** The source whose events are being deleted, and the parts of its table left to rewrite. */
export type DeletionProgress = { readonly source: string; readonly partsLeft: number };

/** A deletion that was requested. */
export interface DeletionJob {
  readonly id: string;
  readonly deletion: Deletion;
  /** Its moment, ms since the epoch: it deletes the events that were acknowledged before, and none that are sent afterwards. */
  readonly acceptedMs: number;
  /** The events that it deletes; on a server, other processes may have stored more while they were counted. */
  readonly counted: readonly SourceRows[];
  readonly state: 'running' | 'done' | 'failed';
  /** While it runs. */
  readonly progress: DeletionProgress | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  /** Resolves when the events are gone from the disks and caches. @throws its failure */
  readonly done: Promise<void>;
}

/** Deletes events irrevocably, one deletion after another. */
export interface Deletions {
  /** Counts the matching events by source, including those that retention hides from queries. */
  count(deletion: Deletion): Promise<SourceRows[]>;
  /**
   * Starts a deletion and writes it into the audit trail, unless no event matches. Even then it finishes a deletion that was
   * interrupted. When it resolves the engine knows what to delete, even if other deletions are still rewriting files.
   *
   * @throws TailraceError `overloaded` if too many wait; failures of the control store and the engine
   */
  start(deletion: Deletion, by: By): Promise<DeletionJob>;
  /** Finds one of the last jobs of this process. */
  find(id: string): DeletionJob | undefined;
  isRunning(): boolean;
  /** Resolves when none is running. */
  idle(): Promise<void>;
}

export interface DeletionsOptions extends Pick<BeginParts, 'control' | 'holdInserts' | 'now'> {
  readonly core: {
    readonly engine: Engine;
    /** See `Core.eventsDeleted`. */
    eventsDeleted(sources: readonly Source[], nowMs: number): Promise<void>;
  };
  /** Called before each; see `Reserve.free`. */
  readonly makeRoom: () => Promise<void>;
  readonly newId: () => string;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
}

const WAITING_MAX = 100; // each holds a request or a command
const REMEMBERED_MAX = 1_000;
const POLL_EVERY_MS = 250;
/** Interval at which other processes on a server poll for deletions. */
export const FOLLOW_EVERY_MS = 1_000;

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export function createDeletions({
  core,
  control,
  holdInserts,
  makeRoom,
  now,
  newId,
  wait,
}: DeletionsOptions): Deletions {
  const { engine } = core;
  const pause = () => wait(POLL_EVERY_MS);
  const jobs = new Map<string, DeletionJob>();
  // A table of each source, for each deletion that has begun and is not finished.
  const rewriting: string[] = [];
  const begin = createBegin({
    engine,
    control,
    holdInserts,
    now,
    pause,
    onBegin: ({ table }) => void rewriting.push(table),
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function run(job: Mutable<DeletionJob>, sources: readonly Source[]): Promise<void> {
    try {
      await finishAndForget(job, sources);
      job.state = 'done';
    } catch (error) {
      job.state = 'failed';
      job.error = messageOf(error);
      throw error;
    } finally {
      job.progress = undefined;
      waiting--;
      for (const { table } of sources) rewriting.splice(rewriting.indexOf(table), 1);
    }
  }

  /** Drops cached answers even if only some events could be deleted. */
  async function finishAndForget(job: Mutable<DeletionJob>, sources: readonly Source[]): Promise<void> {
    try {
      await finish(job, new Set(sources));
    } finally {
      await core.eventsDeleted(job.deletion.sources, now());
      // Other processes have dropped their answers by then: one poll may have been under way, the next one has seen the deletion.
      if (!engine.seesEveryWrite) await wait(2 * FOLLOW_EVERY_MS);
    }
  }

  async function finish(job: Mutable<DeletionJob>, sources: ReadonlySet<Source>): Promise<void> {
    for (const source of job.deletion.sources) {
      if (!sources.has(source) && !(await wasCutOff(engine, source))) continue;
      const own = sources.has(source) ? 1 : 0;
      await finishDeletion(engine, source, {
        pause,
        isShared: () => rewriting.filter((table) => table === source.table).length > own,
        onParts(partsLeft) {
          job.progress = { source: source.name, partsLeft };
        },
      });
    }
  }

  return {
    count: (deletion) => countEvents(engine, deletion),
    async start(deletion, by) {
      if (waiting >= WAITING_MAX)
        throw new TailraceError('overloaded', `${WAITING_MAX} deletions are waiting already`);
      waiting++;
      const begun = makeRoom().then(() => begin(deletion, by));
      const { sources, failure, ...accepted } = await begun.catch((error: unknown) => {
        waiting--;
        throw error;
      });
      const { promise: done, resolve, reject } = Promise.withResolvers<void>();
      const job: Mutable<DeletionJob> = {
        ...{
          id: newId(),
          deletion,
          ...accepted,
          state: 'running',
          progress: undefined,
          error: undefined,
          done,
        },
      };
      remember(jobs, job);
      last = last.then(() => run(job, sources)).then(resolve, reject);
      done.catch(() => {}); // callers that await it get the rejection
      if (failure !== undefined) throw failure; // deletions that have begun are finished nevertheless
      return job;
    },
    find: (id) => jobs.get(id),
    isRunning: () => waiting > 0,
    idle: async () => void (await last),
  };
}

function remember(jobs: Map<string, DeletionJob>, job: DeletionJob): void {
  jobs.set(job.id, job);
  const [oldest] = jobs.keys();
  if (jobs.size > REMEMBERED_MAX && oldest !== undefined) jobs.delete(oldest);
}
