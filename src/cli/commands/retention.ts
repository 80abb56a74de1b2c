import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findOwner } from '../../engine/store-lock.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { openRetention } from '../../open-retention.ts';
import { openStore } from '../../open-store.ts';
import {
  clockFile,
  confirmAll,
  confirmationFile,
  type RetentionReport,
  reportFile,
} from '../../retention/file.ts';
import { describeRetention } from '../../retention/notice.ts';
import { ownerName, readConfig } from '../environment.ts';
import { printRetention } from '../retention-report.ts';

// The service looks for a confirmation every five seconds, and may have days to drop.
const TAKEN_MS_MAX = 60_000;
const LOOK_EVERY_MS = 200;

export function retentionCommand(): Command {
  return new Command('retention')
    .description('Show what retention would delete now and why it has stopped; works beside the service.')
    .option('--confirm', 'agree to what is shown: to the clock as it is, and to these days being deleted')
    .action(retention);
}

async function retention({ confirm = false }: { confirm?: boolean }): Promise<void> {
  const config = readConfig();
  const isServed = config.clickhouseUrl !== '' || findOwner(config.dataDir) !== undefined;
  await (isServed ? askService(config, confirm) : lookAtStore(config, confirm));
}

/** By the files of the data directory, which the service that owns the store reads and writes. */
async function askService({ dataDir }: Config, confirm: boolean): Promise<void> {
  const file = reportFile(dataDir);
  const report = file.read();
  if (report === undefined)
    throw new InputError([
      `data directory ${dataDir} has no report of retention; a service writes it when it has started`,
    ]);
  printRetention(report);
  if (!confirm || !hasStopped(report)) return;
  const confirmation = confirmationFile(dataDir);
  confirmation.write(confirmAll(report));
  const untilMs = performance.now() + TAKEN_MS_MAX;
  while (confirmation.read() !== undefined) {
    if (performance.now() > untilMs)
      throw new StoppedError(
        'confirmed, but no service has taken it; one that starts on this data directory within the hour will',
      );
    await wait(LOOK_EVERY_MS);
  }
  printDone(file.read() ?? report);
}

/** Where no service runs: what the next one would find. */
async function lookAtStore(config: Config, confirm: boolean): Promise<void> {
  const store = await openStore(config, ownerName('retention'));
  try {
    const retention = openRetention(store, config, ({ table, day, rows }) =>
      process.stdout.write(`deleted ${day} of ${table}, ${rows.toLocaleString('en')} events\n`),
    );
    const report = await retention.review();
    printRetention(report);
    if (!confirm || !hasStopped(report)) return;
    await retention.confirm(confirmAll(report));
    const after = await retention.review();
    clockFile(config.dataDir).write({ seen_ms: after.clock.plausibleMs });
    reportFile(config.dataDir).write(after);
    printDone(after);
  } finally {
    await store.close();
  }
}

function hasStopped(report: RetentionReport): boolean {
  return describeRetention(report) !== undefined;
}

function printDone(after: RetentionReport): void {
  const left = describeRetention(after);
  if (left !== undefined)
    throw new StoppedError(`confirmed, but something else has come up since: ${left.message}`);
  process.stdout.write('confirmed: retention goes on, and what was due is deleted\n');
}
