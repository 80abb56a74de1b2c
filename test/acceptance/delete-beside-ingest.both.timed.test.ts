import { expect, test } from 'vitest';
import { deletionRounds } from '../../trial/deletion-rounds.ts';
import { ON_SERVER, openCliEngine } from '../support/cli-engine.ts';
import { scale } from '../support/property.ts';
import { temporaryFolder } from '../support/service.ts';

// A server is not killed with the service.
test.each([
  { kills: 0, name: 'deletions beside senders' },
  ...(ON_SERVER ? [] : [{ kills: 3, name: 'the same while the engine process is killed' }]),
])(
  '$name delete what was acknowledged before, keep what was sent afterwards, and report what they deleted',
  async ({ kills }) => {
    await using cleanup = new AsyncDisposableStack();
    const folder = await temporaryFolder();
    cleanup.defer(folder.remove);
    const engine = await openCliEngine();
    cleanup.defer(engine.remove);
    const env = engine.envOf(folder.path);
    const events = Math.max(3_000, scale(6_000)); // with fewer, all are stored before the first deletion
    const counts = await deletionRounds({ dataDir: folder.path, env, seed: 7 + kills, events, kills });
    expect(counts).toMatchObject({ acknowledgedEvents: events, lostEvents: 0, keptEvents: 0, inPart: 0 });
    expect(counts.eventsBefore).toBeGreaterThan(0);
    expect(counts.eventsAfter).toBeGreaterThan(0);
    if (kills === 0) expect(counts.refused).toBe(0);
    if (counts.refused === 0) expect(counts.rowsReported).toBe(counts.eventsGone);
  },
  120_000,
);
