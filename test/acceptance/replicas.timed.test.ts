import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { askAtOnce, keepWarm, killOne, loseEngine } from '../../trial/replica-trials.ts';
import { type Replicas, withReplicas } from '../../trial/replicas.ts';
import { temporaryFolder } from '../support/service.ts';

const isWhole = findProgram('postgres') !== undefined && findProgram('redis-server') !== undefined;

// `npm run bench -- replicas` is the same at length.
describe.skipIf(!isWhole)('two processes over one ClickHouse, one PostgreSQL and one Redis', () => {
  let replicas: Replicas;
  let end = () => {};
  let ended: Promise<unknown>;

  beforeAll(async () => {
    const folder = await temporaryFolder();
    await new Promise<void>((resolve, reject) => {
      ended = withReplicas(folder.path, (started) => {
        replicas = started;
        resolve();
        return new Promise<void>((over) => {
          end = over;
        });
      }).finally(folder.remove);
      ended.catch(reject);
    });
  });
  afterAll(async () => {
    end();
    await ended;
  });

  test('1,000 identical requests to both, all at once, are one query', async () => {
    expect(await askAtOnce(replicas, 1_000)).toEqual({ answered: 1_000, texts: 1, queries: 1 });
  });

  test('an answer that both keep warm is refreshed once an interval', { tags: 'slow' }, async () => {
    const { allAnswered, refreshes, intervals } = await keepWarm(replicas, 3);
    expect(allAnswered).toBe(true);
    expect(refreshes).toBeGreaterThan(0);
    // A refresh may come a tenth of the interval early.
    expect(refreshes).toBeLessThanOrEqual(Math.ceil(intervals / 0.9));
  });

  test('one that is killed takes nothing with it', { tags: 'slow', timeout: 60_000 }, async () => {
    const counts = await killOne(replicas, 1);
    expect(counts.acknowledgedEvents).toBeGreaterThan(100);
    expect(counts.answered).toBeGreaterThan(2); // a busy machine answers few before the end
    expect(counts).toMatchObject({ lostEvents: 0, rowsTwice: 0, foreignRows: 0, failed: 0 });
  });

  test.each(['refuse', 'silent'] as const)(
    'while ClickHouse is away (%s), answers that are kept go on being served, also past their time; the rest is 503',
    { tags: 'slow', timeout: 60_000 },
    async (kind) => {
      const counts = await loseEngine(replicas, kind, 9_000);
      expect(counts.kept).toBeGreaterThan(10);
      expect(counts.stale).toBeGreaterThan(0);
      expect(counts.refused).toBeGreaterThan(1);
      expect(counts).toMatchObject({ keptFailed: 0, refusedWrongly: 0 });
    },
  );
});
