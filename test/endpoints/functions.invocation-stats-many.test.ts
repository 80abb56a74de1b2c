import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestService, storeEvents } from '../support/service.ts';
import { expectStats } from './invocation-rows.ts';
import type { WireEvent } from './oracle/event.ts';
import { invocationStats } from './oracle/invocation-stats.ts';
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
};

// About the number from which the digest puts values together, and far beyond.
const SIZES = [1, 2, 19, 20, 21, 99, 100, 101, 250, 5000];

/** The one row that is answered for these events, which are stored in several batches, and the oracle's. */
async function answerFor(events: (project: string) => readonly WireEvent[]) {
  const project = `many-${cases++}`;
  const all = events(project);
  for (let from = 0; from < all.length; from += BATCH_SIZE) {
    await storeEvents(service.store, SOURCE, all.slice(from, from + BATCH_SIZE), now);
  }
  const { rows } = await ask(service.url, 'functions.invocation-stats', { project, interval: '7day' });
  expect(rows).toHaveLength(1);
  const question = { project, functionId: '', interval: '7day', now: now * 1000 };
  return { rows, expected: invocationStats(all, question) };
}

describe('percentiles of one bucket lie within their bound, the times being', () => {
  test.for(Object.entries(shapes))('%s', async ([, shape]) => {
    for (const size of SIZES) {
      const seed = Date.now();
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
