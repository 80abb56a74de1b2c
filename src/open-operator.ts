import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config/config.ts';
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

/** What the commands of the shell and the management API do to the store. */
export async function openOperatorSide(
  { config, store, logger, now }: OperatorParts,
  control: ControlStore,
): Promise<{ deletions: Deletions; close: () => Promise<void> }> {
  const { engine, registry, followDeletions } = store;
  const how = { now, newId: randomUUID, wait: unheld };
  const deletions = createDeletions({ store, control, ...how });
  const folders = () => store.folders;
  const commands = createCommands({ config, folders, engine, registry, deletions, ...how });
  const onError = (error: unknown) => logger.error({ err: error }, 'a command of the shell failed');
  let local: LocalServer | undefined;
  try {
    if (engine.seesEveryWrite) await removeLeftSnapshots(config.dataDir);
    local = await openLocalServer({ dataDir: config.dataDir, handlers: commands, onError });
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
  return {
    deletions,
    async close() {
      clearInterval(following);
      await local?.close();
    },
  };
}

/** Does not keep the process from ending. */
async function unheld(ms: number): Promise<void> {
  await wait(ms, undefined, { ref: false });
}
