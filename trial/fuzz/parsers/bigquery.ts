import { readDefinitions } from '../../../src/definitions/read.ts';
import { translateBigQuery } from '../../../src/dialect/bigquery/translate.ts';
import { TailraceError } from '../../../src/errors.ts';
import { distinct, nest, type Parser, split } from '../parser.ts';

const CHARS_MAX = 64 * 1024;
const NOW = '2026-11-20 12:00:00.000000';

const { definitions } = await readDefinitions({ endpointsDir: 'studio/endpoints', sourcesDir: 'sources' });
const { dialect } = definitions.endpoints.find(({ name }) => name === 'logs.all') ?? {};
const views = new Map(
  [...(dialect?.tables ?? [])].map(([table, columns]) => [table, { columns, untyped: 'untyped' }]),
);

/** Whether a text is understood. @throws other errors than a rejection */
function isAccepted(sql: string): boolean {
  try {
    translateBigQuery(sql, { views, now: NOW, dialect: 'studio' });
    return true;
  } catch (error) {
    if (error instanceof TailraceError && error.code === 'invalid_parameter') return false;
    throw error;
  }
}

const M = 'from edge_logs as t cross join unnest(t.metadata) as m';
const RECORDS = 18; // with the table, fewer than FROM may have
const ANY_RECORD = `from edge_logs cross join unnest(metadata) as m0 ${Array.from(
  { length: RECORDS },
  (_, i) => `cross join unnest(m${i}.x) as m${i + 1}`,
).join(' ')}`;

/** Expressions that are nested. */
const EXPRESSIONS: Parser['nests'] = [
  ...nest('…id…::text¦cast(…id… as string)¦safe_cast(…m.a… as int64)¦(…id…::text)¦(…1…)¦[…1…]'),
  ...nest('struct(…1…)¦string_agg(…id…, ",")¦array_agg(…id… order by id)¦array(select …id…).a'),
  ...nest("collate(…id…, 'und:ci')¦greatest(…1…, 2)¦json_query(…event_message…, '$[0][0][0]')"),
  ...nest("coalesce(…m.a…, m.b, 'x')¦approx_quantiles(…m.a…, 100)[offset(9)]¦…m.a…[offset(0)]"),
  ...nest('…m….a¦case when …true… then true end¦case when true then 1 else …1… end¦not …true…'),
  ...nest('- …1…¦timestamp_sub(…timestamp…, interval 1 hour)¦interval (1 + …1…) hour'),
  ...nest('(select …1… as x)'),
];

/** Statements that are nested. */
const STATEMENTS: Parser['nests'] = [
  ...nest('(…select 1 as x…)'),
  ...nest('select * from (…select id, timestamp, event_message, metadata from edge_logs…)'),
  ...nest("select id from edge_logs where id = (…select 'x' as id…)"),
  ...nest("select id from edge_logs where id in (…select 'x' as id…)"),
  ...nest(`select m.a, (…select 1 as x…) as x ${M} group by m.a`),
  ...nest('with a as (…select 1 as x…) select x from a'),
  ...nest('(select 1 as x union all …select 1 as x…)'),
];

const columns = (part: (i: number) => string, from = M) =>
  distinct((i) => `${part(i)} as c${i}, `, ['select ', `1 as z ${from}`]);
const conditions = (part: (i: number) => string, operator = 'and', from = M) =>
  distinct((i) => `${part(i)} ${operator} `, [`select id ${from} where `, 'true']);

/** What is repeated side by side. */
const SIDE: Parser['shapes'] = {
  columns: columns(() => '1'),
  'casts side by side': columns((i) => `m.a${i}::int64::text::float64`),
  'JSON texts': columns((i) => `json_value(event_message, '$.a${i}[0][0][0]')`),
  quantiles: columns((i) => `approx_quantiles(m.a${i}, 100)[offset(1)]`),
  'SELECTs as columns': columns(() => '(select max(id) from edge_logs)', ''),
  'columns of one group': columns((i) => `cast(m.a as int64) + ${i}`, `${M} group by m.a`),
  'columns of any record': columns((i) => `f${i}`, ANY_RECORD),
  'JSON conditions': conditions((i) => `cast(json_value(event_message, '$.a[0][0].b${i}') as int64) = 3`),
  AND: conditions((i) => `m.a${i} = ${i}`),
  OR: conditions((i) => `m.a${i} = 'x' and m.b > 2`, 'or'),
  NOT: conditions((i) => `not m.a${i} = 'x'`),
  BETWEEN: conditions((i) => `timestamp between '2026-11-20' and '2026-11-21' and m.a${i} is null`),
  LIKE: conditions(() => "event_message like '%a_b%'"),
  patterns: conditions((i) => `regexp_contains(event_message, 'a${i}[bc]+')`),
  'parts of times': conditions((i) => `extract(hour from cast(m.a${i} as timestamp)) = 1`),
  'formats of times': conditions(
    () => "parse_timestamp('%F %T', format_timestamp('%F %T', timestamp)) = timestamp",
  ),
  'fields of any record': conditions((i) => `f${i} = 'x'`, 'and', ANY_RECORD),
  'lists of IN': distinct(
    (i) => (i % 2 === 0 ? `'${i}', ` : `${i}, `),
    [`select id ${M} where m.a in (`, '1)'],
  ),
  WHEN: distinct((i) => `when m.a${i} = ${i} then m.b${i} `, ['select case ', `end as x ${M}`]),
  sums: distinct((i) => `m.a${i} + `, ['select ', `1 as x ${M}`]),
  'texts joined': distinct((i) => `m.a${i} || `, ['select ', `'x' as x ${M}`]),
  intervals: distinct(() => '- interval 1 hour ', ['select timestamp ', 'as x from edge_logs']),
  order: distinct((i) => `m.a${i}, `, [`select id ${M} order by `, 'id']),
  groups: distinct((i) => `m.a${i}, `, [`select m.b ${M} group by `, 'm.b']),
  'UNION ALL': distinct(() => 'select id from edge_logs union all ', ['', 'select id from edge_logs']),
  WITH: distinct(
    (i) => `a${i + 1} as (select id from a${i}), `,
    ['with a0 as (select id from edge_logs), ', 'z as (select id from a0) select id from z'],
  ),
  joins: distinct(
    (i) => `join edge_logs as t${i + 1} on t0.id = t${i + 1}.id `,
    ['select t0.id from edge_logs as t0 ', ''],
  ),
  stars: distinct(() => '*, ', ['select ', '* from edge_logs']),
  'a long name': (chars) => `select m.\`${'a'.repeat(Math.max(chars - 100, 0))}\` as x ${M}`,
  'a long text': (chars) => `select '${"''".repeat(Math.max(chars / 2 - 20, 0))}' as x`,
  'a long number': (chars) => `select ${'1'.repeat(Math.max(chars - 20, 0))} as x`,
  comments: (chars) => `select ${'/* x */'.repeat(Math.max(chars / 7 - 3, 0))} 1 as x`,
};

const common = { charsMax: CHARS_MAX, parse: isAccepted, accepts: isAccepted };

export const BIGQUERY_PARSERS: Readonly<Record<string, Parser>> = {
  'an expression of BigQuery': {
    ...common,
    tokens: split("'¦''¦\"¦`¦(¦[¦,¦ ¦a¦m.a¦1¦1.¦/*¦--¦\\n¦- ¦not ¦case when ¦ and ¦ || "),
    nests: EXPRESSIONS,
    frame: ['select ', ` as x ${M}`],
  },
  'a statement of BigQuery': {
    ...common,
    tokens: split('select ¦from ¦edge_logs ¦where ¦group by ¦with a as (¦) ¦union all ¦join ¦unnest(¦, ¦a '),
    nests: STATEMENTS,
    shapes: SIDE,
  },
};
