import { afterAll, expect, test } from 'vitest';
import { killRounds } from '../../bench/kill-rounds.ts';
import { openCliEngine } from '../support/cli-engine.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const engine = await openCliEngine();
afterAll(async () => {
  await engine.remove();
  await folder.remove();
});

// `npm run bench -- kill --times 50` is the same at length.
test('kill -9 under load loses no acknowledged event, and a repeat with its Idempotency-Key stores nothing twice', async () => {
  const dataDir = folder.path;
  const env = engine.envOf(dataDir);
  const counts = await killRounds({ dataDir, env, times: 3, seed: 7, onRound: () => {} });
  expect(counts.kills).toBe(3);
  expect(counts.acknowledgedEvents).toBeGreaterThan(1000);
  expect(counts.sentAgain).toBeGreaterThan(0);
  expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, storedInPart: 0 });
}, 60_000);
