import fc from 'fast-check';
import type { Json, TableEvent, Tables } from '../../../trial/oracle/bigquery/value.ts';
import { SCHEMA, type Shape, TABLES, type Table } from './schema.ts';

/** Texts that a query may compare with, and some that break naive quoting, collation or counting of characters. */
export const TEXTS = [
  'GET',
  'POST',
  '/rest/v1/todos',
  '/auth/v1/token',
  'ERROR',
  'error',
  'LOG',
  'info',
  '',
  'é😀',
  'Straßen-Ärger',
  'it\'s \\ "quoted"',
  'a\nb',
  '100%_x',
  'null',
  '7',
] as const;

export const MESSAGES = [
  'GET | 200 | /rest/v1/todos',
  'connection authorized: user=postgres',
  '',
  'é😀 Ärger',
  'line one\nline two',
  '{"level":"error","status":500,"deep":{"x.y":"dotted","list":[1,{"z":"é"}]},"ok":true,"none":null}',
  '{"level":"info","status":"200","msg":"request completed"}',
  '{"level":',
  '[1,"two"]',
] as const;

const NUMBERS = [0, 7, 200, 204, 404, 499, 500, 503, -1, 2.5, 99.75] as const;
const BIG = [9007199254740993n, 9223372036854775807n, -9223372036854775807n] as const;

const text: fc.Arbitrary<Json> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Json[]>(...TEXTS) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const mixed: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Json[]>(...NUMBERS) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS).map(String) },
  { weight: 2, arbitrary: fc.constantFrom<Json[]>(null, '', 'abc', '12abc', true) },
);
const big: fc.Arbitrary<Json> = fc.oneof(
  { weight: 2, arbitrary: mixed },
  { weight: 3, arbitrary: fc.constantFrom<Json[]>(...BIG, ...BIG.map(String)) },
);
const FIELDS = { text, mixed, big };
const dotted: fc.Arbitrary<Record<string, Json>> = fc.constantFrom<Record<string, Json>[]>(
  {},
  {},
  {
    'request.method': 'DOTTED',
    'parsed.error_severity': 'DOTTED',
    'method.': 1,
    'a.b': 'DOTTED',
  },
);

/** A record of a shape: an object, a list of several, a list of none, null, or something that is no record. */
function record(shape: Shape): fc.Arbitrary<Json> {
  const members = Object.entries(shape).map(([name, of]) => [
    name,
    typeof of === 'string' ? FIELDS[of] : record(of),
  ]);
  const one: fc.Arbitrary<Json> = fc
    .tuple(fc.record(Object.fromEntries(members), { requiredKeys: [] }), dotted)
    .map(([own, extra]) => ({ ...own, ...extra }));
  return fc.oneof(
    { weight: 12, arbitrary: one },
    { weight: 3, arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: fc.constantFrom<Json[]>([], null, 'text', 7, [null], [[]]) },
    { weight: 1, arbitrary: one.map((found) => [null, found]) },
  );
}

/** The newest instant of a hostile event, µs. */
export const NEWEST = Date.parse('2026-11-20T06:59:59.999Z') * 1000 + 999;
const SPAN = 3 * 86_400 * 1_000_000;

function events(table: Table, size: number): fc.Arbitrary<TableEvent[]> {
  const ago = fc.oneof(
    fc.integer({ min: 0, max: SPAN }),
    fc.integer({ min: 0, max: 10 }),
    fc.integer({ min: 0, max: 72 }).map((hours) => Math.max(0, hours * 3_600_000_000 - 1)),
  );
  const event = fc.record({
    ago,
    event_message: fc.constantFrom<string[]>(...MESSAGES),
    metadata: fc.option(record(SCHEMA[table]), { nil: undefined, freq: 15 }),
  });
  return fc.array(event, { minLength: size, maxLength: size }).map((all) =>
    all.map(({ ago: before, ...own }, i) => ({
      ...own,
      id: `${table}-${i}`,
      timestamp: NEWEST - before - i,
    })),
  );
}

/** Events of each table that break what a translator may take for granted. */
export function hostileTables(seed: number, size: number): Tables {
  const pairs = TABLES.map((table, i) => [
    table,
    fc.sample(events(table, size), { numRuns: 1, seed: seed + i })[0],
  ]);
  return Object.fromEntries(pairs);
}
