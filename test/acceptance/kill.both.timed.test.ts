import { afterAll, expect, test } from 'vitest';
import { killRounds } from '../../trial/kill-rounds.ts';
import { WIRES } from '../../trial/wire.ts';
import { openCliEngine } from '../support/cli-engine.ts';
import { scale } from '../support/property.ts';
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
  const times = scale(3);
  const counts = await killRounds({ dataDir, env, times, seed: 7, onRound: () => {} });
  expect(counts.kills).toBe(times);
  expect(counts.acknowledgedEvents).toBeGreaterThan(scale(1_000));
  expect(counts.sentAgain).toBeGreaterThan(0);
  expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, storedInPart: 0 });
}, 60_000);

// `npm run bench -- kill --only protocols` is the same at length.
test('kill -9 loses no event that was acknowledged by any protocol, and a repeat under its header stores nothing twice', async () => {
  const own = await temporaryFolder();
  const env = engine.envOf(own.path);
  const counts = await killRounds({
    dataDir: own.path,
    env,
    times: 1,
    seed: 5,
    wires: WIRES,
    onRound: () => {},
  });
  expect(counts.acknowledgedEvents).toBeGreaterThan(0);
  expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, storedInPart: 0 });
  await own.remove();
}, 60_000);
