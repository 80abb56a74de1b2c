import { afterAll, expect, test } from 'vitest';
import { deletionRounds } from '../../trial/deletion-rounds.ts';
import { killRounds } from '../../trial/kill-rounds.ts';
import { WIRES } from '../../trial/wire.ts';
import { scale } from '../support/property.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

// `npm run bench -- kill --times 50` is the same at length.
test('kill -9 under load loses no acknowledged event, and a repeat with its Idempotency-Key stores nothing twice', async () => {
  const dataDir = folder.path;
  const times = scale(3);
  const counts = await killRounds({ dataDir, times, seed: 7, onRound: () => {} });
  expect(counts.kills).toBe(times);
  expect(counts.acknowledgedEvents).toBeGreaterThan(scale(1_000));
  expect(counts.sentAgain).toBeGreaterThan(0);
  expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, storedInPart: 0 });
}, 60_000);

// `npm run bench -- kill --only protocols` is the same at length.
test('kill -9 loses no event that was acknowledged by any protocol, and a repeat under its header stores nothing twice', async () => {
  const own = await temporaryFolder();
  const counts = await killRounds({
    dataDir: own.path,
    times: scale(10),
    seed: 5,
    wires: WIRES,
    onRound: () => {},
  });
  expect(counts.acknowledgedEvents).toBeGreaterThan(0);
  expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, storedInPart: 0 });
  await own.remove();
}, 300_000);

test.each([
  { kills: 0, name: 'deletions beside senders' },
  { kills: 3, name: 'the same while the engine process is killed' },
])(
  '$name delete what was acknowledged before, keep what was sent afterwards, and report what they deleted',
  async ({ kills }) => {
    await using cleanup = new AsyncDisposableStack();
    const folder = await temporaryFolder();
    cleanup.defer(folder.remove);
    const events = Math.max(3_000, scale(6_000)); // with fewer, all are stored before the first deletion
    const counts = await deletionRounds({ dataDir: folder.path, seed: 7 + kills, events, kills });
    expect(counts).toMatchObject({ acknowledgedEvents: events, lostEvents: 0, keptEvents: 0, inPart: 0 });
    expect(counts.eventsBefore).toBeGreaterThan(0);
    expect(counts.eventsAfter).toBeGreaterThan(0);
    if (kills === 0) expect(counts.rejected).toBe(0);
    if (counts.rejected === 0) expect(counts.rowsReported).toBe(counts.eventsGone);
  },
  120_000,
);
