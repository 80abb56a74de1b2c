import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { ReadStream } from 'node:tty';
import { Command } from 'commander';
import type { Static } from 'typebox';
import type { Config } from '../../config/config.ts';
import { InputError, StoppedError, TailraceError } from '../../errors.ts';
import { SCOPES } from '../../keys/grant.ts';
import { type Caller, LOCAL_KEY_ID } from '../../keys/keyring.ts';
import { openControlStore } from '../../keys/open-control-store.ts';
import { untilAborted } from '../../lib/abort.ts';
import { createReserve, SHARE_BYTES } from '../../lib/reserve.ts';
import { createDeletions } from '../../maintenance/deletions.ts';
import { type NEW_DELETION, readDeletion, startDeletion } from '../../management/deletions.ts';
import type { DeletionView } from '../../management/view.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCount, formatCounted, formatTable } from '../format.ts';
import { findLocalService } from '../local-service.ts';
import { createProgress } from '../progress.ts';
import { callRemote } from '../remote.ts';

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

interface Options extends Omit<Request, 'dry_run'> {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

type Request = Static<typeof NEW_DELETION>;

/** Deletes in the service that owns the store, or in this process. */
interface Deleter {
  start(request: Request): Promise<DeletionView>;
  read(id: string): Promise<DeletionView>;
}

async function run({ dryRun, yes, ...request }: Options): Promise<void> {
  const stop = stopSignal();
  await using cleanup = new AsyncDisposableStack();
  const deleter = await openDeleter(readStoreConfig(), { stop, cleanup });
  const planned = await deleter.start({ ...request, dry_run: true });
  printCounts(planned);
  const { rows } = planned;
  if (dryRun === true)
    return void process.stdout.write(`${formatCounted(rows, 'event')}; nothing was deleted.\n`);
  if (rows > 0 && yes !== true) await confirm(rows);
  const done = (await deleteEvents(deleter, request, stop)).rows;
  process.stdout.write(
    done === 0 ? 'No events match; nothing was deleted.\n' : `${formatCounted(done, 'event')} deleted.\n`,
  );
}

function printCounts({ sources, left_out: leftOut }: DeletionView): void {
  const rows = sources.map((one) => [one.source, formatCount(one.rows)]);
  if (rows.length > 0) process.stdout.write(`${formatTable(['source', 'events'], rows)}\n`);
  for (const { source, rows } of leftOut)
    process.stdout.write(`${formatCounted(rows, 'event')} of ${source} stay: the source is protected.\n`);
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

const POLL_EVERY_MS = 250;

/** Waits until the events are gone. @throws TailraceError if they could not be deleted; StoppedError if `stop` aborts */
async function deleteEvents(deleter: Deleter, request: Request, stop: AbortSignal): Promise<DeletionView> {
  const progress = createProgress('delete', 0);
  try {
    let deletion = await deleter.start({ ...request, dry_run: false });
    while (deletion.state === 'running') {
      const { progress: at } = deletion;
      if (at !== null) progress.update(0, `${at.source}: ${at.parts_left} parts to be rewritten`);
      await wait(POLL_EVERY_MS, undefined, { signal: stop });
      deletion = await deleter.read(deletion.id ?? '');
    }
    if (deletion.error !== null) throw new TailraceError('overloaded', deletion.error);
    return deletion;
  } catch (error) {
    if (!stop.aborted) throw error;
    throw new StoppedError(
      `stopped by ${stop.reason}; the engine continues to delete, and the same command waits for its end`,
    );
  } finally {
    progress.stop();
  }
}

interface OpenOptions {
  readonly stop: AbortSignal;
  readonly cleanup: AsyncDisposableStack;
}

async function openDeleter(config: Config, { stop, cleanup }: OpenOptions): Promise<Deleter> {
  const service = findLocalService(config);
  if (service === undefined) return await openOwn(config, { stop, cleanup });
  return {
    start: async (body) =>
      (await callRemote(service, '/api/deletions', { body, signal: stop })) as DeletionView, // by its schema
    read: async (id) => (await callRemote(service, `/api/deletions/${id}`, { signal: stop })) as DeletionView,
  };
}

/** Opens the store in this process. */
async function openOwn(config: Config, { stop, cleanup }: OpenOptions): Promise<Deleter> {
  const reserve = createReserve(config.dataDir);
  await reserve.free(SHARE_BYTES); // to open the store
  const core = await openCore(config, ownerName('delete'));
  cleanup.defer(core.close);
  const control = await openControlStore(config);
  cleanup.defer(control.close);
  const deletions = createDeletions({
    ...{ core, control, now: Date.now, newId: randomUUID, makeRoom: reserve.free },
    holdInserts: () => ({ idle: Promise.resolve(), release() {} }), // this process stores nothing
    wait: async (ms) => void (await wait(ms, undefined, { signal: stop })),
  });
  const parts = { deletions, registry: core.registry };
  return {
    start: (request) => untilAborted(startDeletion(parts, OPERATOR, request), stop),
    read: async (id) => readDeletion(parts, id),
  };
}

const OPERATOR: Caller = { keyId: LOCAL_KEY_ID, scopes: SCOPES, pins: {} };
