import { TailraceError } from '../../errors.ts';
import { nameProject } from './amounts.ts';
import { type Counted, createDayTotals, type DayTotals, dayOf } from './day-totals.ts';
import { type Amount, addUp, NO_TOTAL, type Quotas, type SpentProjects } from './quota.ts';

/** What a key has stored of one project in one source, or asked of it, since the last time that it was written down. */
export interface UsageEntry extends Counted {
  /** Empty: of queries. */
  readonly source: string;
}

/** Whose query it is: the key is empty for work of the service itself, the project if a query names none. */
export type Asker = Pick<UsageEntry, 'key' | 'project'>;

/** Events of one request in one source. */
export interface CountedBatch extends Pick<UsageEntry, 'key' | 'source'> {
  readonly projects: ReadonlyMap<string, Amount>;
}

/** Counts what is stored and asked, and knows whose quota of the day is spent. */
export interface Usage {
  /** @throws TailraceError `rate_limited` with the time at which the day ends, if the key has spent its quota */
  checkKey(key: string): void;
  /** The projects that have spent their quota; `undefined` if none has. */
  spentProjects(): SpentProjects | undefined;
  /** Returns the error for a request all of whose events belong to such projects. */
  refuse(): TailraceError;
  /**
   * Counts events while `store` stores them, and no longer if it fails: requests at the same time cannot pass a quota together.
   *
   * @throws what `store` throws
   */
  count(batch: CountedBatch, store: () => Promise<void>): Promise<void>;
  /** @throws TailraceError as `checkKey`, if the key or the project has spent its quota of queries or core time */
  checkQuery(asker: Asker): void;
  countQuery(asker: Asker, coreMs: number): void;
  /** Removes what has been counted since the last call, for the table of usage. */
  take(): UsageEntry[];
  /** Returns what could not be written, to be taken again. */
  putBack(entries: readonly UsageEntry[]): void;
  /** Sets what the table of usage has of the present day; what was counted since the last `take` is added. */
  setTotals(totals: DayTotals): void;
  setQuotas(quotas: Quotas): void;
}

export interface UsageOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onRefused: () => void;
}

// The rest is counted under no name: a sender that invents projects must not fill the memory.
export const ENTRIES_MAX = 100_000;

export function createUsage({ now, onRefused }: UsageOptions): Usage {
  const pending = createEntries();
  const day = createDayTotals(now);

  function refuse(message: string): TailraceError {
    onRefused();
    const until = new Date(day.endMs()).toISOString();
    return new TailraceError('rate_limited', `${message}; more are accepted from ${until}`, {
      retryAfterSeconds: Math.max(1, Math.ceil((day.endMs() - now()) / 1000)),
    });
  }

  function refuseIf(name: string, spent: string | undefined): void {
    if (spent !== undefined) throw refuse(`${name} has spent its quota of ${spent} a day`);
  }

  function keep(entry: UsageEntry): void {
    pending.keep(entry);
    day.add(entry);
  }

  function add({ key, source, projects }: CountedBatch, atMs: number, sign: 1 | -1): void {
    for (const [project, { events, bytes }] of projects)
      keep({ ...NO_TOTAL, atMs, project, key, source, events: sign * events, bytes: sign * bytes });
  }

  return {
    checkKey: (key) => refuseIf('the key', day.spentOfKey(key)),
    spentProjects: day.spentProjects,
    refuse: () => refuse('every event belongs to a project that has spent its quota of the day'),
    async count(batch, store) {
      const atMs = now();
      add(batch, atMs, 1);
      try {
        await store();
      } catch (error) {
        add(batch, atMs, -1);
        throw error;
      }
    },
    checkQuery({ key, project }) {
      refuseIf('the key', day.spentWorkOfKey(key));
      refuseIf(nameProject(project), day.spentWorkOfProject(project));
    },
    countQuery: (asker, coreMs) =>
      keep({ ...NO_TOTAL, ...asker, atMs: now(), source: '', queries: 1, coreMs }),
    take: pending.take,
    putBack: (entries) => entries.forEach(pending.keep),
    setTotals: (totals) => day.set(totals, pending.list()),
    setQuotas: day.setQuotas,
  };
}

/** Collects what waits to be written down, a sum for each day, project, key and source. */
function createEntries() {
  let entries = new Map<string, UsageEntry>();
  return {
    keep(entry: UsageEntry): void {
      const { atMs, key, source } = entry;
      const nameOf = (project: string) => JSON.stringify([dayOf(atMs), project, key, source]);
      const isOne = entries.size < ENTRIES_MAX || entries.has(nameOf(entry.project));
      const project = isOne ? entry.project : '';
      entries.set(nameOf(project), { ...entry, project, ...addUp(entry, entries.get(nameOf(project))) });
    },
    list: () => [...entries.values()],
    take(): UsageEntry[] {
      const taken = [...entries.values()];
      entries = new Map();
      return taken.filter(({ events, queries }) => events !== 0 || queries !== 0);
    },
  };
}
