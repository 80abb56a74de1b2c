import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config/config.ts';
import type { Committer } from './ingest/committer.ts';
import type { ControlStore } from './keys/control-store.ts';
import { removeLeftSnapshots } from './maintenance/backup/snapshot.ts';
import { createDeletions, type Deletions, FOLLOW_EVERY_MS } from './maintenance/deletion/deletions.ts';
import { createCommands } from './maintenance/socket/commands.ts';
import { type LocalServer, openLocalServer } from './maintenance/socket/server.ts';
import type { Store } from './open-store.ts';

interface OperatorParts {
  readonly config: Config;
  readonly store: Store;
  readonly logger: FastifyBaseLogger;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Deletions of events, for the management API and the commands of the shell. */
export function createServiceDeletions(
  { store, now, committer }: Pick<OperatorParts, 'store' | 'now'> & { readonly committer: Committer },
  control: ControlStore,
): Deletions {
  return createDeletions({ store, control, holdInserts: committer.hold, now, newId: randomUUID, wait });
}

/** Serves the commands of the shell, and follows the deletions of other processes. @returns closes it */
export async function openOperatorSide(
  { config, store, logger }: Omit<OperatorParts, 'now'>,
  deletions: Deletions,
): Promise<() => Promise<void>> {
  const { engine, registry, followDeletions } = store;
  const folders = () => store.folders;
  const handlers = createCommands({ config, folders, engine, registry, deletions, newId: randomUUID, wait });
  const onError = (error: unknown) => logger.error({ err: error }, 'a command of the shell failed');
  let local: LocalServer | undefined;
  try {
    if (engine.seesEveryWrite) await removeLeftSnapshots(config.dataDir);
    local = await openLocalServer({ dataDir: config.dataDir, handlers, onError });
  } catch (error) {
    logger.warn(
      { err: error },
      'no socket in the data directory: "tailrace backup" and "tailrace delete" cannot reach this service',
    );
  }
  // On a server other processes delete events, too. While it does not answer there is nothing to follow.
  const following = engine.seesEveryWrite
    ? undefined
    : setInterval(() => void followDeletions().catch(() => {}), FOLLOW_EVERY_MS);
  following?.unref(); // a service that cannot start for another reason ends
  return async () => {
    clearInterval(following);
    await local?.close();
  };
}

/** Does not keep the process from ending. */
async function wait(ms: number): Promise<void> {
  await delay(ms, undefined, { ref: false });
}
