import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import { deleteRows, wasCutOff } from '../../engine/delete-rows.ts';
import type { Engine } from '../../engine/engine.ts';
import { TailraceError } from '../../errors.ts';
import type { ControlStore } from '../../keys/control-store.ts';
import { type Deletion, describeDeletion, toCondition } from './request.ts';

/** The events of one source that a deletion concerns. */
export interface SourceRows {
  readonly source: string;
  readonly rows: number;
}

/** The source in work, and the parts of its table left to rewrite. */
export type DeletionProgress = { readonly source: string; readonly partsLeft: number };

/** A deletion that was requested. */
export interface DeletionJob {
  readonly id: string;
  readonly deletion: Deletion;
  /** The events that there were when it started. */
  readonly counted: readonly SourceRows[];
  readonly state: 'running' | 'done' | 'failed';
  /** While it runs. */
  readonly progress: DeletionProgress | undefined;
  /** Resolves when the events are gone from the disks and caches. @throws its failure */
  readonly done: Promise<void>;
}

/** Deletes events irrevocably, one deletion after another. */
export interface Deletions {
  /** Counts the matching events by source, also those that retention hides from queries. */
  count(deletion: Deletion): Promise<SourceRows[]>;
  /**
   * Starts a deletion and writes it into the audit trail, unless no event matches. Even then it finishes a deletion that was
   * interrupted.
   *
   * @param actor for the audit trail: a key's id, or `cli`
   * @throws TailraceError `overloaded` if too many wait; failures of the control store and the engine
   */
  start(deletion: Deletion, actor: string): Promise<DeletionJob>;
  /** Finds one of the last jobs of this process. */
  find(id: string): DeletionJob | undefined;
  /** Resolves when none is running. */
  idle(): Promise<void>;
}

export interface DeletionsOptions {
  readonly store: {
    readonly engine: Engine;
    readonly registry: Registry;
    /** See `Store.eventsDeleted`. */
    eventsDeleted(sources: readonly Source[], nowMs: number): Promise<void>;
  };
  readonly control: Pick<ControlStore, 'record'>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
}

const WAITING_MAX = 100; // each holds a request or a command
const REMEMBERED_MAX = 1_000;
const POLL_EVERY_MS = 250;
/** How often other processes on a server poll for deletions. */
export const FOLLOW_EVERY_MS = 1_000;

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export function createDeletions({ store, control, now, newId, wait }: DeletionsOptions): Deletions {
  const { engine, registry } = store;
  const jobs = new Map<string, DeletionJob>();
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function run(job: Mutable<DeletionJob>): Promise<void> {
    try {
      await deleteAndForget(job);
      job.state = 'done';
    } catch (error) {
      job.state = 'failed';
      throw error;
    } finally {
      job.progress = undefined;
      waiting--;
    }
  }

  /** Drops cached answers also if only some events could be deleted. */
  async function deleteAndForget(job: Mutable<DeletionJob>): Promise<void> {
    try {
      await deleteEvents(engine, job, () => wait(POLL_EVERY_MS));
    } finally {
      await store.eventsDeleted(job.deletion.sources, now());
      // Other processes have dropped their answers by then: one poll may have been under way, the next one has seen the deletion.
      if (!engine.seesEveryWrite) await wait(2 * FOLLOW_EVERY_MS);
    }
  }

  async function audit(deletion: Deletion, counted: readonly SourceRows[], actor: string): Promise<void> {
    const isOfAll = deletion.sources.length > 1 || registry.sources.length === 1;
    const rows = counted.reduce((sum, one) => sum + one.rows, 0);
    if (rows === 0) return;
    const detail = `${rows} ${describeDeletion(deletion, isOfAll)}`;
    const entry = { atMs: now(), action: 'deleted', keyId: '', actor, detail, count: 1 } as const;
    await control.record({ used: [], entries: [entry] });
  }

  return {
    count: (deletion) => countEvents(engine, deletion),
    async start(deletion, actor) {
      if (waiting >= WAITING_MAX)
        throw new TailraceError('overloaded', `${WAITING_MAX} deletions are waiting already`);
      waiting++;
      let counted: SourceRows[];
      try {
        counted = await countEvents(engine, deletion);
        await audit(deletion, counted, actor);
      } catch (error) {
        waiting--;
        throw error;
      }
      const { promise: done, resolve, reject } = Promise.withResolvers<void>();
      const job: Mutable<DeletionJob> = {
        ...{ id: newId(), deletion, counted, state: 'running', progress: undefined, done },
      };
      remember(jobs, job);
      last = last.then(() => run(job)).then(resolve, reject);
      done.catch(() => {}); // callers that await it get the rejection
      return job;
    },
    find: (id) => jobs.get(id),
    idle: async () => void (await last),
  };
}

async function countEvents(engine: Engine, deletion: Deletion): Promise<SourceRows[]> {
  const condition = toCondition(deletion);
  const counted: SourceRows[] = [];
  for (const { name, table } of deletion.sources) {
    const [row] = await engine.inspect(`SELECT count() AS rows FROM \`${table}\` WHERE ${condition}`);
    counted.push({ source: name, rows: Number(row?.['rows']) });
  }
  return counted;
}

/** Deletes the events that are stored when it starts, source by source; later events stay. */
async function deleteEvents(
  engine: Engine,
  job: Mutable<DeletionJob>,
  pause: () => Promise<void>,
): Promise<void> {
  const condition = toCondition(job.deletion);
  const withRows = new Set(job.counted.filter(({ rows }) => rows > 0).map(({ source }) => source));
  for (const source of job.deletion.sources) {
    if (!withRows.has(source.name) && !(await wasCutOff(engine, source))) continue;
    await deleteRows(engine, source, condition, {
      pause,
      onParts(partsLeft) {
        job.progress = { source: source.name, partsLeft };
      },
    });
  }
}

function remember(jobs: Map<string, DeletionJob>, job: DeletionJob): void {
  jobs.set(job.id, job);
  const [oldest] = jobs.keys();
  if (jobs.size > REMEMBERED_MAX && oldest !== undefined) jobs.delete(oldest);
}
