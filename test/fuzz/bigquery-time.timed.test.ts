import { afterAll, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { translateBigQuery } from '../../src/dialect/bigquery/translate.ts';
import { TailraceError } from '../../src/errors.ts';
import { createRandom } from '../../src/lib/random.ts';
import { randomExpression } from '../../trial/fuzz/bigquery-expressions.ts';
import { SHAPES } from '../../trial/fuzz/bigquery-shapes.ts';
import { coreMs, growth } from '../../trial/growth.ts';
import { openStudio } from '../dialect/studio.ts';
import { SEED, sample, scale } from '../support/property.ts';

// Time on a core that a caller's text may hold the thread that answers requests.
const MS_MAX = 50;
const GROWTH_MAX = 3;
// Below it a clock measures itself.
const MEASURABLE_MS = 1;
// Longest text that is read, and more than the repetitions in it.
const BYTES_MAX = 64 * 1024;
const REPETITIONS_MAX = 4_096;

const NOW = Date.UTC(2026, 10, 20, 12);
const { definitions } = await readDefinitions({ endpointsDir: 'studio/endpoints', sourcesDir: 'sources' });
const { dialect } = definitions.endpoints.find(({ name }) => name === 'logs.all') ?? {};
const views = new Map(
  [...(dialect?.tables ?? [])].map(([table, columns]) => [table, { columns, untyped: 'untyped' }]),
);
const now = '2026-11-20 12:00:00.000000';

/** Whether a text is understood. @throws other errors than a refusal */
function isAccepted(sql: string): boolean {
  try {
    translateBigQuery(sql, { views, now, quotes: 'doubled' });
    return true;
  } catch (error) {
    if (error instanceof TailraceError && error.code === 'invalid_parameter') return false;
    throw error;
  }
}

type Make = (n: number) => string;

/** The most repetitions for which a predicate holds, 0 if it never does. */
function most(holds: (n: number) => boolean): number {
  let [low, high] = [0, REPETITIONS_MAX];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const mostInBytes = (make: Make) => most((n) => Buffer.byteLength(make(n)) <= BYTES_MAX);
const mostAccepted = (make: Make) => most((n) => isAccepted(make(n)));

describe.for(SHAPES.map(({ name, make }) => [name, make] as const))('%s', ([, make]) => {
  test('is translated in a time in proportion to the text, far below the bound', () => {
    const accepted = mostAccepted(make);
    const longest = mostInBytes(make);
    // The largest text that is accepted, the first one that is not, and the longest that is looked at.
    for (const n of new Set([accepted, accepted + 1, 2 * accepted, longest])) {
      if (n === 0 || n > longest) continue;
      const sql = make(n);
      expect(
        coreMs(() => isAccepted(sql)),
        `${n} times: ${sql.slice(0, 100)}`,
      ).toBeLessThan(MS_MAX);
    }
    const ms = coreMs(() => isAccepted(make(accepted)));
    if (accepted < 8 || ms < MEASURABLE_MS) return;
    const grown = growth((n) => isAccepted(make(n)), Math.floor(accepted / 4));
    expect(grown, `${accepted} times, ${ms} ms`).toBeLessThan(GROWTH_MAX);
  });
});

test('expressions of any forms are translated far below the bound', () => {
  const random = createRandom(`bigquery ${SEED}`);
  const from = 'from edge_logs as t cross join unnest(t.metadata) as m';
  let accepted = 0;
  for (let i = 0; i < scale(400); i++) {
    const list = Array.from(
      { length: random.whole(1, 20) },
      (_, at) => `${randomExpression(random, random.whole(1, 24))} as c${at}`,
    );
    const where = random.pick(['', ` where ${randomExpression(random, random.whole(1, 24))}`]);
    const sql = `select ${list.join(', ')} ${from}${where}${random.pick(['', ' group by 1', ' group by m.a', ' order by 1'])}`;
    const startMs = performance.now();
    if (isAccepted(sql)) accepted++;
    if (performance.now() - startMs > MS_MAX / 5)
      expect(
        coreMs(() => isAccepted(sql)),
        sql,
      ).toBeLessThan(MS_MAX);
  }
  expect(accepted).toBeGreaterThan(scale(400) / 8);
});

describe('on the thread that answers requests', async () => {
  const studio = await openStudio(NOW);
  afterAll(studio.close);

  /** The longest time on a core between two turns of the event loop while something runs, ms. */
  async function longestTurn(work: () => Promise<unknown>): Promise<number> {
    let longest = 0;
    let isOver = false;
    let before = process.threadCpuUsage();
    const measure = () => {
      const { user, system } = process.threadCpuUsage(before);
      before = process.threadCpuUsage();
      longest = Math.max(longest, (user + system) / 1_000);
      if (!isOver) setImmediate(measure);
    };
    measure();
    await work();
    isOver = true;
    measure();
    return longest;
  }

  test.for(sample(SHAPES).map(({ name, make }) => [name, make] as const))(
    '%s: read, translated and checked in turns far below the bound',
    async ([, make]) => {
      for (const n of [mostAccepted(make), Math.floor(mostAccepted(make) / 3), mostInBytes(make)]) {
        const sql = make(Math.max(n, 1));
        // The shorter of two: other work of the process, such as collecting garbage, takes turns, too.
        const turns = [
          await longestTurn(() => studio.ask(sql, 'a')),
          await longestTurn(() => studio.ask(`${sql} `, 'a')),
        ];
        expect(Math.min(...turns), `${n} times: ${sql.slice(0, 100)}`).toBeLessThan(MS_MAX);
      }
    },
  );
});
