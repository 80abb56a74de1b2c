import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Static } from 'typebox';
import { InputError, StoppedError, TailraceError } from '../../errors.ts';
import type { NEW_DELETION } from '../../management/deletions.ts';
import type { DeletionView } from '../../management/view.ts';
import { stopSignal } from '../environment.ts';
import { createProgress, formatCount, formatCounted, formatTable } from '../format.ts';
import { getLocalService } from '../local-service.ts';
import { callRemote, type Remote } from '../remote.ts';

export function deleteCommand(): Command {
  return new Command('delete')
    .description('Delete the events of a project for good, by the service that runs in this folder.')
    .requiredOption('--project <name>', "the project; '' selects events without one")
    .option('--source <name>', 'only events of this source')
    .option('--before <time>', 'only events with an earlier timestamp, such as 2026-11-20T07:00:00Z')
    .option('--dry-run', 'print only their number')
    .option('--yes', 'do not ask; required without a terminal')
    .action(run);
}

type Request = Static<typeof NEW_DELETION>;

interface Options extends Omit<Request, 'dry_run'> {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function run({ dryRun, yes, ...request }: Options): Promise<void> {
  const service = await getLocalService();
  const stop = stopSignal();
  const planned = await start(service, { ...request, dry_run: true }, stop);
  printCounts(planned);
  const { rows } = planned;
  if (dryRun === true)
    return void process.stdout.write(`${formatCounted(rows, 'event')}; nothing was deleted.\n`);
  if (rows > 0 && yes !== true) await confirm(rows);
  const done = (await deleteEvents(service, request, stop)).rows;
  process.stdout.write(
    done === 0 ? 'No events match; nothing was deleted.\n' : `${formatCounted(done, 'event')} deleted.\n`,
  );
}

async function start(service: Remote, body: Request, signal: AbortSignal): Promise<DeletionView> {
  return (await callRemote(service, '/api/deletions', { body, signal })) as DeletionView; // by its schema
}

function printCounts({ sources, left_out: leftOut }: DeletionView): void {
  const rows = sources.map((one) => [one.source, formatCount(one.rows)]);
  if (rows.length > 0) process.stdout.write(`${formatTable(['source', 'events'], rows)}\n`);
  for (const { source, rows } of leftOut)
    process.stdout.write(`${formatCounted(rows, 'event')} of ${source} stay: the source is protected.\n`);
}

/** Asks at the terminal. @throws StoppedError if the answer is no; InputError without a terminal */
async function confirm(rows: number): Promise<void> {
  if (!process.stdin.isTTY)
    throw new InputError(['nothing was deleted: there is no terminal to ask at; add --yes to delete']);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Without it the end of the input would leave the question pending forever.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const asked = lines.question(`Delete ${formatCounted(rows, 'event')} for good? [y/N] `);
    const answer = await Promise.race([asked, ended]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new StoppedError('nothing was deleted');
  } finally {
    lines.close();
  }
}

const POLL_EVERY_MS = 250;

/** Waits until the events are gone. @throws TailraceError if they could not be deleted; StoppedError if `stop` aborts */
async function deleteEvents(service: Remote, request: Request, stop: AbortSignal): Promise<DeletionView> {
  const progress = createProgress('delete', 0);
  try {
    let deletion = await start(service, { ...request, dry_run: false }, stop);
    while (deletion.state === 'running') {
      const { progress: at } = deletion;
      if (at !== null) progress(0, `${at.source}: ${at.parts_left} parts to be rewritten`);
      await wait(POLL_EVERY_MS, undefined, { signal: stop });
      const path = `/api/deletions/${deletion.id}`;
      deletion = (await callRemote(service, path, { signal: stop })) as DeletionView; // by its schema
    }
    if (deletion.error !== null) throw new TailraceError('overloaded', deletion.error);
    return deletion;
  } catch (error) {
    if (!stop.aborted) throw error;
    throw new StoppedError(
      `stopped by ${stop.reason}; the engine continues to delete, and the same command waits for its end`,
    );
  }
}
