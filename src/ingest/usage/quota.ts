/** What was stored, or may be stored a day. Bytes are UTF-8, of message, metadata and other members, before compression. */
export interface Amount {
  readonly events: number;
  readonly bytes: number;
}

/** What was asked of the engine, without answers from the cache. */
export interface Work {
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
