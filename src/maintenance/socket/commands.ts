import { resolve } from 'node:path';
import type { NamedFolders } from '../../definitions/folders.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Engine } from '../../engine/engine.ts';
import { InputError } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import { createSnapshot, removeSnapshot } from '../backup/snapshot.ts';
import { type Deletion, type DeletionRequest, parseDeletion } from '../deletion-request.ts';
import type { Deletions, SourceRows } from '../deletions.ts';
import { COMMANDS } from './protocol.ts';
import type { Handler } from './server.ts';

/** The result of `describe`. */
export interface ServiceDescription {
  /** Absolute paths of the folders of the definitions. */
  readonly endpointsDir: string;
  readonly sourcesDir: string;
  /** `undefined`: there are no alerts. */
  readonly alertsDir?: string;
  /** `undefined`: there are no dashboards. */
  readonly dashboardsDir?: string;
  /** Whether its keys are in the data directory. */
  readonly hasKeys: boolean;
  /** Such as http://127.0.0.1:4000; `undefined` until it listens. */
  readonly address?: string | undefined;
}

/** An operator's commands to the process itself. */
export interface ProcessActions {
  /** Reloads the definitions. Never rejects. @returns the result, including faults */
  readonly reload: () => Promise<unknown>;
  /** Begins to stop the service. */
  readonly stop: () => void;
  readonly address: () => string | undefined;
}

export interface CommandOptions {
  readonly config: { readonly dataDir: string; readonly controlUrl: string };
  /** The folders of the last read of the definitions. */
  readonly folders: () => NamedFolders;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly deletions: Deletions;
  /** Commands to the process; without them it cannot be asked to reload or stop. */
  readonly actions?: ProcessActions | undefined;
  readonly newId: () => string;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
}

const PROGRESS_EVERY_MS = 250;

/** Creates the handlers of all commands, by path. */
export function createCommands(options: CommandOptions): Readonly<Record<string, Handler>> {
  return {
    [COMMANDS.describe]: async (): Promise<ServiceDescription> => ({
      ...resolveFolders(options.folders()),
      hasKeys: options.config.controlUrl === '',
      address: options.actions?.address(),
    }),
    [COMMANDS.snapshot]: createSnapshotCommand(options),
    [COMMANDS.count]: async (body, { signal }) =>
      await untilAborted(options.deletions.count(parse(options.registry, body)), signal),
    [COMMANDS.delete]: createDeleteCommand(options),
    ...(options.actions && createProcessCommands(options.actions)),
  };
}

function resolveFolders({ endpointsDir, sourcesDir, alertsDir, dashboardsDir }: NamedFolders) {
  return {
    endpointsDir: resolve(endpointsDir),
    sourcesDir: resolve(sourcesDir),
    ...(alertsDir !== undefined && { alertsDir: resolve(alertsDir) }),
    ...(dashboardsDir !== undefined && { dashboardsDir: resolve(dashboardsDir) }),
  };
}

function createProcessCommands({ reload, stop }: ProcessActions): Readonly<Record<string, Handler>> {
  return {
    [COMMANDS.reload]: (_body, { signal }) => untilAborted(reload(), signal),
    [COMMANDS.stop]: async () => {
      setImmediate(stop); // once the response is sent
      return process.pid;
    },
  };
}

/** Creates a snapshot and keeps it as long as the client is connected. */
function createSnapshotCommand({ config, engine, newId }: CommandOptions): Handler {
  return async (_body, { send, signal }) => {
    if (!engine.seesEveryWrite)
      throw new InputError([
        'the events of this service are on a ClickHouse server; back them up with the means of ClickHouse',
      ]);
    const id = newId();
    try {
      send({ progress: await createSnapshot(engine, id) });
      if (!signal.aborted)
        await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    } finally {
      await removeSnapshot(config.dataDir, id);
    }
    throw new InputError(['the service stopped; run the command again']);
  };
}

function createDeleteCommand({ registry, deletions, wait }: CommandOptions): Handler {
  return async (body, { send, signal }): Promise<readonly SourceRows[]> => {
    // The engine may hang; a service that stops does not wait for it.
    const job = await untilAborted(deletions.start(parse(registry, body), { actor: 'cli' }), signal);
    let isOver = false;
    const report = async () => {
      while (!isOver && !signal.aborted) {
        send({ progress: job.progress ?? null });
        await wait(PROGRESS_EVERY_MS);
      }
    };
    const reporting = report();
    // The deletion continues if the client hangs up.
    await untilAborted(job.done, signal).finally(() => {
      isOver = true;
    });
    await reporting;
    return job.counted;
  };
}

/** @throws InputError with every fault, under the names of the options of `tailrace delete` */
function parse(registry: Registry, body: unknown): Deletion {
  const deletion = parseDeletion(registry, body as DeletionRequest); // sent by `tailrace delete`, which checks its options
  if (Array.isArray(deletion))
    throw new InputError(deletion.map(({ parameter, message }) => `--${parameter} ${message}`));
  return deletion;
}
