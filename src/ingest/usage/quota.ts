import { type Static, Type } from 'typebox';
import { createShapeCheck } from '../../definitions/shape.ts';
import { readOperatorFile } from '../../definitions/yaml-file.ts';
import { formatFault, InputError, rejectFaults } from '../../errors.ts';
import { wholeNumber } from '../../lib/schema.ts';

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

export const NO_TOTAL: Total = { events: 0, bytes: 0, queries: 0, coreMs: 0 };

export function addUp(one: Total, { events, bytes, queries, coreMs }: Total = NO_TOTAL): Total {
  const stored = { events: one.events + events, bytes: one.bytes + bytes };
  return { ...stored, queries: one.queries + queries, coreMs: one.coreMs + coreMs };
}

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

/** Names what of a quota for events, or for queries, is spent, such as `1,000 events`; `undefined` if nothing is. */
export function findSpent(quota: Quota, total: Total, of: 'events' | 'queries'): string | undefined {
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

/** The quotas of the operator's file. */
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
  if (Array.isArray(file)) throw new InputError(file.map(formatFault));
  if (file.value === null || file.value === undefined) return NO_QUOTAS;
  rejectFaults(checkShape(file));
  const { default: all = {}, projects = {}, keys = {} } = file.value as Static<typeof FILE>; // checkShape has found no fault
  const ofProjects = Object.entries(projects);
  return {
    default: all,
    // A project with a retention alone keeps to the default quota.
    projects: new Map(
      ofProjects.filter(([, { retention_days: _, ...quota }]) => Object.keys(quota).length > 0),
    ),
    keys: new Map(Object.entries(keys)),
    retentionDays: new Map(
      ofProjects.flatMap(([name, { retention_days: days }]) => (days === undefined ? [] : [[name, days]])),
    ),
  };
}
