import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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

test('runs one at a time, and the clock is saved after the runs', async () => {
  const gate = Promise.withResolvers<void>();
  const { log, run, saveClock } = await schedule(() => gate.promise);
  const runs = [run(), run()];
  const saved = saveClock();
  await vi.waitFor(() => expect(log).toEqual(['run']));
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual(['run']);
  gate.resolve();
  await saved;
  await Promise.all(runs);
  expect(log).toEqual(['run', 'run']);
});

test('rejects with a failure, and works the next time', async () => {
  let isFirst = true;
  const { log, run, watch } = await schedule(async () => {
    if (isFirst) {
      isFirst = false;
      throw new Error('once');
    }
  });
  const [failed, watched] = await Promise.allSettled([run(), watch()]);
  expect(failed).toEqual({ status: 'rejected', reason: new Error('once') });
  expect(watched.status).toBe('fulfilled');
  await run();
  expect(log).toEqual(['run', 'run']);
});

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

test('notes the time that is believed, not the one that has jumped', async () => {
  const { watch, saveClock, world, files, path } = await schedule();
  world.now += 1_000;
  await watch();
  expect(files.clock.read()).toEqual({ seen_ms: NOW + 1_000 });
  world.now += 9 * DAY_MS;
  await saveClock();
  await watch();
  expect(clockFile(path).read()).toEqual({ seen_ms: NOW + 1_000 });
  expect(reportFile(join(path, 'nowhere')).read()).toBeUndefined();
});
