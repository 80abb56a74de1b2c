import { Type } from 'typebox';
import { formatFault, refuseFaults } from '../../definitions/fault.ts';
import { createShapeCheck, wholeNumber } from '../../definitions/shape.ts';
import { readYamlFile } from '../../definitions/yaml-file.ts';
import { InputError } from '../../errors.ts';

/** What was stored, or may be stored a day. Bytes are UTF-8, of message, metadata and other members, before compression. */
export interface Amount {
  readonly events: number;
  readonly bytes: number;
}

/** What was asked of the engine, without answers from the cache. */
interface Work {
  readonly queries: number;
  /** See `QueryResult`. */
  readonly coreMs: number;
}

export interface Total extends Amount, Work {}

/** The most that may be stored, or asked of the engine, a day, UTC. An `undefined` member is not limited. */
export interface Quota {
  readonly events?: number;
  readonly bytes?: number;
  readonly queries?: number;
  readonly core_seconds?: number;
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

/** Names what of a quota for events is spent, such as `1,000 events`; `undefined` if nothing is. */
export function findSpent({ events, bytes }: Quota, amount: Amount): string | undefined {
  return describeSpent(events, amount.events, 'events') ?? describeSpent(bytes, amount.bytes, 'bytes');
}

/** As `findSpent`, for queries. */
export function findSpentWork({ queries, core_seconds: seconds }: Quota, work: Work): string | undefined {
  return (
    describeSpent(queries, work.queries, 'queries') ??
    describeSpent(seconds, work.coreMs / 1000, 'core seconds')
  );
}

function describeSpent(most: number | undefined, spent: number, unit: string): string | undefined {
  return most !== undefined && spent >= most ? `${most.toLocaleString('en')} ${unit}` : undefined;
}

/** The projects whose quota is spent. */
export interface SpentProjects {
  readonly names: ReadonlySet<string>;
  /** When quotas begin anew, ISO 8601. */
  readonly until: string;
}

export const NO_TOTAL: Total = { events: 0, bytes: 0, queries: 0, coreMs: 0 };

export function addUp(one: Total, { events, bytes, queries, coreMs }: Total = NO_TOTAL): Total {
  return {
    events: one.events + events,
    bytes: one.bytes + bytes,
    queries: one.queries + queries,
    coreMs: one.coreMs + coreMs,
  };
}

const RETENTION_DAYS_MAX = 36_500;
const EXAMPLE = 'a map, such as { events: 1000000, bytes: 2000000000 }';
const COUNT = wholeNumber(Number.MAX_SAFE_INTEGER);
const MEMBERS = {
  events: Type.Optional(COUNT),
  bytes: Type.Optional(COUNT),
  queries: Type.Optional(COUNT),
  core_seconds: Type.Optional(COUNT),
};
const MAP = { additionalProperties: false, expected: EXAMPLE };
const QUOTA = Type.Object(MEMBERS, MAP);
const OF_PROJECT = Type.Object(
  { ...MEMBERS, retention_days: Type.Optional(wholeNumber(RETENTION_DAYS_MAX)) },
  MAP,
);
const NAMED_MAX = 10_000;
const NAMED = {
  maxProperties: NAMED_MAX,
  expected: `a map of at most ${NAMED_MAX} names, each with ${EXAMPLE}`,
};
const PROJECTS = Type.Record(Type.String(), OF_PROJECT, NAMED);
const KEYS = Type.Record(Type.String(), QUOTA, NAMED);

const checkShape = createShapeCheck(
  Type.Object(
    { default: Type.Optional(QUOTA), projects: Type.Optional(PROJECTS), keys: Type.Optional(KEYS) },
    { additionalProperties: false, expected: 'a map of default, projects and keys' },
  ),
);

interface QuotasFile {
  readonly default?: Quota;
  readonly projects?: Readonly<Record<string, Quota & { readonly retention_days?: number }>>;
  readonly keys?: Readonly<Record<string, Quota>>;
}

/**
 * Reads the file of `TAILRACE_QUOTAS_FILE`.
 *
 * @throws InputError with the line of each fault and what would be right
 */
export async function readQuotas(path: string): Promise<Quotas> {
  const file = await readYamlFile(path);
  if (Array.isArray(file)) throw new InputError(file.map(formatFault));
  if (file.value === null || file.value === undefined) return NO_QUOTAS;
  refuseFaults(checkShape(file));
  const { default: all = {}, projects = {}, keys = {} } = file.value as QuotasFile; // checkShape has found no fault
  const ofProjects = Object.entries(projects);
  const kept = ofProjects.flatMap(([name, { retention_days: days }]) =>
    days === undefined ? [] : [[name, days] as const],
  );
  // A project with a retention alone keeps to the default quota.
  const limited = ofProjects.flatMap(([name, { retention_days: days, ...quota }]) =>
    days !== undefined && Object.keys(quota).length === 0 ? [] : [[name, quota] as const],
  );
  return {
    default: all,
    projects: new Map(limited),
    keys: new Map(Object.entries(keys)),
    retentionDays: new Map(kept),
  };
}
