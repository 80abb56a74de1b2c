import { TailraceError } from '../../errors.ts';
import { NAMED_CHARS_MAX, RejectedEvent } from '../read-event.ts';
import {
  type Amount,
  addUp,
  findSpent,
  NO_QUOTAS,
  NO_TOTAL,
  type Quota,
  type Quotas,
  type SpentProjects,
  type Total,
} from './quota.ts';

/** What a key has stored of one project in one source, or asked of it, since the last time that it was written down. */
export interface UsageEntry extends Total {
  /** When it is counted, ms since the epoch. */
  readonly atMs: number;
  readonly project: string;
  readonly key: string;
  /** Empty: of queries. */
  readonly source: string;
}

/** The key is empty for work of the service itself, the project if a query names none. */
type Asker = Pick<UsageEntry, 'key' | 'project'>;

/** Events of one request in one source. */
interface CountedBatch extends Pick<UsageEntry, 'key' | 'source'> {
  readonly projects: ReadonlyMap<string, Amount>;
}

export type Usage = ReturnType<typeof createUsage>;

interface UsageOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onRejected: () => void;
}

// The rest is counted under no name: a sender that invents projects must not fill the memory.
export const ENTRIES_MAX = 100_000;

/** Counts what is stored and asked, and knows whose quota of the day is spent. */
export function createUsage({ now, onRejected }: UsageOptions) {
  const day = createDayTotals(now);
  let pending = new Map<string, UsageEntry>();

  /** Adds to what waits to be written down: a sum for each day, project, key and source. */
  function keep(entry: UsageEntry): void {
    const name = JSON.stringify([dayOf(entry.atMs), entry.project, entry.key, entry.source]);
    if (pending.size >= ENTRIES_MAX && !pending.has(name) && entry.project !== '')
      keep({ ...entry, project: '' });
    else pending.set(name, { ...entry, ...addUp(entry, pending.get(name)) });
  }

  function count(entry: UsageEntry): void {
    keep(entry);
    day.add(entry);
  }

  function countBatch({ key, source, projects }: CountedBatch, atMs: number, sign: 1 | -1): void {
    for (const [project, { events, bytes }] of projects)
      count({ ...NO_TOTAL, atMs, project, key, source, events: sign * events, bytes: sign * bytes });
  }

  function reject(message: string): TailraceError {
    onRejected();
    const until = new Date(day.endMs()).toISOString();
    return new TailraceError('rate_limited', `${message}; more are accepted from ${until}`, {
      retryAfterSeconds: Math.max(1, Math.ceil((day.endMs() - now()) / 1000)),
    });
  }

  function rejectIf(name: string, spent: string | undefined): void {
    if (spent !== undefined) throw reject(`${name} has spent its quota of ${spent} a day`);
  }

  return {
    /** @throws TailraceError `rate_limited` with the time at which the day ends, if the key has spent its quota */
    checkKey: (key: string) => rejectIf('the key', day.spentOfKey(key, 'events')),
    /** The projects that have spent their quota; `undefined` if none has. */
    spentProjects: day.spentProjects,
    /** Returns the error for a request all of whose events belong to such projects. */
    reject: () => reject('every event belongs to a project that has spent its quota of the day'),
    /** Counts events before `store` has stored them: requests at the same time cannot pass a quota together. */
    async count(batch: CountedBatch, store: () => Promise<void>): Promise<void> {
      const atMs = now();
      countBatch(batch, atMs, 1);
      try {
        await store();
      } catch (error) {
        countBatch(batch, atMs, -1);
        throw error;
      }
    },
    /** @throws TailraceError as `checkKey`, if the key or the project has spent its quota of queries or core time */
    checkQuery({ key, project }: Asker): void {
      rejectIf('the key', day.spentOfKey(key, 'queries'));
      rejectIf(nameProject(project), day.spentOfAsked(project));
    },
    countQuery: (asker: Asker, coreMs: number) =>
      count({ ...NO_TOTAL, ...asker, atMs: now(), source: '', queries: 1, coreMs }),
    /** Removes what has been counted since the last call, for the table of usage. */
    take(): UsageEntry[] {
      const taken = [...pending.values()];
      pending = new Map();
      return taken.filter(({ events, queries }) => events !== 0 || queries !== 0);
    },
    /** Returns what could not be written, to be taken again. */
    putBack: (entries: readonly UsageEntry[]) => entries.forEach(keep),
    /** Sets what the table of usage has of the present day; what was counted since the last `take` is added. */
    setTotals: (totals: DayTotals) => day.set(totals, [...pending.values()]),
    setQuotas: day.setQuotas,
  };
}

/** What was stored and asked today, by project and by key. */
export interface DayTotals {
  readonly projects: ReadonlyMap<string, Total>;
  readonly keys: ReadonlyMap<string, Total>;
}

const DAY_MS = 86_400_000;
// Further projects and keys have no totals, and so no quota.
const NAMES_MAX = 100_000;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** Adds up the present day, UTC, and compares it with the quotas. */
function createDayTotals(now: () => number) {
  let quotas = NO_QUOTAS;
  let day = dayOf(now());
  let totals = { projects: new Map<string, Total>(), keys: new Map<string, Total>() };
  let spent = new Set<string>();

  /** Begins anew if the day is over. */
  function start(): void {
    const today = dayOf(now());
    if (today === day) return;
    day = today;
    totals = { projects: new Map(), keys: new Map() };
    spent = new Set();
  }

  const quotaOf = (project: string): Quota => quotas.projects.get(project) ?? quotas.default;
  const isSpent = (project: string, total: Total) =>
    findSpent(quotaOf(project), total, 'events') !== undefined;
  const endMs = () => (day + 1) * DAY_MS;

  function add({ atMs, project, key, ...more }: UsageEntry): void {
    start();
    if (dayOf(atMs) !== day) return;
    addTo(totals.keys, key, more);
    if (isSpent(project, addTo(totals.projects, project, more))) spent.add(project);
    else spent.delete(project);
  }

  function findSpentProjects(): void {
    const found = [...totals.projects].filter(([name, total]) => isSpent(name, total));
    spent = new Set(found.map(([name]) => name));
  }

  return {
    endMs,
    add,
    /** Names what a key has spent of its quota; `undefined` if nothing. */
    spentOfKey(key: string, of: 'events' | 'queries'): string | undefined {
      start();
      const quota = quotas.keys.get(key);
      return quota && findSpent(quota, totals.keys.get(key) ?? NO_TOTAL, of);
    },
    /** As `spentOfKey`. The default is for projects: most of what asks for none, such as alerts, is not of any. */
    spentOfAsked(project: string): string | undefined {
      start();
      const quota = project === '' ? quotas.projects.get('') : quotaOf(project);
      return quota && findSpent(quota, totals.projects.get(project) ?? NO_TOTAL, 'queries');
    },
    spentProjects(): SpentProjects | undefined {
      start();
      return spent.size === 0 ? undefined : { names: spent, until: new Date(endMs()).toISOString() };
    },
    /** @param pending what was counted, but is not in these totals */
    set({ projects, keys }: DayTotals, pending: readonly UsageEntry[]): void {
      start();
      totals = { projects: new Map(projects), keys: new Map(keys) };
      for (const one of pending) add(one);
      findSpentProjects();
    },
    setQuotas(next: Quotas): void {
      quotas = next;
      findSpentProjects();
    },
  };
}

/** Returns the new total; a name beyond the bound is not kept. */
function addTo(totals: Map<string, Total>, name: string, more: Total): Total {
  const known = totals.get(name);
  const next = addUp(more, known);
  if (known !== undefined || totals.size < NAMES_MAX) totals.set(name, next);
  return next;
}

/** An event of a project that has spent its quota of the day. */
export class OverQuota extends RejectedEvent {
  constructor(project: string, { until }: SpentProjects) {
    super(
      `belongs to ${nameProject(project)}, which has spent its quota of the day; more are accepted from ${until}`,
    );
  }
}

const nameProject = (project: string) =>
  project === '' ? 'no project' : `the project ${JSON.stringify(project.slice(0, NAMED_CHARS_MAX))}`;
