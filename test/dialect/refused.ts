/** Queries that must be refused, each with what the message must name. */
export interface RefusedQuery {
  readonly sql: string;
  readonly names: RegExp;
}

const refused = (names: RegExp, ...queries: readonly string[]): RefusedQuery[] =>
  queries.map((sql) => ({ sql, names }));

const STATEMENTS: readonly RefusedQuery[] = [
  ...refused(
    /insert/i,
    "insert into edge_logs (id) values ('x')",
    'INSERT edge_logs SELECT * FROM auth_logs',
  ),
  ...refused(/update/i, "update edge_logs set id = 'x' where true"),
  ...refused(/delete/i, 'delete from edge_logs where true', 'delete edge_logs where true'),
  ...refused(/merge/i, 'merge into edge_logs using auth_logs on true when matched then delete'),
  ...refused(/truncate/i, 'truncate table edge_logs'),
  ...refused(
    /create/i,
    'create table t as select 1 as one',
    'create or replace view v as select id from edge_logs',
    'create temp function f(x int64) as (x + 1); select f(1)',
    'create temp function f(x string) returns string language js as "return x"; select f(id) from edge_logs',
  ),
  ...refused(/drop/i, 'drop table edge_logs', 'drop table if exists edge_logs'),
  ...refused(/alter/i, 'alter table edge_logs add column x int64'),
  ...refused(/declare/i, 'declare x int64 default 1; select x'),
  ...refused(/\bset\b/i, 'set x = 1'),
  ...refused(/@@/, 'set @@time_zone = "UTC"'),
  ...refused(/begin|transaction/i, 'begin transaction', 'begin select 1; end'),
  ...refused(/\bif\b/i, 'if true then select 1; end if'),
  ...refused(/loop|while/i, 'while true do select 1; end while'),
  ...refused(/execute/i, 'execute immediate "select 1"'),
  ...refused(/call/i, 'call p()'),
  ...refused(/export/i, "export data options (uri = 'gs://b/*') as select 1 as one"),
  ...refused(/grant/i, 'grant select on table edge_logs to "user:x"'),
  ...refused(/explain/i, 'explain select 1'),
  ...refused(
    /one|several|;|statement/i,
    'select 1; select 2',
    'select id from edge_logs; drop table edge_logs',
  ),
  ...refused(/empty|select/i, ' ', '-- nothing', ';'),
];

const TABLE_NAMES: readonly RefusedQuery[] = [
  ...refused(/edge_\*|wildcard|table/i, 'select id from `edge_*`', 'select id from `project.dataset.edge_*`'),
  ...refused(
    /secret|other|dataset|project/i,
    'select id from other.edge_logs',
    'select id from `project.dataset.edge_logs`',
    'select id from project.dataset.secret',
  ),
  ...refused(
    /information_schema/i,
    'select * from information_schema.tables',
    'select * from `region-us`.information_schema.jobs',
  ),
  ...refused(/system|table|numbers|one/i, 'select name from system.tables', 'select * from numbers'),
  ...refused(
    /secret_logs/,
    'select id from secret_logs',
    'select id from edge_logs join secret_logs using (id)',
  ),
  ...refused(/edge_logs_raw/, 'with a as (select 1 as n) select n from a cross join edge_logs_raw'),
  ...refused(
    /function \w+(?:\.\w+)? instead of a table/,
    "select * from url('http://127.0.0.1/')",
    'select * from numbers(10)',
  ),
  ...refused(
    /function \w+(?:\.\w+)? instead of a table/,
    "select * from external_query('connection', 'select 1')",
  ),
  ...refused(/function appends instead of a table/, 'select * from appends(table edge_logs, null, null)'),
];

const CLAUSES: readonly RefusedQuery[] = [
  ...refused(
    /OVER \(ORDER BY|PARTITION BY/,
    'select row_number() over (order by timestamp) as n from edge_logs',
    'select id, row_number() over (partition by id order by timestamp) from edge_logs',
  ),
  ...refused(/\blag\b|over|window/i, 'select lag(id) over (order by timestamp) from edge_logs'),
  ...refused(/over|window|order/i, 'select count(*) over (order by timestamp) from edge_logs'),
  ...refused(/over with a name/i, 'select count(*) over w from edge_logs window w as (order by timestamp)'),
  ...refused(/qualify/i, 'select id from edge_logs where true qualify count(*) over () > 1'),
  ...refused(
    /has PIVOT, which is not understood at line 1, column 50/,
    "select * from (select id, 1 as n from edge_logs) pivot (sum(n) for id in ('a', 'b'))",
  ),
  ...refused(/has UNPIVOT/, 'select * from edge_logs unpivot (v for k in (id, event_message))'),
  ...refused(/tablesample/i, 'select id from edge_logs tablesample system (10 percent)'),
  ...refused(
    /system_time|for/i,
    'select id from edge_logs for system_time as of timestamp_sub(current_timestamp(), interval 1 hour)',
  ),
  ...refused(
    /recursive/i,
    'with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select n from r',
  ),
  ...refused(/has LATERAL/, 'select * from edge_logs, lateral (select id) as l'),
  ...refused(/rollup/i, 'select id, count(*) from edge_logs group by rollup (id)'),
  ...refused(/cube/i, 'select id, count(*) from edge_logs group by cube (id, event_message)'),
  ...refused(/grouping sets/i, 'select id, count(*) from edge_logs group by grouping sets (id, ())'),
  ...refused(/offset/i, 'select id, pos from edge_logs cross join unnest(metadata) as m with offset as pos'),
  ...refused(
    /as struct|struct/i,
    'select as struct id from edge_logs',
    'select struct(id as a) as s from edge_logs',
  ),
  ...refused(/as value/i, 'select as value id from edge_logs'),
  ...refused(/\|>|pipe/i, "from edge_logs |> where id = 'x' |> select id"),
  ...refused(
    /format|into|settings/i,
    'select id from edge_logs format JSON',
    'select id from edge_logs settings max_threads = 1',
  ),
  ...refused(/hint|@\{|@/i, 'select id from edge_logs @{force_index=x}', 'select @{a=1} id from edge_logs'),
  ...refused(/for update|update|for/i, 'select id from edge_logs for update'),
];

const EXPRESSIONS: readonly RefusedQuery[] = [
  ...refused(
    /@@|variable|project_id/i,
    'select @@project_id',
    'select id from edge_logs where @@row_count > 1',
  ),
  ...refused(/parameter|@name|@project/i, 'select @name', 'select id from edge_logs where id = @project'),
  ...refused(/parameter|\?/i, 'select id from edge_logs where id = ?'),
  ...refused(/calls split/, "select split(event_message, ' ')[safe_offset(1)] from edge_logs"),
  ...refused(/calls split/, "select split(event_message, ' ')[offset(0)] from edge_logs"),
  ...refused(/session_user/i, 'select session_user()'),
  ...refused(/no_such_function/i, 'select no_such_function(id) from edge_logs'),
  ...refused(/net\.host|net/i, 'select net.host(event_message) from edge_logs'),
  ...refused(/function ml\.predict instead of a table/, 'select * from ml.predict(model m, table edge_logs)'),
  ...refused(/sleep/i, 'select sleep(3)'),
  ...refused(/getsetting/i, "select getSetting('max_threads')"),
  ...refused(/dictget/i, "select dictGet('d', 'a', 1)"),
  ...refused(/has ORDER BY in array_agg/, 'select array_agg(id order by timestamp limit 3) from edge_logs'),
  ...refused(/array/i, 'select array(select id from edge_logs)'),
  ...refused(/has ARRAY/, 'select array<int64>[1, 2]'),
  ...refused(/error/i, "select error('x')"),
  ...refused(/generate_uuid/i, 'select generate_uuid()'),
  ...refused(/rand/i, 'select rand() from edge_logs'),
  ...refused(/collate/i, "select collate(id, 'und:ci') from edge_logs"),
  ...refused(/geography|st_geogpoint/i, 'select st_geogpoint(1, 2)'),
  ...refused(/bytes/i, 'select cast(id as bytes) from edge_logs'),
  ...refused(
    /time zone|zone|timestamp_trunc/i,
    "select timestamp_trunc(timestamp, day, 'No/Such_Zone') from edge_logs",
  ),
  ...refused(/fortnight/i, 'select timestamp_trunc(timestamp, fortnight) from edge_logs'),
  ...refused(/fortnight/i, 'select timestamp_sub(timestamp, interval 1 fortnight) from edge_logs'),
  ...refused(/%Q/, "select format_timestamp('%Q', timestamp) from edge_logs"),
  ...refused(
    /regular expression|pattern|regexp|\(/i,
    "select id from edge_logs where regexp_contains(event_message, '(')",
  ),
  ...refused(
    /no_such_column/i,
    'select no_such_column from edge_logs',
    'select t.no_such_column from edge_logs as t',
  ),
  ...refused(/count/i, 'select count(1, 2) from edge_logs'),
  ...refused(/starts_with/i, 'select starts_with(id) from edge_logs'),
];

const deep = (depth: number) => `select ${'('.repeat(depth)}1${')'.repeat(depth)} as n`;

const BOUNDS: readonly RefusedQuery[] = [
  ...refused(
    /long|bytes|large|at most/i,
    `select '${'x'.repeat(100_000)}' as x`,
    `select 1 as n ${' '.repeat(100_000)}`,
  ),
  ...refused(/deep|level|nest|at most|more than/i, deep(5_000), `select ${'not '.repeat(5_000)} true as x`),
  ...refused(/deep|level|nest|at most/i, `${'select * from ('.repeat(400)}select 1 as n${')'.repeat(400)}`),
  ...refused(/at most|more than/i, `select ${Array.from({ length: 5_000 }, () => '1').join(' + ')} as n`),
  ...refused(
    /line|syntax|expected|unexpected/i,
    'select from',
    'selec id from edge_logs',
    "select 'open from edge_logs",
    'select id from edge_logs where',
    'select (1 from edge_logs',
  ),
];

export const REFUSED: readonly RefusedQuery[] = [
  ...STATEMENTS,
  ...TABLE_NAMES,
  ...CLAUSES,
  ...EXPRESSIONS,
  ...BOUNDS,
];
