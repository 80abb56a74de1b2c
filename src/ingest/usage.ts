import { type Static, Type } from 'typebox';
import { createShapeCheck } from '../definitions/shape.ts';
import { readOperatorFile } from '../definitions/yaml-file.ts';
import { rejectFaults, TailraceError } from '../errors.ts';
import { isoTime } from '../lib/instant.ts';
import { wholeNumber } from '../lib/schema.ts';
import { NAMED_CHARS_MAX, RejectedEvent } from './read-event.ts';

/** What was stored. Bytes are UTF-8, of message, metadata and other members, before compression. */
export interface Amount {
  readonly events: number;
  readonly bytes: number;
}

/** What was stored, and what was asked of the engine, without answers from the cache. */
export interface Total extends Amount {
  readonly queries: number;
  /** See `QueryResult`. */
  readonly coreMs: number;
}

const NO_TOTAL: Total = { events: 0, bytes: 0, queries: 0, coreMs: 0 };

function addUp(one: Total, { events, bytes, queries, coreMs }: Total = NO_TOTAL): Total {
  const stored = { events: one.events + events, bytes: one.bytes + bytes };
  return { ...stored, queries: one.queries + queries, coreMs: one.coreMs + coreMs };
}

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

// The rest is counted under no name: a sender that invents projects must not fill the memory.
export const ENTRIES_MAX = 100_000;

/** What was stored and asked today, by project and by key. */
export interface DayTotals {
  readonly projects: ReadonlyMap<string, Total>;
  readonly keys: ReadonlyMap<string, Total>;
}

const DAY_MS = 86_400_000;
// Further projects and keys have no totals, and so no quota.
const NAMES_MAX = 100_000;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** The totals of a day, UTC. */
function createDay(nowMs: number, { projects, keys }: Partial<DayTotals> = {}) {
  return {
    day: dayOf(nowMs),
    endMs: (dayOf(nowMs) + 1) * DAY_MS,
    ...{ projects: new Map(projects), keys: new Map(keys) },
    /** The projects that have spent their quota for events. */
    spent: new Set<string>(),
  };
}

/** Counts what is stored and asked, and knows whose quota of the day is spent. @param options `now`: ms since the epoch */
export function createUsage({ now, onRejected }: { readonly now: () => number; onRejected(): void }) {
  let quotas = NO_QUOTAS;
  let pending = new Map<string, UsageEntry>();
  let last = createDay(now());

  /** Returns the present day, which begins anew if the last one is over. */
  function today() {
    if (dayOf(now()) !== last.day) last = createDay(now());
    return last;
  }

  /** Adds to what waits to be written down, by day, project, key and source. */
  function keep(entry: UsageEntry): void {
    const name = JSON.stringify([dayOf(entry.atMs), entry.project, entry.key, entry.source]);
    if (pending.size >= ENTRIES_MAX && !pending.has(name) && entry.project !== '')
      keep({ ...entry, project: '' });
    else pending.set(name, { ...entry, ...addUp(entry, pending.get(name)) });
  }

  const quotaOf = (project: string): Quota => quotas.projects.get(project) ?? quotas.default;
  const isSpent = (project: string, total: Total) =>
    findSpent('events', quotaOf(project), total) !== undefined;

  function addToDay({ atMs, project, key, ...more }: UsageEntry): void {
    const { day, projects, keys, spent } = today();
    if (dayOf(atMs) !== day) return;
    addTo(keys, key, more);
    if (isSpent(project, addTo(projects, project, more))) spent.add(project);
    else spent.delete(project);
  }

  function findSpentProjects(): void {
    const { projects, spent } = today();
    spent.clear();
    for (const [name, total] of projects) if (isSpent(name, total)) spent.add(name);
  }

  function count(entry: UsageEntry): void {
    keep(entry);
    addToDay(entry);
  }

  function countBatch({ key, source, projects }: CountedBatch, atMs: number, sign: 1 | -1): void {
    for (const [project, { events, bytes }] of projects)
      count({ ...NO_TOTAL, atMs, project, key, source, events: sign * events, bytes: sign * bytes });
  }

  function reject(message: string): TailraceError {
    onRejected();
    const { endMs } = today();
    return new TailraceError('rate_limited', `${message}; more are accepted from ${isoTime(endMs)}`, {
      retryAfterSeconds: Math.max(1, Math.ceil((endMs - now()) / 1000)),
    });
  }

  function rejectIf(name: string, spent: string | undefined): void {
    if (spent !== undefined) throw reject(`${name} has spent its quota of ${spent} a day`);
  }

  const checkKey = (key: string, of: Counted) =>
    rejectIf('the key', findSpent(of, quotas.keys.get(key), today().keys.get(key)));

  return {
    /** @throws TailraceError `rate_limited` with the time at which the day ends, if the key has spent its quota */
    checkKey: (key: string) => checkKey(key, 'events'),
    /** The projects that have spent their quota; `undefined` if none has. */
    spentProjects(): SpentProjects | undefined {
      const { spent, endMs } = today();
      return spent.size === 0 ? undefined : { names: spent, until: isoTime(endMs) };
    },
    /** Returns the error for a request all of whose events belong to such projects. */
    reject: () => reject('every event belongs to a project that has spent its quota of the day'),
    /** Counts events while `store` stores them, and not if it fails: concurrent requests cannot pass a quota together. */
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
      checkKey(key, 'queries');
      // The default is for projects: most of what asks for none, such as alerts, is not of any.
      const quota = project === '' ? quotas.projects.get('') : quotaOf(project);
      rejectIf(nameProject(project), findSpent('queries', quota, today().projects.get(project)));
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
    setTotals(totals: DayTotals): void {
      last = createDay(now(), totals);
      pending.forEach(addToDay);
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
    const spent = `belongs to ${nameProject(project)}, which has spent its quota of the day`;
    super(`${spent}; more are accepted from ${until}`);
  }
}

const nameProject = (project: string) =>
  project === '' ? 'no project' : `the project ${JSON.stringify(project.slice(0, NAMED_CHARS_MAX))}`;

const RETENTION_DAYS_MAX = 36_500;
const EXAMPLE = 'a map, such as { events: 1000000, bytes: 2000000000 }';
const COUNT = Type.Optional(wholeNumber(Number.MAX_SAFE_INTEGER));
const MEMBERS = { events: COUNT, bytes: COUNT, queries: COUNT, core_seconds: COUNT };
const DAYS = Type.Optional(wholeNumber(RETENTION_DAYS_MAX));
const MAP = { additionalProperties: false, expected: EXAMPLE };
const QUOTA = Type.Object(MEMBERS, MAP);
const OF_PROJECT = Type.Object({ ...MEMBERS, retention_days: DAYS }, MAP);
const NAMED_MAX = 10_000;
const NAMED = {
  maxProperties: NAMED_MAX,
  expected: `a map of at most ${NAMED_MAX} names, each with ${EXAMPLE}`,
};
const FILE = Type.Object(
  {
    default: Type.Optional(QUOTA),
    projects: Type.Optional(Type.Record(Type.String(), OF_PROJECT, NAMED)),
    keys: Type.Optional(Type.Record(Type.String(), QUOTA, NAMED)),
  },
  { additionalProperties: false, expected: 'a map of default, projects and keys' },
);
const checkShape = createShapeCheck(FILE);

/** The most that may be stored, or asked of the engine, a day, UTC. A missing member is not limited. */
export type Quota = Static<typeof QUOTA>;

/** What a quota is compared for. */
type Counted = 'events' | 'queries';

/** Names what of a quota for events, or for queries, is spent, such as `1,000 events`; `undefined` if nothing is. */
function findSpent(of: Counted, quota: Quota = {}, total: Total = NO_TOTAL): string | undefined {
  const { events, bytes, queries, coreMs } = total;
  const amounts = { events, bytes, queries, core_seconds: coreMs / 1000 };
  const names = of === 'events' ? (['events', 'bytes'] as const) : (['queries', 'core_seconds'] as const);
  const found = names.find((name) => amounts[name] >= (quota[name] ?? Number.POSITIVE_INFINITY));
  return found && `${quota[found]?.toLocaleString('en')} ${found.replace('_', ' ')}`;
}

/** The projects whose quota is spent. */
export interface SpentProjects {
  readonly names: ReadonlySet<string>;
  /** When quotas begin anew, ISO 8601. */
  readonly until: string;
}

export interface Quotas {
  /** Applies to each project that `projects` does not name. */
  readonly default: Quota;
  readonly projects: ReadonlyMap<string, Quota>;
  /** By id of the key. */
  readonly keys: ReadonlyMap<string, Quota>;
  /** Days that events of a project are kept, if fewer than those of their source. */
  readonly retentionDays: ReadonlyMap<string, number>;
}

export const NO_QUOTAS: Quotas = {
  default: {},
  projects: new Map(),
  keys: new Map(),
  retentionDays: new Map(),
};

/** Reads the file of `TAILRACE_QUOTAS_FILE`. @throws InputError with the line of each fault and what would be right */
export async function readQuotas(path: string): Promise<Quotas> {
  const file = await readOperatorFile(path, { setting: 'TAILRACE_QUOTAS_FILE' });
  if (file === undefined) return NO_QUOTAS;
  rejectFaults(checkShape(file));
  const { default: all = {}, projects = {}, keys = {} } = file.value as Static<typeof FILE>; // checkShape has found no fault
  const quotas = new Map<string, Quota>();
  const retentionDays = new Map<string, number>();
  for (const [name, { retention_days: days, ...quota }] of Object.entries(projects)) {
    if (days !== undefined) retentionDays.set(name, days);
    // A project that has only a retention keeps to the default quota.
    if (Object.keys(quota).length > 0) quotas.set(name, quota);
  }
  return { default: all, projects: quotas, keys: new Map(Object.entries(keys)), retentionDays };
}
