import type { Config } from './config/config.ts';
import { isManaged } from './definitions/source.ts';
import { readEngineVersion, readStoreState } from './engine/store-state.ts';
import type { SourceSize, StoreGauges } from './http/metrics.ts';
import { createStoreSizes } from './http/store-sizes.ts';
import type { Notice } from './http/view.ts';
import { createStoringWatch, type StoringWatch } from './ingest/storing-watch.ts';
import { readFreeBytes } from './lib/free-disk.ts';
import type { Store } from './open-store.ts';
import type { RetentionSchedule } from './retention/schedule.ts';
import { readVersion } from './version.ts';

/** What the metrics and the health of a service say about its store and the disk below it. @param now ms since the epoch */
export async function observeStore(
  store: Store,
  { dataDir }: Config,
  now: () => number,
): Promise<{ storing: StoringWatch; gauges: StoreGauges }> {
  const freeBytes = () => readFreeBytes(dataDir);
  const engine = await readEngineVersion(store.engine);
  return {
    storing: createStoringWatch({ readFreeBytes: freeBytes, now }),
    gauges: {
      readSources: createSourceSizes(store, now),
      readFreeBytes: freeBytes,
      build: { version: readVersion(), engine, node: process.version.slice(1) },
    },
  };
}

function createSourceSizes({ engine, registry }: Store, now: () => number) {
  const managed = () => registry.sources.filter(isManaged);
  const read = createStoreSizes({ read: () => readStoreState(engine, managed()), now });
  return async (): Promise<SourceSize[]> => {
    const state = await read();
    if (state === undefined) return [];
    return managed().map(({ name, table }) => {
      const { rows = 0, bytes = 0 } = state.get(table) ?? {};
      return { source: name, rows, bytes };
    });
  };
}

/** What an operator has to see to, for `/ready` and the overview. */
export function createNotices(
  retention: RetentionSchedule,
  storing: StoringWatch,
): () => Promise<readonly Notice[]> {
  return async () => {
    const notices: Notice[] = [];
    const problem = await storing.findProblem();
    if (problem !== undefined) notices.push({ topic: 'storing', message: problem });
    const found = retention.notice();
    if (found !== undefined)
      notices.push({ topic: found.stopped.length > 0 ? 'retention' : 'clock', message: found.message });
    return notices;
  };
}
