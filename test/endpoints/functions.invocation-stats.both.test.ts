import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireEvent } from '../../trial/oracle/event.ts';
import { type InvocationBucket, invocationStats } from '../../trial/oracle/invocation-stats.ts';
import { runs, SEED, weighted } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { clock, instantAround, MINE, projectValue, rename, renameProjects } from './generate.ts';
import { ask, type Row } from './support.ts';

const SOURCE = 'deno-relay-logs';
const NAME = 'functions.invocation-stats';
const INTERVALS = ['5min', '15min', '1hr', '1day', '7day'];
const JUNK_INTERVALS = [undefined, '', '1DAY', ' 1day', '5 min', 'hourly', "1hr' OR 1", '30day', 'null'];

const service = await ownService();
let cases = 0;

const wrongTime = fc.constantFrom('12', '', null, true, [3], { ms: 3 });
const time = weighted(
  [4, fc.double({ min: 0, max: 400_000, noNaN: true, noDefaultInfinity: true })],
  [2, fc.integer({ min: 0, max: 10_000 })],
  [2, wrongTime],
  [1, fc.constantFrom(2 ** 31, 1e17, 1.7e308, 3.5e38, 1e-12, 1e-300, -0.5, -1e300)],
);
const status = fc.constantFrom<unknown[]>(
  ...[99, 100, 199, 200, 204, 299, 302, 399, 400, 401, 499, 500, 599, 600, -1, 0],
  ...['500', null, true, [500], 4e2],
);
const response = weighted(
  [8, fc.record({ status_code: status }, { requiredKeys: [] })],
  [1, fc.constantFrom<unknown[]>(null, 500, 'x', [{ status_code: 500 }])],
);
const functionId = fc.constantFrom<unknown[]>('f1', 'f1', 'f2', 'F1', 'f', 'f11', '', null, 1, ['f1']);
const fields = { project_ref: projectValue, project: projectValue, function_id: functionId };
const record = fc.record({ ...fields, execution_time_ms: time, response }, { requiredKeys: [] });
const metadata = weighted([12, record], [1, fc.constantFrom<unknown[]>(null, [], 'text', 5)]);

function invocations(now: number, sizeMax: number): fc.Arbitrary<WireEvent[]> {
  const event = fc.record(
    { id: fc.uuid(), timestamp: instantAround(now), project: projectValue, metadata },
    { requiredKeys: ['id', 'timestamp'] },
  );
  return fc.array(event, { maxLength: sizeMax, size: 'max' });
}

const situation = clock.chain((now) => fc.record({ now: fc.constant(now), events: invocations(now, 60) }));

async function answerFor(
  events: readonly WireEvent[],
  nowMs: number,
  asked: Record<string, string | undefined>,
) {
  service.clock.now = nowMs;
  const unique = cases++;
  const own = renameProjects(events, unique);
  const project = rename(asked['project'] ?? MINE, unique);
  await storeEvents(service.core, SOURCE, own, nowMs);
  const { rows } = await ask(service.url, NAME, { ...asked, project });
  const expected = invocationStats(own, {
    project,
    functionId: asked['function_id'] ?? '',
    interval: asked['interval'] ?? '',
    now: nowMs * 1000,
  });
  return { rows, expected };
}

describe('random invocations', () => {
  test.for([
    ...INTERVALS.map((interval) => [interval, [interval]] as const),
    ['1day', JUNK_INTERVALS] as const,
  ])('are put in the buckets of %s as the oracle does, asked for by one of %j', async ([, intervals]) => {
    const ids = fc.constantFrom('f1', 'f2', 'f', 'none', '', undefined);
    const asked = fc.record({ interval: fc.constantFrom(...intervals), function_id: ids });
    const property = fc.asyncProperty(situation, asked, async ({ now, events }, parameters) => {
      const { rows, expected } = await answerFor(events, now, parameters);
      expectStats(rows, expected);
    });
    await fc.assert(property, runs(20));
  });

  test('belong to their own project only, whatever the names of others hold', async () => {
    const names = ['acme-eu', 'my-acme', 'acm', 'ACME', 'acme ', 'acm_', '%', "acme' OR '1'='1"];
    const projects = fc.constantFrom(...names);
    const property = fc.asyncProperty(situation, projects, async ({ now, events }, name) => {
      // Names without ours in them are shared by all cases, so the case asks for one of its own.
      const project = name.toLowerCase().includes(MINE) ? name : `${name}${MINE}`;
      const { rows, expected } = await answerFor(events, now, { project, interval: '7day' });
      expectStats(rows, expected);
    });
    await fc.assert(property, runs(15));
  });
});

describe('one bucket', () => {
  const now = Date.parse('2028-02-29T23:59:59.999Z');
  const askFor = async (times: readonly unknown[], status = (_: number) => 200) => {
    const events = times.map((execution_time_ms, i) => {
      const response = { status_code: status(i) };
      const metadata = { project_ref: MINE, execution_time_ms, response };
      return { id: `e${i}`, timestamp: now * 1000 - i, metadata };
    });
    const { rows, expected } = await answerFor(events, now, { interval: '7day' });
    expect(rows).toHaveLength(1);
    expectStats(rows, expected);
    return rows[0] ?? {};
  };

  /** Execution times, by their place in the order of storing and a number from 0 up to 1. */
  const shapes: Record<string, (i: number, random: number) => number> = {
    'spread evenly': (_, random) => random * 1000,
    'with a long tail': (_, random) => Math.exp(12 * random),
    'in falling order': (i) => 1e6 - i,
    'within ten of sixty thousand': (_, random) => 60_000 + 10 * random,
    'mostly ties, of both signs': (_, random) => Math.floor(random * 3) - 1,
    'beyond single precision': (_, random) => 1e39 + random * 1e300,
    'of every magnitude': (i, random) => (i % 2 === 0 ? -1 : 1) * 10 ** (random * 600 - 300),
  };

  // Around the numbers of times at which a rank is a whole number.
  test.for(Object.entries(shapes))('has the percentiles of times %s', async ([, shape]) => {
    for (const size of [1, 2, 19, 20, 21, 99, 100, 101, 250]) {
      const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { numRuns: size, seed: SEED });
      await askFor(random.map((number, i) => shape(i, number)));
    }
  });

  test('of 200 times has the 190th as its p95 and the 198th as its p99', async () => {
    const time = (i: number) => 56 + i; // whole numbers of 8 bits
    const row = await askFor(Array.from({ length: 200 }, (_, i) => time((i * 77) % 200)));
    expect(row).toMatchObject({ min_execution_time: 56, p95_execution_time: time(189) });
    expect(row).toMatchObject({ p99_execution_time: time(197), max_execution_time: time(199) });
  });

  test('has an average within the range of times whose sum would overflow', async () => {
    const row = await askFor([1.7e308, 1.7e308]);
    expect(row).toMatchObject({ avg_execution_time: 1.7e308, p95_execution_time: 1.7e308 });
  });

  test('has a count and nothing else without any time', async () => {
    expect(Object.values(await askFor([null])).slice(1)).toEqual([null, null, null, null, null, 1, 0]);
  });

  test('counts all of more than a thousand records, those without a time too', async () => {
    const times = Array.from({ length: 2500 }, (_, i) => (i % 3 === 0 ? null : i));
    expect(await askFor(times, (i) => 398 + (i % 4))).toMatchObject({ count: 2500, error_count: 1250 });
  });
});

describe('the edges of the range', () => {
  const now = Date.parse('2026-11-20T07:00:00.000Z');

  test('the first bucket starts where the range does, cut down to the width, and takes that very microsecond', async () => {
    const first = Date.parse('2026-11-19T07:00:00.000Z') * 1000;
    const at = (timestamp: number) => ({ id: `${timestamp}`, timestamp, metadata: { project_ref: MINE } });
    const onTheEdge = await answerFor([at(first - 1), at(first), at(first + 1)], now, { interval: '1day' });
    expect(onTheEdge.rows.map((row) => [row['timestamp'], row['count']])).toEqual([[first, 2]]);

    // One millisecond earlier the range starts within the bucket before, and all of that bucket is covered.
    const before = first - 3600 * 1_000_000;
    const past = await answerFor([at(before - 1), at(before), at(first)], now - 1, { interval: '1day' });
    expect(past.rows.map((row) => [row['timestamp'], row['count']])).toEqual([
      [before, 1],
      [first, 1],
    ]);
  });

  test('counts are JSON numbers and timestamps whole microseconds', async () => {
    const metadata = { project_ref: 'as-text', execution_time_ms: 100.3 };
    service.clock.now = now;
    await storeEvents(service.core, SOURCE, [{ id: 'a', timestamp: now * 1000, metadata }], now);
    const { text } = await ask(service.url, NAME, { project: 'as-text', interval: '5min' });
    expect(text).toBe(
      '{"result":[{"timestamp":1795158000000000,"min_execution_time":100.3,"max_execution_time":100.3,' +
        '"avg_execution_time":100.3,"p95_execution_time":100.3,"p99_execution_time":100.3,"count":1,"error_count":0}]}',
    );
  });
});

const TIMES = ['min', 'max', 'avg', 'p95', 'p99'].map((what) => `${what}_execution_time`);
const COLUMNS = ['timestamp', ...TIMES, 'count', 'error_count'];

/** Rows are those of the oracle, in order; averages within the precision of their sums. */
function expectStats(rows: readonly Row[], expected: readonly InvocationBucket[]): void {
  expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => COLUMNS));
  const exact = ({ timestamp, count, error_count, min_execution_time, max_execution_time }: Row) => {
    return { timestamp, count, error_count, min_execution_time, max_execution_time };
  };
  expect(rows.map(exact)).toEqual(
    expected.map(({ timestamp, count, errorCount, times }) => ({
      timestamp,
      count,
      error_count: errorCount,
      min_execution_time: times[0] ?? null,
      max_execution_time: times.at(-1) ?? null,
    })),
  );
  for (const [i, { times }] of expected.entries()) {
    const row = rows[i] ?? {};
    expectAverage(row['avg_execution_time'], times);
    expectPercentile(row['p95_execution_time'], times, 95);
    expectPercentile(row['p99_execution_time'], times, 99);
    if (times.length > 0)
      expect(row['p99_execution_time']).toBeGreaterThanOrEqual(Number(row['p95_execution_time']));
  }
}

// Times are added up in units of 10^-20 ms; longer times count as the longest.
const UNIT_MS = 1e-20;
const LONGEST_MS = 1e38;

function expectAverage(given: unknown, times: readonly number[]): void {
  if (times.length === 0) {
    expect(given).toBeNull();
    return;
  }
  const counted = times.map(toCounted);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const [least = 0, most = 0] = [times[0], times.at(-1)];
  const average = Math.min(Math.max(sum(counted) / counted.length, least), most);
  expect(given).toBeGreaterThanOrEqual(least);
  expect(given).toBeLessThanOrEqual(most);
  expect(given).toBeTypeOf('number');
  // What a sum in the oracle's own order may be off by grows with the values, not with their sum.
  const error = (1e-12 * sum(counted.map(Math.abs))) / counted.length;
  expect(Math.abs(Number(given) - average)).toBeLessThanOrEqual(error + UNIT_MS);
}

function toCounted(time: number): number {
  return Math.min(Math.max(time, -LONGEST_MS), LONGEST_MS);
}

/** The nearest rank: the smallest time to which at least this share of all times is not greater. */
function expectPercentile(given: unknown, times: readonly number[], percent: number): void {
  const rank = Math.ceil((percent * times.length) / 100); // whole numbers: 0.95 * 20 would be a hair off
  const time = times[rank - 1];
  const [shortest, longest] = [times[0], times.at(-1)];
  if (time === undefined || shortest === undefined || longest === undefined) {
    expect(given).toBeNull();
    return;
  }
  expect(given).toBeGreaterThanOrEqual(shortest);
  expect(given).toBeLessThanOrEqual(longest);
  const size = Math.abs(time) < LEAST_MS ? 0 : Math.min(Math.abs(time), MOST_MS);
  const expected = Math.min(Math.max(Math.sign(time) * size, shortest), longest);
  expect(Math.abs(Number(given) - expected)).toBeLessThanOrEqual(Math.abs(expected) * PERCENTILE_ERROR);
}

// A time of a percentile counts as 0 below the first, and as the second above it.
const LEAST_MS = 2 ** -20;
const MOST_MS = 2 ** 43;
const PERCENTILE_ERROR = 0.001;
