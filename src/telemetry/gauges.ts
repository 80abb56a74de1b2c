import type { CacheStore } from '../cache/store.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoreSizes, TableState } from '../engine/store-state.ts';
import type { Committer } from '../ingest/committer.ts';
import type { StoringWatch } from '../ingest/storing-watch.ts';
import type { ControlStore } from '../keys/control-store.ts';
import type { MetricRegistry } from './prometheus.ts';

/** The parts of the service with a state that a scrape reads. */
export interface GaugedParts {
  readonly engine: Pick<Engine, 'gauges'>;
  readonly cache: CacheStore;
  readonly control: Pick<ControlStore, 'isUp'>;
  readonly tails: { readonly count: number };
  readonly committer: Pick<Committer, 'gauges'>;
  readonly backpressure: { readonly waitMs: number };
  /** The managed sources. */
  readonly sources: () => readonly Source[];
  /** Events that are not in their source's rollup yet, by source. */
  readonly rollupRowsLeft: () => ReadonlyMap<string, number>;
  readonly readSizes: () => Promise<StoreSizes | undefined>;
  /** Whether events can be stored. */
  readonly storing: Pick<StoringWatch, 'findProblem'>;
  /** Reads the free bytes on the disk of the data directory; `undefined` if unknown. */
  readonly readFreeBytes: () => Promise<number | undefined>;
  /** Versions of Tailrace, ClickHouse and Node. */
  readonly build: { readonly version: string; readonly engine: string; readonly node: string };
}

/** Exposes the state of the parts; docs/metrics.md lists each gauge. */
export function registerGauges(registry: MetricRegistry, parts: GaugedParts): void {
  const { gauge, expose } = registry;
  const { engine, cache, control, committer, backpressure, tails, build } = parts;
  gauge('tailrace_engine_up', '1 if the engine can be reached.', () =>
    Number(engine.gauges().state === 'up'),
  );
  expose({
    name: 'tailrace_engine_restarts_total',
    help: 'Restarts of the engine process.',
    type: 'counter',
    read: () => [{ labels: {}, value: engine.gauges().restarts }],
  });
  gauge(
    'tailrace_engine_memory_bytes',
    'Resident memory of the engine process.',
    () => engine.gauges().memoryBytes ?? 0,
  );
  gauge('tailrace_engine_running', 'Queries running in the engine.', () => engine.gauges().running);
  gauge('tailrace_engine_queued', 'Queries waiting for the engine.', () => engine.gauges().queued);
  gauge('tailrace_cache_entries', 'Answers in the cache.', () => cache.size);
  gauge('tailrace_cache_bytes', 'Bytes in the cache.', () => cache.calculatedSize);
  gauge('tailrace_tails_open', 'Live tails.', () => tails.count);
  gauge('tailrace_control_store_up', '1 if the store of keys can be reached.', () => Number(control.isUp()));
  gauge('tailrace_ingest_queued_bytes', 'Events waiting to be stored.', () => committer.gauges().queuedBytes);
  gauge(
    'tailrace_ingest_queued_requests',
    'Requests waiting for a commit.',
    () => committer.gauges().queuedRequests,
  );
  gauge('tailrace_ingest_wait_seconds', 'Estimated wait of events.', () => backpressure.waitMs / 1000);
  gauge('tailrace_storing', '0 if the disk is full.', async () =>
    Number((await parts.storing.findProblem()) === undefined),
  );
  const ofSources = (read: (state: TableState) => number) => async () => {
    const sizes = await parts.readSizes();
    if (sizes === undefined) return undefined;
    return parts.sources().map(({ name, table }) => {
      const state = sizes.tables.get(table);
      return { labels: { source: name }, value: state === undefined ? 0 : read(state) };
    });
  };
  gauge(
    'tailrace_stored_rows',
    'Events stored, by source.',
    ofSources(({ rows }) => rows),
  );
  gauge(
    'tailrace_stored_bytes',
    'Bytes on disk, by source.',
    ofSources(({ bytes }) => bytes),
  );
  gauge('tailrace_rollup_rows_left', 'Events not yet in a new rollup, by source.', () =>
    [...parts.rollupRowsLeft()].map(([source, value]) => ({ labels: { source }, value })),
  );
  gauge('tailrace_disk_free_bytes', 'Free bytes of the data directory’s disk.', parts.readFreeBytes);
  gauge('tailrace_build_info', 'Always 1; labels: version, engine, node.', () => [
    { labels: build, value: 1 },
  ]);
}
