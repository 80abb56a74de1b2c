import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type AlertTest, type TestCommandOptions, testAlert } from '../alerts/test-command.ts';
import type { StoredAnswers } from '../cache/stored/stored-answers.ts';
import type { Committer } from '../ingest/committer.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { removeLeftSnapshots } from '../maintenance/backup/snapshot.ts';
import { createDeletions, type Deletions, FOLLOW_EVERY_MS } from '../maintenance/deletion/deletions.ts';
import { createCommands, type ProcessActions } from '../maintenance/socket/commands.ts';
import { COMMANDS } from '../maintenance/socket/protocol.ts';
import { type Handler, openLocalServer } from '../maintenance/socket/server.ts';
import type { Core } from './open-core.ts';
import type { Parts } from './parts.ts';

/** Deletions of events, for the management API and the commands of the shell. */
export function createServiceDeletions(
  { core, now }: Parts,
  { committer, control, stored }: DeletionParts,
): Deletions {
  const { engine, registry } = core;
  const eventsDeleted: Core['eventsDeleted'] = async (sources, nowMs) => {
    stored?.clear();
    await core.eventsDeleted(sources, nowMs);
  };
  return createDeletions({
    core: { engine, registry, eventsDeleted },
    ...{ control, holdInserts: committer.hold, now, newId: randomUUID, wait },
  });
}

interface DeletionParts {
  readonly committer: Committer;
  readonly control: ControlStore;
  readonly stored: StoredAnswers | undefined;
}

interface OperatorSide {
  readonly deletions: Deletions;
  readonly actions: ProcessActions | undefined;
  readonly alerts: TestCommandOptions;
}

/** Serves the commands of the shell, and follows the deletions of other processes. */
export async function openOperatorSide(
  { config, core, logger, startTask, opened }: Parts,
  { deletions, actions, alerts }: OperatorSide,
): Promise<void> {
  const { engine, registry, followDeletions } = core;
  const folders = () => core.folders;
  const commands = createCommands({
    ...{ config, folders, engine, registry, deletions, actions, newId: randomUUID, wait },
  });
  const test: Handler = (body, { signal }) => testAlert(alerts, body as AlertTest, signal); // sent by tailrace alerts test
  const handlers = { ...commands, [COMMANDS.testAlert]: test };
  const onError = (error: unknown) => logger.error({ err: error }, 'a command of the shell failed');
  try {
    if (engine.seesEveryWrite) await removeLeftSnapshots(config.dataDir);
    const local = await openLocalServer({ dataDir: config.dataDir, handlers, onError });
    opened.defer(() => local?.close());
  } catch (error) {
    logger.warn(
      { err: error },
      'no socket in the data directory: tailrace backup, delete, reload and stop cannot reach this service; signals do',
    );
  }
  // On a server other processes delete events, too.
  if (!engine.seesEveryWrite)
    startTask({ name: 'deletions', everyMs: FOLLOW_EVERY_MS, run: followDeletions });
}

/** Does not keep the process from ending. */
async function wait(ms: number): Promise<void> {
  await delay(ms, undefined, { ref: false });
}
