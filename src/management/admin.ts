import { GENERAL_SOURCE } from '../definitions/accepts.ts';
import type { Registry } from '../definitions/registry.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { parseRows } from '../engine/read-settings.ts';
import type { RejectedEvents, RejectedLog } from '../ingest/rejected.ts';
import { isListed, isUnrestricted } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { OWNER } from '../query/pins.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import type { RejectedRequestLog } from '../telemetry/rejected-requests.ts';
import type { RejectedEventsView, RejectedRequestsView, USAGE_BY, UsageView } from './admin-view.ts';
import { type KeyParts, readReachableKeys } from './keys.ts';

export interface RejectionParts extends KeyParts {
  readonly registry: Registry;
  readonly rejectedRequests: Pick<RejectedRequestLog, 'list'>;
  readonly rejectedEvents: Pick<RejectedLog, 'list'>;
  /** ms since the epoch. */
  readonly startedMs: number;
}

/** Lists what was rejected since the start; a limited caller sees only requests of keys that it may know of. */
export async function listRejectedRequests(
  parts: RejectionParts,
  caller: Caller,
): Promise<RejectedRequestsView> {
  const seesAll = isUnrestricted(caller);
  const keys = seesAll ? undefined : await readReachableKeys(parts, caller);
  const shown = parts.rejectedRequests
    .list()
    .filter(({ keyId }) => keys === undefined || (keyId !== undefined && keys.has(keyId)));
  // A message may hold values that another caller has sent.
  const seesValues = seesAll && caller.scopes.includes('query');
  return {
    since: toTime(parts.startedMs),
    result: shown.map(({ code, status, refusal, method, route, keyId, address, message, ...seen }) => ({
      ...{ code, status, reason: refusal ?? null, method, route, key: keyId ?? null, address },
      ...toSeen(seen),
      message: seesValues ? message : null,
    })),
  };
}

/** Lists the events that were rejected since the start, with samples for callers that may read such events. */
export async function listRejectedEvents(parts: RejectionParts, caller: Caller): Promise<RejectedEventsView> {
  const keys = isUnrestricted(caller) ? undefined : await readReachableKeys(parts, caller);
  const shown = parts.rejectedEvents.list().filter((kind) => isOfCaller(kind, parts.registry, caller));
  return {
    since: toTime(parts.startedMs),
    result: shown.map(({ source, pattern, reason, keyId, sample, ...seen }) => ({
      ...{ source, reason: pattern, key: keys === undefined || keys.has(keyId) ? keyId : null },
      ...toSeen(seen),
      last: maySearch(caller) ? { reason, event: sample ?? null } : null,
    })),
  };
}

/**
 * Whether events may be of a source and project that the caller reads. Only the sender's pin says of which project
 * rejected events are.
 */
function isOfCaller(
  { source: name, pinnedProject }: RejectedEvents,
  registry: Registry,
  { sources, pins }: Caller,
): boolean {
  const source = registry.findSource(name === '' ? GENERAL_SOURCE : name);
  const isOfSources = sources === undefined || (source !== undefined && isListed(sources, source));
  const isPinned = Object.keys(pins).length > 0;
  return isOfSources && (!isPinned || (pinnedProject !== undefined && pinnedProject === pins[OWNER]));
}

/** As /api/search: keys that are limited to endpoints read no events but by those. */
function maySearch({ scopes, endpoints }: Caller): boolean {
  return scopes.includes('query') && endpoints === undefined;
}

const toTime = (ms: number): string => new Date(ms).toISOString();

function toSeen({ count, firstMs, lastMs }: Pick<RejectedEvents, 'count' | 'firstMs' | 'lastMs'>) {
  return { count, first_at: toTime(firstMs), last_at: toTime(lastMs) };
}

export interface UsageParts extends KeyParts {
  readonly engine: Engine;
  readonly registry: Registry;
}

export interface UsageRequest {
  readonly by: (typeof USAGE_BY)[number];
  /** The present day included. */
  readonly days: number;
}

/** The source in which the service writes down what was stored. */
export const USAGE_SOURCE = 'tailrace.usage';

const ROWS_MAX = 1_000;
const DAY_MS = 86_400_000;
const LANE = 'usage';

/**
 * Returns what was stored and asked, by project, key or source: of the projects, sources and keys that the caller may
 * know of.
 */
export async function readUsage(
  parts: UsageParts,
  caller: Caller,
  request: UsageRequest,
): Promise<UsageView> {
  const rows = await readAmounts(parts, caller, request);
  if (request.by !== 'key') return { result: rows.map((row) => ({ ...row, name: null })) };
  const names = await readReachableKeys(parts, caller);
  const shown = isUnrestricted(caller) ? rows : rows.filter(({ value }) => names.has(value));
  return { result: shown.map((row) => ({ ...row, name: names.get(row.value) ?? null })) };
}

type Amounts = Omit<UsageView['result'][number], 'name'>;

async function readAmounts(
  { engine, registry, now }: UsageParts,
  { pins, sources }: Caller,
  { by, days }: UsageRequest,
): Promise<Amounts[]> {
  const usage = registry.findSource(USAGE_SOURCE);
  if (usage === undefined || !isManaged(usage)) return [];
  const firstDay = Math.floor(now() / DAY_MS) - days + 1;
  const day = sql`intDiv(toUnixTimestamp(timestamp), 86400)`;
  const conditions = [
    sql`timestamp >= fromUnixTimestamp64Milli(${firstDay * DAY_MS}, 'UTC')`,
    ...(pins[OWNER] === undefined ? [] : [sql`project = ${pins[OWNER]}`]),
    ...(sources === undefined
      ? []
      : [sql`u.source != '' AND u.source IN (${['', ...namesOf(registry, sources)]})`]),
    ...(by === 'source' ? [sql`u.source != ''`] : []), // that of queries
  ];
  const statement = sql`SELECT ${identifier(by)} AS value,
      toFloat64(sum(u.events)) AS events, toFloat64(sum(u.bytes)) AS bytes,
      toFloat64(ifNull(sum(u.queries), 0)) AS queries, ifNull(sum(u.core_ms), 0) / 1000 AS core_seconds,
      CAST(sumMap([toString(${day} - ${firstDay})], [toFloat64(u.events)]), 'Map(String, Float64)') AS days
    FROM ${identifier(usage.table)} AS u WHERE ${join(conditions, ' AND ')}
    GROUP BY value ORDER BY bytes DESC, core_seconds DESC, value LIMIT ${ROWS_MAX}`;
  const { bytes } = await engine.query(statement.text, {}, { format: 'JSONEachRow', lane: LANE });
  return parseRows(bytes).map((row) => toAmounts(row, days));
}

function namesOf(registry: Registry, listed: readonly string[]): string[] {
  return registry.sources.filter((source: Source) => isListed(listed, source)).map(({ name }) => name);
}

function toAmounts(row: Readonly<Record<string, unknown>>, days: number): Amounts {
  const found = row['days'] as Readonly<Record<string, number>>; // the map of the SELECT
  return {
    value: String(row['value']),
    events: Number(row['events']),
    bytes: Number(row['bytes']),
    days: Array.from({ length: days }, (_, i) => Math.max(0, found[i] ?? 0)),
    queries: Number(row['queries']),
    core_seconds: Number(row['core_seconds']),
  };
}
