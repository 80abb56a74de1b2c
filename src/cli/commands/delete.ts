import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import Table from 'cli-table3';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { openControlStore } from '../../keys/control-store.ts';
import { untilAborted } from '../../lib/abort.ts';
import type { SourceRows } from '../../maintenance/deletion/delete-events.ts';
import { createDeletions } from '../../maintenance/deletion/deletions.ts';
import type { DeletionRequest } from '../../maintenance/deletion/request.ts';
import { askService } from '../../maintenance/socket/client.ts';
import { createCommands, type DeletionProgress } from '../../maintenance/socket/commands.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { openStore } from '../../open-store.ts';
import { confirm } from '../confirm.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { createProgress } from '../progress.ts';

export function deleteCommand(): Command {
  return new Command('delete')
    .description(
      'Delete the events of a project for good, from disk and caches, beside a running service or without one.',
    )
    .requiredOption('--project <name>', "the project; '' selects events without one")
    .option('--source <name>', 'only events of this source')
    .option('--before <time>', 'only events with an earlier timestamp, such as 2026-11-20T07:00:00Z')
    .option('--dry-run', 'print their number only')
    .option('--yes', 'do not ask; required without a terminal')
    .action(run);
}

interface Options extends DeletionRequest {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Who deletes: the service that owns the store, or this process. */
interface Deleter {
  count(request: DeletionRequest): Promise<readonly SourceRows[]>;
  delete(
    request: DeletionRequest,
    onProgress: (progress: DeletionProgress | null) => void,
  ): Promise<readonly SourceRows[]>;
  close(): Promise<void>;
}

async function run({ project, source, before, ...options }: Options): Promise<void> {
  const request: DeletionRequest = { project, source, before };
  const stop = stopSignal();
  const deleter = await openDeleter(readConfig(), stop);
  try {
    const counted = await deleter.count(request);
    print(counted);
    const rows = sumRows(counted);
    if (options.dryRun === true)
      return void process.stdout.write(`${describe(rows)}; nothing was deleted.\n`);
    if (rows > 0 && options.yes !== true) await ask(rows);
    const done = sumRows(await remove(deleter, request, stop));
    process.stdout.write(done === 0 ? 'There is nothing to delete.\n' : `${describe(done)} deleted.\n`);
  } finally {
    await deleter.close();
  }
}

function describe(rows: number): string {
  return `${rows.toLocaleString('en')} ${rows === 1 ? 'event' : 'events'}`;
}

async function ask(rows: number): Promise<void> {
  const answer = await confirm(`Delete ${describe(rows)} for good?`);
  if (answer === 'yes') return;
  if (answer === 'no') throw new StoppedError('nothing was deleted');
  throw new InputError(['nothing was deleted: there is no terminal to ask at; add --yes to delete']);
}

async function remove(
  deleter: Deleter,
  request: DeletionRequest,
  stop: AbortSignal,
): Promise<readonly SourceRows[]> {
  const progress = createProgress('delete', 0);
  try {
    return await untilAborted(
      deleter.delete(request, (at) => {
        if (at !== null) progress.update(0, `${at.source}: ${at.partsLeft} parts to be rewritten`);
      }),
      stop,
    );
  } catch (error) {
    if (!stop.aborted) throw error;
    throw new StoppedError(
      `stopped by ${stop.reason}; the engine goes on deleting, and the same command waits for its end`,
    );
  } finally {
    progress.stop();
  }
}

async function openDeleter(config: Config, stop: AbortSignal): Promise<Deleter> {
  const described = await askService(config.dataDir, COMMANDS.describe, {});
  described?.hangUp();
  return described === undefined ? await openOwn(config, stop) : throughService(config.dataDir);
}

function throughService(dataDir: string): Deleter {
  const send = async (command: string, request: DeletionRequest, onProgress: (line: unknown) => void) => {
    const asked = await askService(dataDir, command, request);
    if (asked === undefined) throw new InputError(['the service has stopped; run the command again']);
    return (await asked.finish(onProgress)) as readonly SourceRows[]; // by src/maintenance/socket/commands.ts
  };
  return {
    count: (request) => send(COMMANDS.count, request, () => {}),
    delete: (request, onProgress) =>
      send(COMMANDS.delete, request, (line) => onProgress(line as DeletionProgress | null)),
    close: async () => {},
  };
}

/** The same commands as those of a service, on a store that this process opens. */
async function openOwn(config: Config, stop: AbortSignal): Promise<Deleter> {
  const store = await openStore(config, ownerName('delete'));
  const control = await openControlStore(config).catch(async (error) => {
    await store.close();
    throw error;
  });
  const { engine, registry } = store;
  const pause = async (ms: number) => void (await wait(ms, undefined, { signal: stop }));
  const how = { now: Date.now, newId: randomUUID, wait: pause };
  const deletions = createDeletions({ store, control, ...how });
  const folders = () => store.folders;
  const commands = createCommands({ config, folders, engine, registry, deletions, ...how });
  const call = async (command: string, request: DeletionRequest, send: (line: unknown) => void) => {
    const answer = await commands[command]?.(request, {
      send: (line) => 'progress' in line && send(line.progress),
      signal: stop,
    });
    return answer as readonly SourceRows[]; // of the commands that are called here
  };
  return {
    count: (request) => call(COMMANDS.count, request, () => {}),
    delete: (request, onProgress) =>
      call(COMMANDS.delete, request, (line) => onProgress(line as DeletionProgress | null)),
    async close() {
      await store.close();
      await control.close();
    },
  };
}

function print(counted: readonly SourceRows[]): void {
  const table = new Table({ head: ['source', 'events'], style: { head: [], border: [] } });
  for (const { source, rows } of counted.filter((one) => one.rows > 0))
    table.push([source, rows.toLocaleString('en')]);
  if (table.length > 0) process.stdout.write(`${table}\n`);
}

function sumRows(counted: readonly SourceRows[]): number {
  return counted.reduce((sum, { rows }) => sum + rows, 0);
}
