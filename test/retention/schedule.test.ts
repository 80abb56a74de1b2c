import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { createClockGuard } from '../../src/lib/clock-guard.ts';
import { clockFile, confirmationFile, type RetentionReport, reportFile } from '../../src/retention/file.ts';
import type { RetentionNotice } from '../../src/retention/notice.ts';
import type { Retention } from '../../src/retention/retention.ts';
import { scheduleRetention } from '../../src/retention/schedule.ts';
import { temporaryFolder } from '../support/service.ts';

const SOURCES: readonly Source[] = [];
const NOW = Date.UTC(2026, 10, 20);
const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

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
  const one = scheduleRetention({
    retention,
    clock,
    sources: () => SOURCES,
    readEngineMs: async () => undefined,
    files,
    onClockChange: async () => void log.push(`the clock is ${clock.last().state}`),
    onNotice: (notice?: RetentionNotice) => void log.push(notice === undefined ? 'over' : 'stopped'),
    onConfirmed: () => {},
    onError: (error) => void log.push(String(error)),
  });
  return { ...one, world, log, files, path: folder.path };
}

test('runs every hour until it is stopped', async () => {
  const { log, run, stop } = await schedule();
  vi.advanceTimersByTime(3_599_999);
  await run(); // after all that was begun
  expect(log).toEqual(['run']);
  vi.advanceTimersByTime(1);
  await run();
  expect(log).toEqual(['run', 'run']);
  await stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('runs once at a time, and stopping waits for the run', async () => {
  const gate = Promise.withResolvers<void>();
  const { log, run, stop } = await schedule(() => gate.promise);
  expect(run()).toBe(run());
  const stopped = stop();
  gate.resolve();
  await stopped;
  expect(log).toEqual(['run']);
});

test('reports a failure, and goes on the next time', async () => {
  let isFirst = true;
  const { log, run, stop } = await schedule(async () => {
    if (isFirst) {
      isFirst = false;
      throw new Error('once');
    }
  });
  await run();
  await run();
  expect(log).toEqual(['run', 'Error: once', 'run']);
  await stop();
});

test('says that the clock has jumped once and with every run, takes a confirmation, and says that it is over', async () => {
  const { log, run, watch, stop, world, files, notice } = await schedule();
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
  await stop();
});

test('notes the time that is believed, not the one that has jumped', async () => {
  const { watch, stop, world, files, path } = await schedule();
  world.now += 1_000;
  await watch();
  expect(files.clock.read()).toEqual({ seen_ms: NOW + 1_000 });
  world.now += 9 * DAY_MS;
  await stop();
  await watch();
  expect(clockFile(path).read()).toEqual({ seen_ms: NOW + 1_000 });
  expect(reportFile(join(path, 'nowhere')).read()).toBeUndefined();
});
