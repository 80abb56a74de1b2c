import type { CacheStore } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import { GENERAL_SOURCE } from '../definitions/accepts.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoreSizes } from '../engine/store-state.ts';
import type { Committer } from '../ingest/committer.ts';
import type { RejectedEvents, RejectedLog } from '../ingest/rejected.ts';
import { isListed, isUnrestricted } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { isoTime, isoTimeOrNull } from '../lib/instant.ts';
import { OWNER } from '../query/pins.ts';
import { SEARCH } from '../search/search.ts';
import type { RejectedRequestLog } from '../telemetry/rejected-requests.ts';
import type { Traffic } from '../telemetry/traffic.ts';
import type {
  Notice,
  Overview,
  RejectedEventsView,
  RejectedRequestsView,
  SourceState,
} from './admin-view.ts';
import { visibleEndpoints, visibleSources } from './definitions.ts';
import { createIsKnown, type KeyParts } from './keys.ts';

export interface RejectionParts extends KeyParts {
  readonly registry: Registry;
  readonly rejectedRequests: RejectedRequestLog;
  readonly rejectedEvents: Pick<RejectedLog, 'list'>;
  /** ms since the epoch. */
  readonly startedMs: number;
}

/** What the overview counts and measures. */
export interface OverviewParts {
  readonly config: Pick<Config, 'cacheBytesMax' | 'readers'>;
  readonly registry: Registry;
  readonly engine: Engine;
  readonly traffic: Traffic;
  readonly cache: CacheStore;
  readonly committer: Committer;
  /** Returns why the service is not ready; `undefined` if it is. */
  readonly notReady: () => string | undefined;
  /** Returns problems that an operator has to solve; requests are served meanwhile. */
  readonly readNotices: () => Promise<readonly Notice[]>;
  /** Reads the sizes of the tables; `undefined` if the engine has not responded yet. */
  readonly readSizes: () => Promise<StoreSizes | undefined>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Selects what the key sees: one that is limited to endpoints or sources sees only those. */
export async function readOverview(parts: OverviewParts, caller: Caller): Promise<Overview> {
  const { registry, traffic, config, cache, committer, readNotices, readSizes, now } = parts;
  const [notices, sizes] = await Promise.all([readNotices(), readSizes()]);
  const hour = traffic.read();
  const sources = visibleSources(registry.sources, caller).map(({ name, table }) => {
    const { rows = 0, bytes = 0, oldestMs, newestMs } = sizes?.tables.get(table) ?? {};
    const times = { oldest: isoTimeOrNull(oldestMs), newest: isoTimeOrNull(newestMs) };
    return { name, table, rows, bytes, ...times, ...hour.ofSource(name) };
  });
  return {
    at: isoTime(now()),
    started_at: isoTime(hour.startedMs),
    notices: [...notices],
    window_seconds: hour.windowSeconds,
    endpoints: visibleEndpoints(registry.endpoints, caller).map(({ name, cachingSeconds }) =>
      hour.ofEndpoint(name, cachingSeconds !== undefined),
    ),
    search: caller.endpoints === undefined ? hour.ofEndpoint(SEARCH.name, false) : null,
    sources,
    engine: describeEngine(parts, sizes?.hasFailed === false),
    store: {
      read_at: isoTimeOrNull(sizes?.readMs),
      rows: sum(sources, 'rows'),
      bytes: sum(sources, 'bytes'),
      cache_entries: cache.size,
      cache_bytes: cache.calculatedSize,
      cache_bytes_max: config.cacheBytesMax,
      ingest_queued_bytes: committer.gauges().queuedBytes,
    },
  };
}

/** @param isAnswering whether it responded when the sizes of the tables were last read */
function describeEngine(
  { engine, config, notReady }: OverviewParts,
  isAnswering: boolean,
): Overview['engine'] {
  const reason = notReady();
  const { state, restarts, memoryBytes = null, running, queued } = engine.gauges();
  const isUp = state === 'up';
  return {
    state: isUp && reason !== undefined ? 'stopping' : isUp && isAnswering ? 'ready' : 'unavailable',
    message: reason ?? (isUp && isAnswering ? null : 'the engine does not respond'),
    running,
    queued,
    restarts,
    memory_bytes: memoryBytes,
    readers: config.readers,
  };
}

function sum(states: readonly SourceState[], of: 'rows' | 'bytes'): number {
  return states.reduce((total, state) => total + state[of], 0);
}

/** Lists what was rejected since the start; a limited caller sees only requests of keys that it may know of. */
export async function listRejectedRequests(
  parts: RejectionParts,
  caller: Caller,
): Promise<RejectedRequestsView> {
  const isKnown = await createIsKnown(parts, caller);
  const shown = parts.rejectedRequests.list().filter(({ keyId }) => isKnown(keyId));
  // A message may hold values that another caller has sent.
  const seesValues = isUnrestricted(caller) && caller.scopes.includes('query');
  return {
    since: isoTime(parts.startedMs),
    result: shown.map(({ code, status, reason, method, route, keyId, address, message, ...seen }) => ({
      ...{ code, status, reason: reason ?? null, method, route, key: keyId ?? null, address },
      ...toSeen(seen),
      message: seesValues ? message : null,
    })),
  };
}

/** Lists the events that were rejected since the start, with samples for callers that may read such events. */
export async function listRejectedEvents(parts: RejectionParts, caller: Caller): Promise<RejectedEventsView> {
  const isKnown = await createIsKnown(parts, caller);
  const shown = parts.rejectedEvents.list().filter((kind) => isOfCaller(kind, parts.registry, caller));
  return {
    since: isoTime(parts.startedMs),
    result: shown.map(({ source, pattern, reason, keyId, sample, ...seen }) => ({
      ...{ source, reason: pattern, key: isKnown(keyId) ? keyId : null },
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

function toSeen({ count, firstMs, lastMs }: Pick<RejectedEvents, 'count' | 'firstMs' | 'lastMs'>) {
  return { count, first_at: isoTime(firstMs), last_at: isoTime(lastMs) };
}
