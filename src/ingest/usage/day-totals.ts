import {
  addUp,
  findSpent,
  findSpentWork,
  NO_QUOTAS,
  NO_TOTAL,
  type Quota,
  type Quotas,
  type SpentProjects,
  type Total,
} from './quota.ts';

/** What was stored and asked today, by project and by key. */
export interface DayTotals {
  readonly projects: ReadonlyMap<string, Total>;
  readonly keys: ReadonlyMap<string, Total>;
}

/** A share of the totals. */
export interface Counted extends Total {
  /** When it is counted, ms since the epoch. */
  readonly atMs: number;
  readonly project: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
// Further projects and keys have no totals, and so no quota.
const NAMES_MAX = 100_000;
type FindSpent = (quota: Quota, total: Total) => string | undefined;
export const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** Adds up the present day, UTC, and compares it with the quotas. @param now ms since the epoch */
export function createDayTotals(now: () => number) {
  let quotas = NO_QUOTAS;
  let day = dayOf(now());
  let totals = createBoth();
  let spent = new Set<string>();

  /** Begins anew if the day is over. */
  function start(): void {
    const today = dayOf(now());
    if (today === day) return;
    day = today;
    totals = createBoth();
    spent = new Set();
  }

  const quotaOf = (project: string): Quota => quotas.projects.get(project) ?? quotas.default;
  const endMs = () => (day + 1) * DAY_MS;

  function add({ atMs, project, key, ...more }: Counted): void {
    start();
    if (dayOf(atMs) !== day) return;
    const ofProject = totals.projects.add(project, more);
    if (findSpent(quotaOf(project), ofProject) !== undefined) spent.add(project);
    else spent.delete(project);
    totals.keys.add(key, more);
  }

  function findOfKey(key: string, find: FindSpent): string | undefined {
    start();
    const quota = quotas.keys.get(key);
    return quota && find(quota, totals.keys.get(key) ?? NO_TOTAL);
  }

  function findSpentProjects(): void {
    const found = [...totals.projects].filter(
      ([name, total]) => findSpent(quotaOf(name), total) !== undefined,
    );
    spent = new Set(found.map(([name]) => name));
  }

  return {
    endMs,
    add,
    /** Names what a key has spent of its quota for events; `undefined` if nothing. */
    spentOfKey: (key: string) => findOfKey(key, findSpent),
    /** As `spentOfKey`, for queries. */
    spentWorkOfKey: (key: string) => findOfKey(key, findSpentWork),
    /** As `spentWorkOfKey`. The default is for projects: most of what asks for none, such as alerts, is not of any. */
    spentWorkOfProject(project: string): string | undefined {
      start();
      const quota = project === '' ? quotas.projects.get('') : quotaOf(project);
      return quota && findSpentWork(quota, totals.projects.get(project) ?? NO_TOTAL);
    },
    spentProjects(): SpentProjects | undefined {
      start();
      return spent.size === 0 ? undefined : { names: spent, until: new Date(endMs()).toISOString() };
    },
    /** @param pending what was counted, but is not in these totals */
    set({ projects, keys }: DayTotals, pending: readonly Counted[]): void {
      start();
      totals = createBoth(projects, keys);
      for (const one of pending) add(one);
      findSpentProjects();
    },
    setQuotas(next: Quotas): void {
      quotas = next;
      findSpentProjects();
    },
  };
}

function createBoth(projects: DayTotals['projects'] = new Map(), keys: DayTotals['keys'] = new Map()) {
  return { projects: createNamed(projects), keys: createNamed(keys) };
}

function createNamed(from: ReadonlyMap<string, Total>) {
  const named = new Map(from);
  return {
    get: (name: string) => named.get(name),
    /** Returns the new total; a name beyond the bound is not kept. */
    add(name: string, more: Total): Total {
      const known = named.get(name);
      const next = addUp(more, known);
      if (known !== undefined || named.size < NAMES_MAX) named.set(name, next);
      return next;
    },
    [Symbol.iterator]: () => named[Symbol.iterator](),
  };
}
