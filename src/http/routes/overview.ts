import type { FastifyInstance } from 'fastify';
import type { Source } from '../../definitions/source.ts';
import type { StoreSizes } from '../../telemetry/store-sizes.ts';
import type { TrafficNow } from '../../telemetry/traffic.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import type { Overview, SourceState } from '../view.ts';
import { visibleEndpoints, visibleSources } from '../visible.ts';

export const OVERVIEW_PATH = '/api/overview';

/**
 * Live numbers, for keys with the scope `manage`: they count the requests of all keys, and the events of all projects. A key
 * that is limited to endpoints or sources sees those alone.
 */
export function overviewRoute(app: FastifyInstance, context: HttpContext): void {
  const { registry, keyring, traffic, config, cache, committer, readNotices, readSizes, now } = context;

  app.get(OVERVIEW_PATH, { onRequest: createAuth(keyring, 'manage') }, async (request): Promise<Overview> => {
    const caller = getCaller(request);
    const [notices, sizes] = await Promise.all([readNotices(), readSizes()]);
    const hour = traffic.read();
    const sources = visibleSources(registry.sources, caller).map((source) =>
      describeSource(source, sizes, hour),
    );
    return {
      at: new Date(now()).toISOString(),
      started_at: new Date(hour.startedMs).toISOString(),
      notices: [...notices],
      window_seconds: hour.windowSeconds,
      endpoints: visibleEndpoints(registry.endpoints, caller).map(({ name, cachingSeconds }) =>
        hour.ofEndpoint(name, cachingSeconds !== undefined),
      ),
      sources,
      engine: describeEngine(context, sizes?.hasFailed === false),
      store: {
        read_at: toTime(sizes?.readMs),
        rows: sum(sources, 'rows'),
        bytes: sum(sources, 'bytes'),
        cache_entries: cache.size,
        cache_bytes: cache.bytes,
        cache_bytes_max: config.cacheBytesMax,
        ingest_queued_bytes: committer.gauges().queuedBytes,
      },
    };
  });
}

/** @param isAnswering whether it answered when the sizes of the tables were last asked for */
function describeEngine(
  { engine, config, notReady }: Pick<HttpContext, 'engine' | 'config' | 'notReady'>,
  isAnswering: boolean,
): Overview['engine'] {
  const reason = notReady();
  const { state, restarts, memoryBytes = null, running, queued } = engine.gauges();
  const isUp = state === 'up';
  return {
    state: isUp && reason !== undefined ? 'stopping' : isUp && isAnswering ? 'ready' : 'unavailable',
    message: reason ?? (isUp && isAnswering ? null : 'the engine does not answer'),
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
    oldest: toTime(oldestMs),
    newest: toTime(newestMs),
    ...hour.ofSource(name),
  };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();
}

function sum(states: readonly SourceState[], of: 'rows' | 'bytes'): number {
  return states.reduce((total, state) => total + state[of], 0);
}
