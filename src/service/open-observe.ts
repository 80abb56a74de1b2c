import { isManaged } from '../definitions/source.ts';
import { readEngineVersion, readStoreState } from '../engine/store-state.ts';
import { createStoringWatch, type StoringWatch } from '../ingest/storing-watch.ts';
import { readFreeBytes } from '../lib/file.ts';
import type { Reserve } from '../lib/reserve.ts';
import type { Notice } from '../management/view.ts';
import type { Retention } from '../retention/retention.ts';
import { createStoreSizes } from '../telemetry/store-sizes.ts';
import { readVersion } from '../version.ts';
import type { Core } from './open-core.ts';
import type { RolesReader } from './roles.ts';

interface ObserveOptions {
  readonly dataDir: string;
  readonly reserve: Reserve;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Opens the readings of store and disk for metrics, overview and health. */
export async function observeStore({ engine, registry }: Core, { dataDir, reserve, now }: ObserveOptions) {
  const freeBytes = () => readFreeBytes(dataDir);
  const versions = { version: readVersion(), engine: await readEngineVersion(engine) };
  return {
    storing: createStoringWatch({
      readFreeBytes: freeBytes,
      isSpent: () => engine.seesEveryWrite && reserve.isSpent(), // a server has its own disk
      now,
    }),
    readSizes: createStoreSizes(() => readStoreState(engine, registry.sources), now),
    readFreeBytes: freeBytes,
    sources: () => registry.sources.filter(isManaged),
    build: { ...versions, node: process.version.slice(1) },
  };
}

const BROKEN_ROLES = 'the roles file is not valid, so people who sign in have no access; see the log';

interface NoticeParts {
  readonly retention: Pick<Retention, 'stopped'>;
  readonly storing: StoringWatch;
  readonly alerts: { readonly findProblem: () => string | undefined };
  readonly roles: Pick<RolesReader, 'current'>;
}

/** Returns the problems that an operator has to solve, for `/ready` and the overview. */
export function createNotices({
  retention,
  storing,
  alerts,
  roles,
}: NoticeParts): () => Promise<readonly Notice[]> {
  return async () => {
    const notices: Notice[] = [];
    const problem = await storing.findProblem();
    if (problem !== undefined) notices.push({ topic: 'storing', message: problem });
    const stopped = alerts.findProblem();
    if (stopped !== undefined) notices.push({ topic: 'alerts', message: stopped });
    if (roles.current().isBroken) notices.push({ topic: 'roles', message: BROKEN_ROLES });
    const doubt = retention.stopped();
    if (doubt !== undefined) notices.push({ topic: 'retention', message: doubt });
    return notices;
  };
}
