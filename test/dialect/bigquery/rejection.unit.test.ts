import { expect, test } from 'vitest';
import { TailraceError } from '../../../src/errors.ts';
import { translate } from './views.ts';

const M = 'from edge_logs as t cross join unnest(metadata) as m';

const TICK = '`';

/** What is not understood, and after an arrow what the message says about it. `--` begins a heading. */
const REJECTED = String.raw`
-- Clauses in another place than BigQuery's, and texts that it does not have.
select id from edge_logs limit 1 union all select id from postgres_logs
  → has UNION where the end belongs; known is UNION ALL, between SELECTs without ORDER BY and LIMIT, or in brackets
select 0x10 as n → has "0x10
select b'x' as b → bytes
select '\q' as b → the escape \q
select id = event_message = id from edge_logs → has "=" where the end belongs
-- Other statements and set operations.
update edge_logs set id = 1 where true → has "update" where a SELECT belongs at line 1, column 1
select 1 as a; select 2 as b → has ";" where the end belongs at line 1, column 14
select id from edge_logs union distinct select id from edge_logs
  → has UNION where the end belongs; known is UNION ALL, between SELECTs without ORDER BY and LIMIT, or in brackets
select id from edge_logs intersect distinct select id from edge_logs → has INTERSECT where the end belongs
-- Clauses.
select id from edge_logs limit @n → has "@n", which is not understood
select id from edge_logs limit '3' → has the text "3" where a whole number belongs at line 1, column 32
select id from edge_logs order by 3 → names column 3 by its place; there are 1
select id from edge_logs group by rollup(id) → calls rollup, which is not understood
select as struct id from edge_logs → has AS where a value belongs
select id, event_message as id from edge_logs → two columns id
select id as 'x' from edge_logs
  → has the text "x" where a plain name, of letters, digits and underscores, without quotes belongs
select count(*) over (partition by id) as n from edge_logs → has PARTITION where the closing bracket of OVER () belongs
select count(*) over (order by id) as n from edge_logs → has ORDER where the closing bracket of OVER () belongs
select count(*) over w as n from edge_logs window w as (order by id) → has "w" where "(" belongs
select count(*) over (rows between 1 preceding and current row) as n from edge_logs
  → has ROWS where the closing bracket of OVER () belongs
select id from edge_logs for system_time as of current_timestamp() → has FOR where the end belongs
select id from edge_logs where id ilike 'x' → has ILIKE where the end belongs; write lower(x) LIKE '…'
select id from edge_logs where true qualify count(*) over () > 1 → has QUALIFY
select string_agg(distinct id) as x from edge_logs → calls string_agg, which is not understood
select string_agg(id, ',' order by id) as x from edge_logs
  → has ORDER where a comma or the closing bracket of string_agg belongs
select array_agg(id ignore nulls) as x from edge_logs → has IGNORE where a comma or the closing bracket of array_agg belongs
select extract(hour from timestamp at time zone 'UTC') as x from edge_logs
  → has AT where the closing bracket of EXTRACT belongs
select extract('hour' from timestamp) as x from edge_logs
  → where a part of a time, such as HOUR, belongs at line 1, column 16
select timestamp from edge_logs where timestamp > interval 1 hour → has INTERVAL in a place
select id from edge_logs where id is distinct from 3 → has DISTINCT where NULL, TRUE or FALSE belongs
select id from edge_logs where id like any ('a') → calls any, which is not understood
select 7 % 2 as x → has "%" where the end belongs; write mod(a, b)
select numeric '1.5' as x → has the text "1.5" where the end belongs
select * replace (1 as id) from edge_logs → has "replace" where the end belongs
select true = not false as x → has NOT where a value belongs
with a as (select 1 as n), A as (select 2 as n) select n from a
  → two members A of WITH; give each its own name at line 1, column 28
with a (n) as (select 1) select n from a → has "(" where AS belongs
select id from edge_logs order → has ORDER where the end belongs
select id from (edge_logs join postgres_logs using (id)) → has "edge_logs" where a SELECT belongs
select case 1 end as x → has END where WHEN belongs
select count(distinct *) as x from edge_logs → has "*" where a value belongs
select sum(*) as x from edge_logs → calls sum with *
select id from edge_logs where id = 'a' 'b' → has the text "b" where the end belongs
-- Tables and joins.
select id from secret_logs → reads secret_logs, which is not known
select id from system.edge_logs → reads system.edge_logs
select id from ${TICK}a.b.edge_logs${TICK} → reads a.b.edge_logs
select * from file('/etc/passwd') → file
select id from edge_logs right join postgres_logs using (id)
  → has RIGHT where the end belongs; known are JOIN, LEFT JOIN and CROSS JOIN at line 1, column 26
select id from edge_logs natural join postgres_logs → has NATURAL where the end belongs
select id from edge_logs join postgres_logs → JOIN without ON or USING
select id from edge_logs join postgres_logs using (level) → USING (level)
select t.id from edge_logs as t join postgres_logs as t using (id) → has t twice in FROM
select 1 ${M} cross join unnest(m.response) as M → has M twice in FROM
select id from edge_logs, postgres_logs → id is in edge_logs and postgres_logs
select m.x ${M} with offset as o → has WITH where the end belongs
select x from unnest([1, 2]) as x → has "[" where a value belongs
select x from unnest(1) as x → UNNEST of something else
select x.y ${M} cross join unnest(timestamp) as x → UNNEST of timestamp, which is not a record
select r.y ${M} left join unnest(m.response) as r on r.x = 1 → ON after UNNEST
select status_code ${M} cross join unnest(response) as a cross join unnest(response) as b
  → has an ambiguous name: status_code is in b and a; write the record before it at line 1, column 8
select level from function_logs as f, unnest(f.metadata), postgres_logs as p, unnest(p.metadata) as m, unnest(x) as y
  → has an ambiguous name: x may be in m and a record without a name; write the record before it
select m.* ${M} → * of an unnested record
select * except (nothing) from edge_logs → EXCEPT of what is not a column
select id from edge_logs where timestamp < timestamp_add(current_timestamp(), interval 999999999 day)
  → beyond the years 1900 to 2255
-- Names.
select nothing from edge_logs → has the name nothing, which is not known there
select x.y ${M} → has the name x.y
select id from edge_logs where id in (select o.id from postgres_logs where t.id = o.id) → has the name
-- Functions, operators and types.
select sleep(3) as x → calls sleep
select safe.parse_timestamp("%F", id) as x from edge_logs → calls safe.parse_timestamp
select starts_with(id) as x from edge_logs → calls starts_with with 1 arguments; it takes 2
select array_agg(id) as x from edge_logs → calls array_agg
select sum(distinct 1) as x from edge_logs → has DISTINCT in sum
select [1, 2] as x → has "[" where a value belongs
select struct(1) as x → has STRUCT
select (1, 2) as x → has "," where an operator or a closing bracket belongs
select split(id, '-')[offset(0)] as x from edge_logs → calls split
select approx_quantiles(m.x, 100)[safe_offset(1)] as x ${M} → has "safe_offset" where OFFSET(…) belongs
select approx_quantiles(m.x, 4)[offset(5)] as x ${M} → an offset beyond the 5 members
select approx_quantiles(m.x, 4) as x ${M} → has the array x in its answer
select cast(m.x as bytes) as x ${M} → casts to BYTES
select m.a < m.b as x ${M} → compares two fields of the metadata by <
select id > 3 as x from edge_logs → compares a string with a int64
select timestamp > 'yesterday' as x from edge_logs → "yesterday", which is not a timestamp
select lower(timestamp) as x from edge_logs → has a timestamp where a string belongs
select id + 1 as x from edge_logs → has a string where a float64 belongs
select timestamp + 1 as x from edge_logs → has a timestamp where
select timestamp_trunc(timestamp, fortnight) as x from edge_logs → the part fortnight of a time
select timestamp_diff(timestamp, timestamp, month) as x from edge_logs → the part month of a time
select format_timestamp('%Q', timestamp) as x from edge_logs → has %Q in a format
select parse_timestamp('%d/%m', id) as x from edge_logs → has the format
select regexp_contains(id, '(') as x from edge_logs → not a regular expression
select regexp_extract(id, '(a)(b)') as x from edge_logs → a pattern of 2 groups
select regexp_extract(id, '(') as x from edge_logs → not a regular expression
select regexp_extract(id, '(a{1000}){1000}') as x from edge_logs → has a pattern that is too large
select regexp_extract(id, 'a', 0) as x from edge_logs → both count from 1
select regexp_extract(id, 'a', 1, -1) as x from edge_logs → without a whole number
select regexp_extract(id, '^a', 1, 2) as x from edge_logs → an occurrence beyond 1 and
select regexp_extract(id, '[0-9]*', 1, 2) as x from edge_logs → an occurrence beyond 1 and
select regexp_contains(id, event_message) as x from edge_logs → without a string in quotes
select id like event_message as x from edge_logs → LIKE without a string in quotes
select json_value(metadata, 'a b') as x from edge_logs → has the path "a b"
select json_value(metadata, id) as x from edge_logs → no path in quotes
select id not in (select id from edge_logs) as x, exists(select 1) from edge_logs → has EXISTS
select 9223372036854775808 as x → beyond INT64
select if(true, 1, 'x') as x → has a int64 and a string
select id from edge_logs union all select timestamp from edge_logs → column id of UNION ALL
select id from edge_logs union all select id, timestamp from edge_logs → different numbers of columns
`.matchAll(/^(?!-- )(.+?)\s+→ (.+)$/gm);

test.each([...REJECTED].map(([, sql = '', message = '']) => [sql, message]))('rejects %s', (sql, message) => {
  expect(() => translate(sql)).toThrowError(TailraceError);
  expect(() => translate(sql)).toThrowError(message);
});

test.each([
  "insert into edge_logs (id) values ('x')",
  'create temp function f(x string) returns string language js as "return x"; select f(id) from edge_logs',
  'declare x int64 default 1; select x',
  'with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select n from r',
  "select * from (select id, 1 as n from edge_logs) pivot (sum(n) for id in ('a', 'b'))",
  'select id from edge_logs tablesample system (10 percent)',
  "from edge_logs |> where id = 'x' |> select id",
  'select id from edge_logs @{force_index=x}',
  'select id from edge_logs where id = ?',
  "select * from external_query('connection', 'select 1')",
  'select id from `edge_*`',
])('rejects %s, with the place', (sql) => {
  expect(() => translate(sql)).toThrowError(/ at line 1, column \d+/);
});

test('says where, in the lines of the caller', () => {
  expect(() => translate("select id, -- 'a'\n  'é' as x,\n  nothing\nfrom edge_logs")).toThrowError(
    'line 3, column 3',
  );
  expect(() => translate('select id\nfrom edge_logs\nwhere id = = 3')).toThrowError('line 3, column 12');
});

const LEVELS = 'at most 24 levels of brackets, calls, casts, CASE, NOT and signs';

const times = (count: number, text: string) => Array.from({ length: count }, () => text);

test.each([
  ['a long list', `select ${times(40_000, '1').join(', ')}`, 'at most 65536 bytes'],
  ['many words', `select ${times(3_000, '1').join(' + ')} as n`, 'at most 2000 words and signs'],
  ['deep brackets', `select ${times(500, '(').join('')}1${times(500, ')').join('')} as n`, LEVELS],
  ['deep SELECTs', `${times(30, 'select * from (').join('')}select 1 as n${times(30, ')').join('')}`, LEVELS],
  [
    'SELECTs as values',
    `select ${times(30, '(select ').join('')}1 as a${times(30, ') as a').join('')}`,
    LEVELS,
  ],
  [
    'functions that write their argument several times',
    `select ${times(8, 'json_query(').join('')}metadata${times(8, ", '$[0][0][0]')").join('')} as x from edge_logs`,
    'too large',
  ],
  [
    'deep CASE',
    `select ${times(30, 'case when true then').join(' ')} 1 ${times(30, 'end').join(' ')}`,
    LEVELS,
  ],
  [
    'many tables',
    `select 1 from edge_logs as a0 ${times(45, '')
      .map((_, i) => `, unnest(a0.metadata) as m${i}`)
      .join('')}`,
    'at most 20 tables and records',
  ],
  [
    'a long number with a letter after it, which a pattern could split in many ways',
    `select ${'1'.repeat(60_000)}a`,
    'which is not understood',
  ],
  ['long sums', `select ${times(70, '1').join(' + ')} as n`, 'at most 48 of + - * / in a row'],
  ['many SELECTs', times(30, 'select 1 as n').join(' union all '), 'at most 20 SELECTs'],
  ['many columns', `select ${times(300, '1').map((one, i) => `${one} as a${i}`)}`, 'more than 200 columns'],
  ['a text without an end', "select 'x", 'without an end'],
])('rejects %s before it costs time', (_, sql, message) => {
  expect(() => translate(sql)).toThrowError(message);
});
