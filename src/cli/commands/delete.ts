import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { ReadStream } from 'node:tty';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { openControlStore } from '../../keys/open-control-store.ts';
import { untilAborted } from '../../lib/abort.ts';
import { createReserve, SHARE_BYTES } from '../../lib/reserve.ts';
import type { DeletionRequest } from '../../maintenance/deletion-request.ts';
import { createDeletions, type DeletionJob, type SourceRows } from '../../maintenance/deletions.ts';
import { sendCommand } from '../../maintenance/socket/client.ts';
import { createCommands } from '../../maintenance/socket/commands.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCount, formatCounted, sum } from '../format.ts';
import { createProgress } from '../progress.ts';
import { formatWideTable } from '../table.ts';

export function deleteCommand(): Command {
  return new Command('delete')
    .description('Delete the events of a project for good, beside a running service or without one.')
    .requiredOption('--project <name>', "the project; '' selects events without one")
    .option('--source <name>', 'only events of this source')
    .option('--before <time>', 'only events with an earlier timestamp, such as 2026-11-20T07:00:00Z')
    .option('--dry-run', 'print only their number')
    .option('--yes', 'do not ask; required without a terminal')
    .action(run);
}

interface Options extends DeletionRequest {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Executes a command of maintenance/socket/commands.ts: in the service that owns the store, or in this process. */
interface Executor {
  execute(
    command: string,
    request: DeletionRequest,
    onProgress?: (progress: unknown) => void,
  ): Promise<unknown>;
  close(): Promise<void>;
}

async function run({ project, source, before, ...options }: Options): Promise<void> {
  const request: DeletionRequest = { project, source, before };
  const stop = stopSignal();
  await using cleanup = new AsyncDisposableStack();
  const executor = await openExecutor(readStoreConfig(), stop);
  cleanup.defer(executor.close);
  const counted = (await executor.execute(COMMANDS.count, request)) as readonly SourceRows[]; // by createCommands
  printCounts(counted);
  const rows = sumRows(counted);
  if (options.dryRun === true)
    return void process.stdout.write(`${formatCounted(rows, 'event')}; nothing was deleted.\n`);
  if (rows > 0 && options.yes !== true) await confirm(rows);
  const done = sumRows(await deleteEvents(executor, request, stop));
  process.stdout.write(
    done === 0 ? 'No events match; nothing was deleted.\n' : `${formatCounted(done, 'event')} deleted.\n`,
  );
}

function printCounts(counted: readonly SourceRows[]): void {
  const rows = counted.filter((one) => one.rows > 0).map((one) => [one.source, formatCount(one.rows)]);
  if (rows.length > 0) process.stdout.write(`${formatWideTable(['source', 'events'], rows)}\n`);
  for (const { source, kept = 0 } of counted)
    if (kept > 0)
      process.stdout.write(`${formatCounted(kept, 'event')} of ${source} stay: the source is protected.\n`);
}

function sumRows(counted: readonly SourceRows[]): number {
  return sum(counted.map(({ rows }) => rows));
}

/** Asks at the terminal. @throws StoppedError if the answer is no; InputError without a terminal */
async function confirm(rows: number): Promise<void> {
  const input = process.stderr.isTTY ? openTerminal() : undefined;
  if (input === undefined)
    throw new InputError(['nothing was deleted: there is no terminal to ask at; add --yes to delete']);
  const lines = createInterface({ input, output: process.stderr });
  // Without it the end of the input would leave the question pending forever.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([
      lines.question(`Delete ${formatCounted(rows, 'event')} for good? [y/N] `),
      ended,
    ]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new StoppedError('nothing was deleted');
  } finally {
    lines.close();
    input.destroy();
  }
}

/** Opens the terminal's device by name: standard input may be redirected. */
function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync('/dev/tty', 'r'));
  } catch {
    return undefined; // this process is detached from its terminal
  }
}

async function deleteEvents(
  executor: Executor,
  request: DeletionRequest,
  stop: AbortSignal,
): Promise<readonly SourceRows[]> {
  const progress = createProgress('delete', 0);
  const deleted = executor.execute(COMMANDS.delete, request, (line) => {
    const at = line as DeletionJob['progress'] | null; // sent by createDeleteCommand
    if (at) progress.update(0, `${at.source}: ${at.partsLeft} parts to be rewritten`);
  });
  try {
    return (await untilAborted(deleted, stop)) as readonly SourceRows[]; // by createCommands
  } catch (error) {
    if (!stop.aborted) throw error;
    throw new StoppedError(
      `stopped by ${stop.reason}; the engine continues to delete, and the same command waits for its end`,
    );
  } finally {
    progress.stop();
  }
}

async function openExecutor(config: Config, stop: AbortSignal): Promise<Executor> {
  const service = await sendCommand(config.dataDir, COMMANDS.describe, {});
  service?.hangUp();
  if (service === undefined) return await openOwn(config, stop);
  return {
    async execute(command, request, onProgress = () => {}) {
      const running = await sendCommand(config.dataDir, command, request);
      if (running === undefined) throw new InputError(['the service has stopped; run the command again']);
      return await running.finish(onProgress);
    },
    close: async () => {},
  };
}

/** Executes the same commands as a service, on a store that this process opens. */
async function openOwn(config: Config, stop: AbortSignal): Promise<Executor> {
  await using cleanup = new AsyncDisposableStack();
  const reserve = createReserve(config.dataDir);
  await reserve.free(SHARE_BYTES); // to open the store
  const core = await openCore(config, ownerName('delete'));
  cleanup.defer(core.close);
  const control = await openControlStore(config);
  cleanup.defer(control.close);
  const { engine, registry } = core;
  const pause = async (ms: number) => void (await wait(ms, undefined, { signal: stop }));
  const tools = { now: Date.now, newId: randomUUID, wait: pause };
  const holdInserts = () => ({ idle: Promise.resolve(), release() {} }); // this process stores nothing
  const deletions = createDeletions({ core, control, holdInserts, makeRoom: reserve.free, ...tools });
  const folders = () => core.folders;
  const commands = createCommands({ config, folders, engine, registry, deletions, ...tools });
  const closing = cleanup.move();
  return {
    execute: async (command, request, onProgress = () => {}) =>
      await commands[command]?.(request, {
        send: (line) => 'progress' in line && onProgress(line.progress),
        signal: stop,
      }),
    close: () => closing.disposeAsync(),
  };
}
