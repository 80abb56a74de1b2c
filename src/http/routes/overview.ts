import type { Source } from '../../definitions/source.ts';
import type { StoreSizes } from '../../engine/store-state.ts';
import type { Caller } from '../../keys/keyring.ts';
import { isoTime, isoTimeOrNull } from '../../lib/instant.ts';
import { listRejectedEvents, listRejectedRequests } from '../../management/admin.ts';
import {
  OVERVIEW,
  type Overview,
  REJECTED_EVENTS,
  REJECTED_REQUESTS,
  type SourceState,
} from '../../management/admin-view.ts';
import { visibleEndpoints, visibleSources } from '../../management/definitions.ts';
import { SEARCH } from '../../search/search.ts';
import type { TrafficNow } from '../../telemetry/traffic.ts';
import type { AppParts } from '../parts.ts';
import { defineGroup, json, operation } from '../route.ts';

/**
 * Serves live numbers, for keys with the scope `manage`: they count the requests of all keys, and the events of all
 * projects.
 */
export const overviewRoutes = defineGroup({
  tag: 'console',
  routes: [
    operation('get_overview', 'GET /api/overview', ['manage'], {
      summary: 'Live numbers of endpoints, sources, engine and store',
      answer: { 200: json('The present state.', OVERVIEW) },
      call: readOverview,
    }),
  ],
});

/** Selects what the key sees: one that is limited to endpoints or sources sees only those. */
async function readOverview(parts: AppParts, caller: Caller): Promise<Overview> {
  const { registry, traffic, config, cache, committer, readNotices, readSizes, now } = parts;
  const [notices, sizes] = await Promise.all([readNotices(), readSizes()]);
  const hour = traffic.read();
  const sources = visibleSources(registry.sources, caller).map((source) =>
    describeSource(source, sizes, hour),
  );
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
  { engine, config, notReady }: Pick<AppParts, 'engine' | 'config' | 'notReady'>,
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

function describeSource(
  { name, table }: Source,
  sizes: StoreSizes | undefined,
  hour: TrafficNow,
): SourceState {
  const { rows = 0, bytes = 0, oldestMs, newestMs } = sizes?.tables.get(table) ?? {};
  return {
    name,
    table,
    rows,
    bytes,
    oldest: isoTimeOrNull(oldestMs),
    newest: isoTimeOrNull(newestMs),
    ...hour.ofSource(name),
  };
}

function sum(states: readonly SourceState[], of: 'rows' | 'bytes'): number {
  return states.reduce((total, state) => total + state[of], 0);
}

/** Serves what an operator looks after. Limited keys see only what belongs to their projects, sources and keys. */
export const adminRoutes = defineGroup({
  tag: 'console',
  routes: [
    operation('list_rejected_requests', 'GET /api/rejected-requests', ['manage'], {
      summary: 'Requests that were rejected since the start, with their addresses',
      answer: { 200: json('At most 200 kinds of each code.', REJECTED_REQUESTS) },
      call: listRejectedRequests,
    }),
    operation('list_rejected_events', 'GET /api/rejected-events', ['manage'], {
      summary: 'Events that were rejected since the start, with samples',
      answer: { 200: json('At most 500 kinds.', REJECTED_EVENTS) },
      call: listRejectedEvents,
    }),
  ],
});
