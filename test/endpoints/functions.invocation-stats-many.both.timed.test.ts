import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { WireEvent } from '../../trial/oracle/event.ts';
import { invocationStats } from '../../trial/oracle/invocation-stats.ts';
import { SEED } from '../support/property.ts';
import { startTestService, storeEvents } from '../support/service.ts';
import { expectStats } from './invocation-rows.ts';
import { ask } from './support.ts';

const SOURCE = 'deno-relay-logs';
const BATCH_SIZE = 700;
const now = Date.parse('2028-02-29T23:59:59.999Z');

const service = await startTestService({ now });
afterAll(service.close);
let cases = 0;

/** Execution times, from their place in the order of storing and a number from 0 up to 1. */
const shapes: Record<string, (i: number, random: number) => number> = {
  'spread evenly': (_, random) => random * 1000,
  'with a long tail': (_, random) => Math.exp(12 * random),
  'all the same': () => 123.456,
  'in two lumps': (i, random) => (i % 10 === 0 ? 5000 : 20) + random,
  'in rising order': (i) => i,
  'in falling order': (i) => 1e6 - i,
  'within ten of sixty thousand': (_, random) => 60_000 + 10 * random,
  'mostly ties': (_, random) => Math.floor(random * 3),
  'negative and positive': (_, random) => random * 2000 - 1000,
  'below the smallest of single precision': (_, random) => random * 1e-60,
  'above the largest of single precision': (_, random) => 1e39 + random * 1e300,
  'of every magnitude': (i, random) => (i % 2 === 0 ? -1 : 1) * 10 ** (random * 600 - 300),
};

// Around the numbers of times at which a rank is a whole number.
const SIZES = [1, 2, 19, 20, 21, 99, 100, 101, 200, 250, 5000];

/** The one row that is answered for these events, which are stored in several batches, and the oracle's. */
async function answerFor(events: (project: string) => readonly WireEvent[]) {
  const project = `many-${cases++}`;
  const all = events(project);
  for (let from = 0; from < all.length; from += BATCH_SIZE) {
    await storeEvents(service.core, SOURCE, all.slice(from, from + BATCH_SIZE), now);
  }
  const { rows } = await ask(service.url, 'functions.invocation-stats', { project, interval: '7day' });
  expect(rows).toHaveLength(1);
  const question = { project, functionId: '', interval: '7day', now: now * 1000 };
  return { rows, expected: invocationStats(all, question) };
}

describe('percentiles of one bucket are those of the nearest rank, the times being', () => {
  test.for(Object.entries(shapes))('%s', async ([, shape]) => {
    for (const size of SIZES) {
      const seed = SEED;
      const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { numRuns: size, seed });
      const { rows, expected } = await answerFor((project) =>
        random.map((number, i) => ({
          id: `e${i}`,
          timestamp: now * 1000 - i,
          metadata: { project_ref: project, execution_time_ms: shape(i, number) },
        })),
      );
      try {
        expectStats(rows, expected);
      } catch (cause) {
        throw new Error(`seed ${seed}, size ${size}`, { cause });
      }
    }
  });
});

test('of 200 times p95 is the 190th and p99 the 198th', async () => {
  const time = (i: number) => 56 + i; // whole numbers of 8 bits
  const { rows } = await answerFor((project) =>
    Array.from({ length: 200 }, (_, i) => ({
      id: `e${i}`,
      timestamp: now * 1000 - i,
      metadata: { project_ref: project, execution_time_ms: time((i * 77) % 200) },
    })),
  );
  expect(rows).toMatchObject([
    {
      min_execution_time: 56,
      p95_execution_time: time(189),
      p99_execution_time: time(197),
      max_execution_time: time(199),
    },
  ]);
});

test('the average of times whose sum would overflow is within their range', async () => {
  const { rows } = await answerFor((project) =>
    [1.7e308, 1.7e308].map((time, i) => ({
      id: `e${i}`,
      timestamp: now * 1000 - i,
      metadata: { project_ref: project, execution_time_ms: time },
    })),
  );
  expect(rows).toMatchObject([{ avg_execution_time: 1.7e308, p95_execution_time: 1.7e308 }]);
});

test('a bucket without any time has a count and nothing else', async () => {
  const { rows } = await answerFor((project) => [
    { id: 'a', timestamp: now * 1000, metadata: { project_ref: project, execution_time_ms: null } },
  ]);
  expect(Object.values(rows[0] ?? {}).slice(1)).toEqual([null, null, null, null, null, 1, 0]);
});

test('more than a thousand records of one bucket are all counted, those without a time too', async () => {
  const { rows, expected } = await answerFor((project) =>
    Array.from({ length: 2500 }, (_, i) => ({
      id: `e${i}`,
      timestamp: now * 1000 - 1000 * i,
      metadata: {
        project_ref: project,
        execution_time_ms: i % 3 === 0 ? null : i,
        response: { status_code: 398 + (i % 4) },
      },
    })),
  );
  expectStats(rows, expected);
  expect(rows.map((row) => [row['count'], row['error_count']])).toEqual([[2500, 1250]]);
});
