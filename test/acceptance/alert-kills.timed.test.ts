import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { type AlertKillCounts, killSingleService, strikeReplicas } from '../../trial/alerts/kill-alerts.ts';
import { temporaryFolder } from '../support/service.ts';

const hasPrograms = findProgram('postgres') !== undefined && findProgram('redis-server') !== undefined;
// The goal of `npm run bench -- alerts` is 2,000; a busy machine is late.
const GONE_ON_MS_MAX = 8_000;
const TIMEOUT_MS = 180_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

function check(counts: AlertKillCounts, times: number): void {
  expect(counts).toMatchObject({ strikes: times, lost: 0, sentTwice: 0, unknown: 0, unresolved: 0 });
  expect(counts.messages).toBeGreaterThan(times);
}

// `npm run bench -- alerts --only kills` is the same at length.
test.skipIf(!hasPrograms)(
  'the evaluating one of two replicas is killed, or loses its database connections, and each change is sent once',
  { timeout: TIMEOUT_MS },
  async () => {
    const options = { folder: folder.path, times: 2, sessionTimes: 3, seed: 1 };
    const { killed, disconnected } = await strikeReplicas(options);
    check(killed, 2);
    check(disconnected, 3);
    expect(Math.max(...killed.goneOnMs, ...disconnected.goneOnMs)).toBeLessThan(GONE_ON_MS_MAX);
  },
);

test('a service with its own store is killed, and each change is sent once', {
  timeout: TIMEOUT_MS,
  tags: 'slow',
}, async () => {
  check(await killSingleService({ folder: folder.path, times: 2, seed: 1 }), 2);
});
