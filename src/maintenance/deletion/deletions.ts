import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import type { Engine } from '../../engine/engine.ts';
import { TailraceError } from '../../errors.ts';
import type { ControlStore } from '../../keys/control-store.ts';
import { countEvents, deleteEvents, type SourceRows } from './delete-events.ts';
import { type Deletion, describeDeletion } from './request.ts';

/** A deletion that was asked for. */
export interface DeletionJob {
  readonly id: string;
  readonly deletion: Deletion;
  /** The events that there were when it began. */
  readonly counted: readonly SourceRows[];
  readonly state: 'running' | 'done' | 'failed';
  /** What it is at, while it runs. */
  readonly progress: { readonly source: string; readonly partsLeft: number } | undefined;
  /** Resolves when they are on no disk and in no cache any more. @throws what it failed with */
  readonly done: Promise<void>;
}

/** Deletes events for good, one deletion after another. */
export interface Deletions {
  count(deletion: Deletion): Promise<SourceRows[]>;
  /**
   * Writes the deletion into the audit trail, unless it has nothing to delete, and begins. Also without events it finishes what a
   * deletion that was cut off has left.
   *
   * @param actor for the audit trail: a key's id, or `cli`
   * @throws TailraceError `overloaded` where too many wait; what the control store or the engine fails with
   */
  start(deletion: Deletion, actor: string): Promise<DeletionJob>;
  /** One of the last jobs of this process. */
  find(id: string): DeletionJob | undefined;
  /** Resolves when none runs any more. */
  idle(): Promise<void>;
}

export interface DeletionsOptions {
  readonly store: {
    readonly engine: Engine;
    readonly registry: Registry;
    /** See `Store.eventsDeleted`. */
    eventsDeleted(sources: readonly Source[], nowMs: number): Promise<void>;
  };
  readonly control: Pick<ControlStore, 'note'>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
}

// Each has been counted, and holds a request or a shell.
const WAITING_MAX = 100;
const REMEMBERED_MAX = 1_000;
const LOOK_EVERY_MS = 250;
/** How often other processes on a server look for deletions. */
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

  /** Answers from before are forgotten also where only some events could be deleted. */
  async function deleteAndForget(job: Mutable<DeletionJob>): Promise<void> {
    try {
      await deleteEvents(engine, job, {
        pause: () => wait(LOOK_EVERY_MS),
        onProgress(source, partsLeft) {
          job.progress = { source, partsLeft };
        },
      });
    } finally {
      await store.eventsDeleted(job.deletion.sources, now());
      // Others have forgotten their answers by then: one look may have been under way, and the next has seen it.
      if (!engine.seesEveryWrite) await wait(2 * FOLLOW_EVERY_MS);
    }
  }

  async function audit(deletion: Deletion, counted: readonly SourceRows[], actor: string): Promise<void> {
    const isOfAll = deletion.sources.length > 1 || registry.sources.length === 1;
    const rows = counted.reduce((sum, one) => sum + one.rows, 0);
    if (rows === 0) return;
    const detail = `${rows} ${describeDeletion(deletion, isOfAll)}`;
    const entry = { atMs: now(), action: 'deleted', keyId: '', actor, detail, count: 1 } as const;
    await control.note({ used: [], entries: [entry] });
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
      done.catch(() => {}); // reported to whoever waits for it
      return job;
    },
    find: (id) => jobs.get(id),
    idle: async () => void (await last),
  };
}

function remember(jobs: Map<string, DeletionJob>, job: DeletionJob): void {
  jobs.set(job.id, job);
  const [oldest] = jobs.keys();
  if (jobs.size > REMEMBERED_MAX && oldest !== undefined) jobs.delete(oldest);
}
