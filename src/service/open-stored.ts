import type { Basis } from '../cache/incremental.ts';
import { openStoredAnswers, type StoredAnswers } from '../cache/stored/stored-answers.ts';
import { isManaged } from '../definitions/source.ts';
import { readEngineVersion } from '../engine/store-state.ts';
import type { Answer } from '../query/run.ts';
import { readVersion } from '../version.ts';
import type { Parts } from './parts.ts';

const SAVE_EVERY_MS = 20_000;
const CACHE_SHARE = 0.25;

/** Opens the stored answers of the data directory; `undefined` if other processes can write to the store, which no mark would tell. */
export async function openStored(
  { config, core, logger, now }: Parts,
  bases: WeakMap<Answer, Basis>,
): Promise<StoredAnswers | undefined> {
  const { engine, registry, writes } = core;
  if (!engine.seesEveryWrite) return undefined;
  return await openStoredAnswers({
    ...{ dataDir: config.dataDir, engine, writes, bases, now },
    program: `${readVersion()} ${await readEngineVersion(engine)}`,
    bytesMax: config.cacheBytesMax * CACHE_SHARE,
    tables: () => registry.sources.filter(isManaged).map(({ table }) => table),
    onFailure: (error) =>
      logger.warn(
        { err: error },
        'time-buckets.sqlite cannot be used: after a restart, answers are computed whole',
      ),
  });
}

/** Saves at intervals and, once nothing writes to the store any more, for the last time: the engine has to be closed later. */
export function startSaving({ opened, startTask }: Parts, stored: StoredAnswers | undefined): void {
  if (stored === undefined) return;
  opened.defer(stored.close);
  startTask({ name: 'stored-answers', everyMs: SAVE_EVERY_MS, run: stored.save });
}
