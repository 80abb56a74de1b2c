import type { CacheStore } from '../../cache/store.ts';
import type { Config } from '../../config/config.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import type { Engine } from '../../engine/engine.ts';
import { readStoreState, type StoreState } from '../../engine/store-state.ts';
import type { Committer } from '../../ingest/committer.ts';
import type { Caller } from '../../keys/keyring.ts';
import { createRefreshingValue, type TimedValue } from '../../lib/refreshing-value.ts';
import { visibleEndpoints, visibleSources } from '../../management/definitions.ts';
import { type Notice, OVERVIEW, type Overview, type SourceState } from '../../management/view.ts';
import { type Metrics, WITHOUT_PROJECT } from '../metrics.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';
import type { Traffic, TrafficNow } from '../traffic.ts';

const STATE_AGE_MS = 5_000;
// A closing or busy engine must not hold the page up: it then shows the rest.
const STATE_WAIT_MS = 1_000;

export interface OverviewOptions {
  readonly config: Pick<Config, 'cacheBytesMax' | 'readers'>;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly traffic: Traffic;
  readonly metrics: Metrics;
  readonly cache: CacheStore;
  readonly committer: Committer;
  readonly readNotices: () => Promise<readonly Notice[]>;
  readonly notReady: () => string | undefined;
  /** ms since the epoch. */
  readonly now: () => number;
}

type ReadOverview = (caller: Caller) => Promise<Overview>;

/** Live numbers, for keys with the scope `manage`: they count the requests of all keys, and the events of all projects. */
export const overviewRoutes: RouteGroup<{ readonly readOverview: ReadOverview }> = {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/overview',
      scopes: ['manage'],
      summary: 'Live numbers of endpoints, sources, engine and store',
      operation: { id: 'get_overview', tag: 'console' },
      answer: { 200: json('As it is now.', OVERVIEW) },
      handle: ({ readOverview }: { readonly readOverview: ReadOverview }, request) =>
        readOverview(getCaller(request)),
    }),
  ],
};

/** @returns reads the numbers; a key that is limited to endpoints or sources sees those alone */
export function createOverview(options: OverviewOptions): ReadOverview {
  const { engine, registry, traffic, metrics, config, cache, committer, readNotices, now } = options;
  const state = createRefreshingValue(() => readStoreState(engine, registry.sources), {
    maxAgeMs: STATE_AGE_MS,
    now,
  });

  async function readOverview(caller: Caller): Promise<Overview> {
    const [counts, unowned, known, notices] = await Promise.all([
      traffic.read(),
      readUnowned(),
      readInTime(),
      readNotices(),
    ]);
    const sources = visibleSources(registry.sources, caller).map((source) =>
      toSourceState(source, known?.value, { counts, withoutProject: unowned.get(source.name) ?? 0 }),
    );
    const isAnswering = known !== undefined && known.failure === undefined;
    return {
      at: new Date(now()).toISOString(),
      started_at: new Date(counts.startedMs).toISOString(),
      notices: [...notices],
      window_seconds: counts.windowSeconds,
      endpoints: visibleEndpoints(registry.endpoints, caller).map(({ name, cachingSeconds }) =>
        counts.ofEndpoint(name, cachingSeconds !== undefined),
      ),
      sources,
      engine: describeEngine(options, isAnswering),
      store: {
        read_at: known === undefined ? null : new Date(known.readMs).toISOString(),
        rows: sum(sources, 'rows'),
        bytes: sum(sources, 'bytes'),
        cache_entries: cache.size,
        cache_bytes: cache.bytes,
        cache_bytes_max: config.cacheBytesMax,
        ingest_queued_bytes: committer.gauges().queuedBytes,
      },
    };
  }

  /** Source → events without a project since the start. */
  async function readUnowned(): Promise<ReadonlyMap<string, number>> {
    const series = await metrics.read(WITHOUT_PROJECT);
    return new Map(series.map(({ labels, value }) => [String(labels['source']), value]));
  }

  /** `undefined` where the engine has not said it, or not in time. */
  async function readInTime(): Promise<TimedValue<StoreState> | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), STATE_WAIT_MS);
    });
    try {
      return await Promise.race([state.get().catch(() => undefined), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return readOverview;
}

/** @param isAnswering whether it has just answered what the store holds */
function describeEngine(
  { engine, config, notReady }: Pick<OverviewOptions, 'engine' | 'config' | 'notReady'>,
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

function toSourceState(
  { name, table }: Source,
  state: StoreState | undefined,
  { counts, withoutProject }: { counts: TrafficNow; withoutProject: number },
): SourceState {
  const { rows = 0, bytes = 0, oldestMs, newestMs } = state?.get(table) ?? {};
  const { eventsPerSecond, minutes } = counts.ofSource(name);
  return {
    name,
    table,
    rows,
    bytes,
    oldest: toTime(oldestMs),
    newest: toTime(newestMs),
    events_per_second: eventsPerSecond,
    without_project: withoutProject,
    minutes,
  };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();
}

function sum(states: readonly SourceState[], of: 'rows' | 'bytes'): number {
  return states.reduce((total, state) => total + state[of], 0);
}
