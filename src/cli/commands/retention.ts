import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findOwner } from '../../engine/store-lock.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { createReserve, SHARE_BYTES } from '../../lib/reserve.ts';
import {
  clockFile,
  confirmAll,
  confirmationFile,
  type RetentionReport,
  reportFile,
} from '../../retention/file.ts';
import { describeRetention } from '../../retention/notice.ts';
import { openCore } from '../../service/open-core.ts';
import { openRetention } from '../../service/open-retention.ts';
import { ownerName } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCount, sum } from '../format.ts';
import { formatWideTable } from '../table.ts';

// The service polls for a confirmation every five seconds, and may have days to drop.
const TAKEN_MS_MAX = 60_000;
const POLL_EVERY_MS = 200;

export function retentionCommand(): Command {
  return new Command('retention')
    .description('Show what retention would delete now, and why it has stopped.')
    .option('--confirm', 'accept the shown clock and the deletion of the shown days')
    .action(retention);
}

async function retention({ confirm = false }: { confirm?: boolean }): Promise<void> {
  const config = readStoreConfig();
  if (confirm) await createReserve(config.dataDir).free(SHARE_BYTES); // the confirmation is a file
  const isServed = config.clickhouseUrl !== '' || findOwner(config.dataDir) !== undefined;
  await (isServed ? reviewByService(config, confirm) : reviewStore(config, confirm));
}

/** Communicates with the service by files of the data directory. */
async function reviewByService({ dataDir }: Config, confirm: boolean): Promise<void> {
  const file = reportFile(dataDir);
  const report = file.read();
  if (report === undefined)
    throw new InputError([
      `data directory ${dataDir} has no report of retention; a service writes it when it has started`,
    ]);
  printRetention(report);
  if (!confirm || describeRetention(report) === undefined) return;
  const confirmation = confirmationFile(dataDir);
  confirmation.write(confirmAll(report));
  const untilMs = performance.now() + TAKEN_MS_MAX;
  while (confirmation.read() !== undefined) {
    if (performance.now() > untilMs)
      throw new StoppedError(
        'confirmed, but no service has applied it; a service that starts on this data directory within the hour will',
      );
    await wait(POLL_EVERY_MS);
  }
  printDone(file.read() ?? report);
}

/** Works without a service: opens the store itself. */
async function reviewStore(config: Config, confirm: boolean): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(config, ownerName('retention'));
  cleanup.defer(core.close);
  const retention = openRetention(core, config, {
    reserve: createReserve(config.dataDir),
    onDropped: ({ table, day, rows }) =>
      process.stdout.write(`deleted ${day} of ${table}, ${formatCount(rows)} events\n`),
  });
  const report = await retention.review();
  printRetention(report);
  if (!confirm || describeRetention(report) === undefined) return;
  await retention.confirm(confirmAll(report));
  const after = await retention.review();
  clockFile(config.dataDir).write({ seen_ms: after.clock.plausibleMs });
  reportFile(config.dataDir).write(after);
  printDone(after);
}

/** Prints what is due and why it is not deleted. */
function printRetention(report: RetentionReport): void {
  const { clock, due } = report;
  process.stdout.write(`clock: ${new Date(clock.clockMs).toISOString()}, ${clock.state}\n`);
  const rows = due.map(({ source, reason, days, percent, held }) => [
    ...[source, reason, days[0]?.day ?? '', days.at(-1)?.day ?? ''],
    formatCount(sum(days.map((day) => day.rows))),
    `${Math.floor(percent)} %`,
    held === undefined ? 'next run' : `held: ${held}`,
  ]);
  const head = ['source', 'for', 'first day', 'last day', 'events', 'share', ''];
  process.stdout.write(due.length === 0 ? 'nothing is due\n' : `${formatWideTable(head, rows)}\n`);
  const notice = describeRetention(report);
  if (notice !== undefined) process.stdout.write(`${notice.message}\n`);
}

function printDone(after: RetentionReport): void {
  const left = describeRetention(after);
  if (left !== undefined)
    throw new StoppedError(`confirmed, but retention has stopped for another reason: ${left.message}`);
  process.stdout.write('confirmed: retention continues, and the due days are deleted\n');
}
