import { TailraceError } from '../../errors.ts';
import type { Event } from '../event.ts';
import { RefusedEvent } from '../read-event.ts';
import {
  type Amount,
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

/** What a key has stored of one project in one source, or asked of it, since the last time that it was written down. */
export interface UsageEntry extends Counted {
  /** Empty: of queries. */
  readonly source: string;
}

/** Whose query it is: the key is empty for work of the service itself, the project if a query names none. */
type Asker = Pick<UsageEntry, 'key' | 'project'>;

/** Events of one request in one source. */
interface CountedBatch extends Pick<UsageEntry, 'key' | 'source'> {
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
   * Counts events while `store` stores them, and no longer if it fails: requests at the same time cannot pass a quota
   * together.
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

interface UsageOptions {
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

/** What was stored and asked today, by project and by key. */
export interface DayTotals {
  readonly projects: ReadonlyMap<string, Total>;
  readonly keys: ReadonlyMap<string, Total>;
}

/** A share of the totals. */
interface Counted extends Total {
  /** When it is counted, ms since the epoch. */
  readonly atMs: number;
  readonly project: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
// Further projects and keys have no totals, and so no quota.
const NAMES_MAX = 100_000;
type FindSpent = (quota: Quota, total: Total) => string | undefined;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** Adds up the present day, UTC, and compares it with the quotas. @param now ms since the epoch */
function createDayTotals(now: () => number) {
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

/** An event of a project that has spent its quota of the day. */
export class OverQuota extends RefusedEvent {
  constructor(project: string, { until }: SpentProjects) {
    super(
      `belongs to ${nameProject(project)}, which has spent its quota of the day; more are accepted from ${until}`,
    );
  }
}

// Characters of a project's name in a message.
const NAMED_CHARS_MAX = 100;
const nameProject = (project: string) =>
  project === '' ? 'no project' : `the project ${JSON.stringify(project.slice(0, NAMED_CHARS_MAX))}`;

/** Adds up the events of a request by project. */
export function createAmounts() {
  const projects = new Map<string, { events: number; bytes: number }>();
  let last = '';
  let amount: { events: number; bytes: number } | undefined;
  return {
    projects: projects as ReadonlyMap<string, Amount>,
    add({ project, message, metadata, attributes }: Event): void {
      if (amount === undefined || project !== last) {
        amount = projects.get(project) ?? { events: 0, bytes: 0 };
        projects.set(project, amount);
        last = project;
      }
      amount.events++;
      amount.bytes +=
        Buffer.byteLength(message) + Buffer.byteLength(metadata) + Buffer.byteLength(attributes);
    },
  };
}
