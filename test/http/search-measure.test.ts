import { afterAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../src/lib/random.ts';
import { isNumber } from '../../trial/oracle/number.ts';
import { type SearchedEvent, textOf } from '../../trial/oracle/search.ts';
import { expectError, get } from '../support/http.ts';
import { storeSearched } from '../support/matched.ts';
import { SEED } from '../support/property.ts';
import { startTestService } from '../support/service.ts';

// `measure` and `top` of `part=histogram`, against an oracle on random events.
const nowMs = Date.UTC(2026, 10, 20, 12);
const EDGE = 'cloudflare.logs.prod';
const FUNCTIONS = 'deno-relay-logs';
const SOURCES = [EDGE, FUNCTIONS];
const { core, url, close } = await startTestService({ now: nowMs });
afterAll(close);

const random = createRandom(`measure ${SEED}`);
const any = <T>(items: readonly T[]): T => random.pick(items.map((item) => [item] as const))[0];
// The same path is a column of numbers in one source, and JSON in the other.
const TIMES = [1, 2.5, '3', 'none', '05', 40, null, true, '1e400', -7, [5]];
const PATHS = ['/a', '/b', '/c', "/it's", '/e', '/f'];
const BUCKETS = 4;
const FROM_MS = nowMs - 3_600_000;

const events: SearchedEvent[] = Array.from({ length: 500 }, (_, i) => ({
  source: any(SOURCES),
  id: `e${i}`,
  timestamp: (FROM_MS + random.whole(0, 3_599_999)) * 1_000,
  project: 'aurora',
  event_message: 'request',
  metadata: {
    project_ref: 'aurora',
    execution_time_ms: any(TIMES),
    path: any([...PATHS, null, ...PATHS.slice(0, 2)]),
    response: { status_code: any([200, 404, 500, 'x']) },
  },
}));
await storeSearched(core, events, nowMs);

const ask = (parameters: Record<string, string>) =>
  get(
    url,
    `/api/search?${new URLSearchParams({ part: 'histogram', source: SOURCES.join(), buckets: String(BUCKETS), ...parameters })}`,
  );
const read = (event: SearchedEvent, field: string) =>
  textOf(event, core.registry.getSource(event.source), field.split('.'));

type Compute = (texts: readonly string[]) => number | null;
const ofNumbers =
  (compute: (numbers: readonly number[]) => number): Compute =>
  (texts) => {
    const numbers = texts
      .filter(isNumber)
      .map(Number)
      .toSorted((a, b) => a - b);
    return numbers.length === 0 ? null : compute(numbers);
  };
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const rank = (level: number) => ofNumbers((numbers) => Number(numbers[Math.floor(level * numbers.length)]));
const MEASURES: Readonly<Record<string, Compute>> = {
  avg: ofNumbers((numbers) => sum(numbers) / numbers.length),
  sum: ofNumbers(sum),
  p50: rank(0.5),
  p95: rank(0.95),
  p99: rank(0.99),
  distinct: (texts) => new Set(texts).size,
};

/** The most frequent values, the first in the order of bytes among equals. */
function topOf(by: string, top: number): string[] {
  const counts = Map.groupBy(events, (event) => read(event, by));
  return [...counts]
    .flatMap(([value, all]) => (value === null ? [] : [{ value, n: all.length }]))
    .toSorted((a, b) => b.n - a.n || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)))
    .slice(0, top)
    .map(({ value }) => value);
}

function expectedRows(measure: string, by: string, top: number) {
  const kept = topOf(by, top);
  const groups = Map.groupBy(events, (event) => {
    const slot = Math.floor((event.timestamp / 1_000 - FROM_MS) / (3_600_000 / BUCKETS));
    const value = read(event, by);
    const other = value !== null && !kept.includes(value);
    return JSON.stringify([slot, other ? null : value, other]);
  });
  return [...groups].flatMap(([key, own]) => {
    const [slot, value, other] = JSON.parse(key) as [number, string | null, boolean];
    const texts = own.flatMap((event) => read(event, 'execution_time_ms') ?? []);
    const measured = MEASURES[measure]?.(texts) ?? null;
    if (measured === null) return [];
    const timestamp = (FROM_MS + (slot * 3_600_000) / BUCKETS) * 1_000;
    return [{ timestamp, [by]: value, count: own.length, value: expect.closeTo(measured, 6), other }];
  });
}

const sorted = (rows: readonly object[], by: string) =>
  rows.toSorted((a, b) => {
    const [x, y] = [a, b].map((row) => {
      const { timestamp, other, [by]: value } = row as Record<string, unknown>;
      return `${timestamp} ${other} ${value}`;
    });
    return (x ?? '') < (y ?? '') ? -1 : 1;
  });

test.each(Object.keys(MEASURES))('%s of a field by the top of another, as an oracle has it', async (name) => {
  for (const by of ['path', 'level', 'source']) {
    const { body, text } = await ask({ measure: `${name}(execution_time_ms)`, by, top: '2' });
    expect(sorted(body.result, by), text.slice(0, 500)).toEqual(sorted(expectedRows(name, by, 2), by));
  }
});

test('says that a text has no numbers', async () => {
  const { body, headers } = await ask({ measure: 'p95(event_message)' });
  expect(body.result).toEqual([]);
  expect(headers.get('x-tailrace-hint')).toContain('no number was found in event_message');
});

describe('rejects', () => {
  test.each([
    [{ measure: 'median(x)' }, 'must be one of count, avg(field)'],
    [{ measure: "sum(x'); DROP TABLE edge_logs; --" }, 'must be one of count'],
    [{ measure: 'avg(level)' }, 'write distinct(level)'],
    [{ measure: 'avg(x)', by: 'value' }, 'write metadata.value'],
    [{ top: '51' }, 'top'],
  ])('%j', async (parameters, message) => {
    const answer = await ask(parameters);
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.message).toContain(message);
  });
});
