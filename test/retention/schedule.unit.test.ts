import { expect, onTestFinished, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { createClockGuard } from '../../src/lib/clock-guard.ts';
import { clockFile, confirmationFile, type RetentionReport, reportFile } from '../../src/retention/file.ts';
import type { RetentionNotice } from '../../src/retention/notice.ts';
import type { Retention } from '../../src/retention/retention.ts';
import { createRetentionSchedule } from '../../src/retention/schedule.ts';
import { temporaryFolder } from '../support/service.ts';

const SOURCES: readonly Source[] = [];
const NOW = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;

/** The schedule alone; test/retention/retention.test.ts has what a run does to a store. */
async function schedule(run: () => Promise<void> = async () => {}) {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const world = { now: NOW };
  const clock = createClockGuard({ now: () => world.now, ticks: () => 0, seenMs: NOW, jumpMsMax: DAY_MS });
  const log: string[] = [];
  const report = (): RetentionReport => ({ clock: clock.last(), due: [], storeBytesMax: 0 });
  const retention: Retention = {
    review: async () => report(),
    async run() {
      log.push('run');
      await run();
      return report();
    },
    async confirm() {
      log.push('confirm');
      clock.accept();
      return true;
    },
  };
  const files = {
    clock: clockFile(folder.path),
    report: reportFile(folder.path),
    confirmation: confirmationFile(folder.path),
  };
  const one = createRetentionSchedule({
    retention,
    clock,
    sources: () => SOURCES,
    readEngineMs: async () => undefined,
    files,
    onClockChange: async () => void log.push(`the clock is ${clock.last().state}`),
    onNotice: (notice?: RetentionNotice) => void log.push(notice === undefined ? 'over' : 'stopped'),
    onConfirmed: () => {},
  });
  return { ...one, world, log, files, path: folder.path };
}

test('says that the clock has jumped once and with every run, takes a confirmation, and says that it is over', async () => {
  const { log, run, watch, world, files, notice } = await schedule();
  world.now += 9 * DAY_MS;
  await watch();
  await watch();
  expect(log).toEqual(['the clock is ahead', 'run', 'stopped']);
  await run();
  expect(log.slice(3)).toEqual(['run', 'stopped']);
  expect(notice()?.stopped).toEqual(['clock']);
  files.confirmation.write({ clockOffsetMs: 9 * DAY_MS, days: [] });
  await watch();
  expect(log.slice(5)).toEqual(['confirm', 'the clock is plausible', 'run', 'over']);
  expect([notice(), files.confirmation.read()]).toEqual([undefined, undefined]);
});
