import { jsonText } from '../compare.ts';
import { type CorpusQuery, HOUR, NOW, NOW_MICROS } from './rows.ts';

const one = (columns: string, row: Readonly<Record<string, unknown>>): CorpusQuery => ({
  sql: `select ${columns}`,
  expected: () => [row],
});

/** Values that depend on no event. */
export const CONSTANT: readonly CorpusQuery[] = [
  one(`cast(2.5 as int64) as up, cast(-2.5 as int64) as down, cast(2.4 as int64) as near`, {
    up: 3,
    down: -3,
    near: 2,
  }),
  one(`7 / 2 as half, div(7, 2) as whole, div(-7, 2) as cut, mod(-7, 2) as rest, 6 / 2 as three`, {
    half: 3.5,
    whole: 3,
    cut: -3,
    rest: -1,
    three: 3,
  }),
  one(
    `round(2.5) as a, round(3.5) as b, round(-2.5) as c, round(1.25, 1) as d, floor(-1.5) as e, ceil(1.2) as f, abs(-3) as g`,
    {
      a: 3,
      b: 4,
      c: -3,
      d: 1.3,
      e: -2,
      f: 2,
      g: 3,
    },
  ),
  one(`1 + 2 * 3 - 4 as a, (1 + 2) * 3 as b, -(-1) as c, 2 - 1 - 1 as d`, { a: 3, b: 9, c: 1, d: 0 }),
  one(
    `null and false as a, null and true as b, null or true as c, not null as d, null = null as e, null is null as f`,
    {
      a: false,
      b: null,
      c: true,
      d: null,
      e: null,
      f: true,
    },
  ),
  one(`1 in (1, null) as a, 2 in (1, null) as b, 2 not in (1, null) as c, 'a' not in ('b') as d`, {
    a: true,
    b: null,
    c: null,
    d: true,
  }),
  one(
    `length('é😀') as n, upper('straße é') is not null as u, lower('ÄÉ') as l, substr('é😀x', 2, 1) as s, concat('a', 'b', 'c') as c, 'a' || 'b' as d`,
    {
      n: 2,
      u: true,
      l: 'äé',
      s: '😀',
      c: 'abc',
      d: 'ab',
    },
  ),
  one(`'it\\'s' as a, "say \\"x\\"" as b, r'\\d+' as c, 'tab\\tend' as d, "it's" as e, '\\\\' as f`, {
    a: "it's",
    b: 'say "x"',
    c: '\\d+',
    d: 'tab\tend',
    e: "it's",
    f: '\\',
  }),
  one(
    `replace('a.b.c', '.', '-') as a, trim('  x ') as b, ends_with('abc', 'bc') as c, starts_with('abc', '') as d, starts_with(null, 'a') as e`,
    {
      a: 'a-b-c',
      b: 'x',
      c: true,
      d: true,
      e: null,
    },
  ),
  one(
    `timestamp_trunc(timestamp '2026-11-20 07:45:30.123456+00', minute) as m, timestamp_trunc(timestamp '2026-11-20 07:45:30', week) as w, timestamp_trunc(timestamp '2026-11-20', month) as mo, timestamp_trunc(timestamp '2026-11-20', year) as y`,
    {
      m: Date.parse('2026-11-20T07:45:00Z') * 1000,
      w: Date.parse('2026-11-15T00:00:00Z') * 1000,
      mo: Date.parse('2026-11-01T00:00:00Z') * 1000,
      y: Date.parse('2026-01-01T00:00:00Z') * 1000,
    },
  ),
  one(
    `timestamp_diff(timestamp '2026-11-20 01:00:00', timestamp '2026-11-20 00:00:01', hour) as a, timestamp_diff(timestamp '2026-11-20 00:59:59', timestamp '2026-11-20 01:00:00', minute) as b, timestamp_diff(timestamp '2026-11-21 00:00:00', timestamp '2026-11-20 00:00:00', day) as c`,
    {
      a: 0,
      b: 0,
      c: 1,
    },
  ),
  one(
    `extract(year from timestamp '2026-11-20 07:45:30') as y, extract(month from timestamp '2026-11-20 07:45:30') as m, extract(hour from timestamp '2026-11-20 07:45:30') as h, extract(dayofweek from timestamp '2026-11-20 07:45:30') as d, extract(dayofweek from timestamp '2026-11-22') as s`,
    {
      y: 2026,
      m: 11,
      h: 7,
      d: 6,
      s: 1,
    },
  ),
  one(
    `format_timestamp('%Y-%m-%dT%H:%M:%S', timestamp '2026-11-20 07:45:30.5') as a, format_timestamp('%F %T', timestamp '2026-01-02 03:04:05') as b`,
    {
      a: '2026-11-20T07:45:30',
      b: '2026-01-02 03:04:05',
    },
  ),
  one(
    `parse_timestamp('%Y-%m-%d', '2026-11-20') as a, parse_timestamp('%Y-%m-%d %H:%M:%S', '2026-11-20 07:45:30') as b, parse_timestamp('%Y-%m-%dT%H:%M:%SZ', '2026-11-20T07:45:30Z') as c`,
    {
      a: Date.parse('2026-11-20T00:00:00Z') * 1000,
      b: Date.parse('2026-11-20T07:45:30Z') * 1000,
      c: Date.parse('2026-11-20T07:45:30Z') * 1000,
    },
  ),
  one(
    `current_timestamp() as now, cast(current_timestamp as datetime) as at, timestamp_sub(current_timestamp(), interval 1 hour) as earlier`,
    {
      now: NOW_MICROS,
      at: NOW.slice(0, 19),
      earlier: NOW_MICROS - HOUR,
    },
  ),
  one(
    `cast('2026-11-20T07:00:00Z' as timestamp) as a, cast(timestamp '2026-11-20 07:00:00' as string) as b, cast(true as string) as c, cast(200 as string) as d, cast('7' as int64) as e, safe_cast('x' as int64) as f, safe_cast('1.5' as float64) as g`,
    {
      a: NOW_MICROS,
      b: '2026-11-20 07:00:00+00',
      c: 'true',
      d: '200',
      e: 7,
      f: null,
      g: 1.5,
    },
  ),
  one(
    `case 2 when 1 then 'one' when 2 then 'two' else 'many' end as a, case when false then 1 end as b, nullif(1, 1) as c, coalesce(null, 'x') as d, if(null, 'a', 'b') as e`,
    {
      a: 'two',
      b: null,
      c: null,
      d: 'x',
      e: 'b',
    },
  ),
  one(
    `json_value('{"a":{"b":[1,"two",true]}}', '$.a.b[1]') as a, json_value('{"a":1.50}', '$.a') as b, json_value('{"a":{}}', '$.a') as c, json_query('{"a": [1, 2]}', '$.a') as d, json_value('{"a":null}', '$.a') as e, json_value('{"a":true}', '$.a') as f`,
    {
      a: 'two',
      b: (text: unknown) => text === '1.50' || text === '1.5',
      c: null,
      d: jsonText([1, 2]),
      e: null,
      f: 'true',
    },
  ),
  one(`9007199254740993 as a, 9007199254740992 + 1 as b, 'x' = 'X' as c, 0.1 + 0.2 as d`, {
    a: 9007199254740993n,
    b: 9007199254740993n,
    c: false,
    d: 0.3,
  }),
];
