/** A construct of BigQuery's SQL, n times nested or n times side by side. */
export interface Shape {
  readonly name: string;
  readonly make: (n: number) => string;
}

const repeat = (n: number, write: (i: number) => string, separator: string) =>
  Array.from({ length: n }, (_, i) => write(i)).join(separator);

const M = 'from edge_logs as t cross join unnest(t.metadata) as m';
const RECORDS = 18; // with the table, fewer than FROM may have

const columns = (write: (i: number) => string, from: string) => (n: number) =>
  `select ${repeat(n, (i) => `${write(i)} as c${i}`, ', ')} ${from}`;
const conditions =
  (write: (i: number) => string, operator = 'and', from = M) =>
  (n: number) =>
    `select id ${from} where ${repeat(n, write, ` ${operator} `)}`;
const nested =
  (open: string, inner: string, close: string, from = 'from edge_logs') =>
  (n: number) =>
    `select ${open.repeat(n)}${inner}${close.repeat(n)} as x ${from}`;
const records = (n: number) =>
  `from edge_logs ${repeat(n, (i) => `cross join unnest(${i === 0 ? 'metadata' : `m${i - 1}.x`}) as m${i}`, ' ')}`;

const NESTED: Readonly<Record<string, (n: number) => string>> = {
  'casts by ::': nested('', 'id', '::text'),
  casts: nested('cast(', 'id', ' as string)'),
  'safe casts': nested('safe_cast(', 'm.a', ' as int64)', M),
  'casts of casts': (n) => `select ${'('.repeat(n)}id${'::text)'.repeat(n)} as x from edge_logs`,
  brackets: nested('(', '1', ')'),
  'brackets that are not closed': (n) => `select ${'('.repeat(n)}1`,
  'brackets around SELECTs': (n) => `${'('.repeat(n)}select 1 as x${')'.repeat(n)}`,
  'lists and arrays': nested('[', '1', ']'),
  structs: nested('struct(', '1', ')'),
  string_agg: nested('string_agg(', 'id', ', ",")'),
  'array_agg in order': nested('array_agg(', 'id', ' order by id)'),
  'arrays of SELECTs': nested('array(select ', 'id', ').a'),
  collate: nested('collate(', 'id', ", 'und:ci')"),
  'calls that write their argument twice': nested('greatest(', '1', ', 2)'),
  'calls that write their argument often': nested('json_query(', 'metadata', ", '$[0][0][0]')"),
  'calls of fields': nested('coalesce(', 'm.a', ", m.b, 'x')", M),
  rounding: nested('round(', 'm.a', ', 2)', M),
  trim: nested('trim(', 'm.a', ')', M),
  quantiles: nested('approx_quantiles(', 'm.a', ', 100)[offset(9)]', M),
  'members of members': nested('', 'm.a', '[offset(0)]', M),
  CASE: nested('case when ', 'true', ' then true end'),
  'CASE after ELSE': nested('case when true then 1 else ', '1', ' end'),
  NOT: nested('not ', 'true', ''),
  'signs before values': nested('- ', '1', ''),
  'intervals of intervals': nested('timestamp_sub(', 'timestamp', ', interval 1 hour)'),
  'counts of intervals': nested('interval (1 + ', '1', ') hour'),
  'SELECTs in FROM': (n) =>
    `${'select * from ('.repeat(n)}select id, timestamp, event_message, metadata from edge_logs${')'.repeat(n)}`,
  'SELECTs as values': nested('(select ', '1', ' as x)', ''),
  'SELECTs in WHERE': (n) =>
    `${'select id from edge_logs where id = ('.repeat(n)}select 'x' as id${')'.repeat(n)}`,
  'SELECTs in IN': (n) =>
    `${'select id from edge_logs where id in ('.repeat(n)}select 'x' as id${')'.repeat(n)}`,
  'SELECTs in grouped lists': (n) =>
    `${'select m.a, ('.repeat(n)}select 1 as x${`) as x ${M} group by m.a`.repeat(n)}`,
  'members of WITH in members': (n) =>
    `${'with a as ('.repeat(n)}select 1 as x${') select x from a'.repeat(n)}`,
  'UNION in UNION': (n) => `${'(select 1 as x union all '.repeat(n)}select 1 as x${')'.repeat(n)}`,
  'fields of fields': (n) => `select m${'.a'.repeat(n)} as x ${M}`,
  'records of records': (n) => `select m0.y ${records(n)}`,
};

const SIDE: Readonly<Record<string, (n: number) => string>> = {
  columns: columns(() => '1', 'from edge_logs'),
  'columns in order': (n) =>
    `select ${repeat(n, (i) => `m.a${i} as a${i}`, ', ')} ${M} order by ${repeat(n, (i) => `a${i}`, ', ')}`,
  'columns in groups': (n) =>
    `select ${repeat(n, (i) => `m.a${i} as a${i}`, ', ')} ${M} group by ${repeat(n, (i) => `a${i}`, ', ')}`,
  'columns of one group': (n) =>
    `select ${repeat(n, (i) => `cast(m.a as int64) + ${i} as b${i}`, ', ')} ${M} group by m.a`,
  'casts side by side': columns((i) => `m.a${i}::int64::text::float64`, M),
  'JSON texts': columns((i) => `json_value(event_message, '$.a${i}[0][0][0]')`, 'from edge_logs'),
  'JSON conditions': conditions((i) => `cast(json_value(event_message, '$.a[0][0].b${i}') as int64) = 3`),
  'arrays of quantiles': (n) =>
    `with p as (select ${repeat(n, (i) => `approx_quantiles(m.a${i}, 100) as q${i}`, ', ')} ${M}) select q0[offset(1)] as x from p`,
  AND: conditions((i) => `m.a${i} = ${i}`),
  'AND of one field': conditions((i) => `m.a = ${i}`),
  OR: conditions((i) => `m.a${i} = 'x'`, 'or'),
  'OR of AND': conditions((i) => `m.a${i} = 'x' and m.b > 2`, 'or'),
  'NOT side by side': conditions((i) => `not m.a${i} = 'x'`),
  BETWEEN: conditions((i) => `timestamp between '2026-11-20' and '2026-11-21' and m.a${i} is null`),
  'bounds of time': conditions(() => "timestamp > '2026-11-20'"),
  LIKE: conditions(() => "event_message like '%a_b%'"),
  patterns: conditions((i) => `regexp_contains(event_message, 'a${i}[bc]+')`),
  'lists of IN': (n) => `select id ${M} where m.a in (${repeat(n, (i) => String(i), ', ')})`,
  'mixed lists of IN': (n) =>
    `select id ${M} where m.a in (${repeat(n, (i) => (i % 2 === 0 ? `'${i}'` : String(i)), ', ')})`,
  'WHEN side by side': (n) =>
    `select case ${repeat(n, (i) => `when m.a${i} = ${i} then m.b${i}`, ' ')} end as x ${M}`,
  sums: (n) => `select ${repeat(n, (i) => `m.a${i}`, ' + ')} as x ${M}`,
  'texts joined': (n) => `select ${repeat(n, (i) => `m.a${i}`, ' || ')} as x ${M}`,
  'intervals side by side': (n) => `select timestamp ${'- interval 1 hour '.repeat(n)} as x from edge_logs`,
  'parts of times': conditions((i) => `extract(hour from cast(m.a${i} as timestamp)) = 1`),
  'formats of times': conditions(
    () => `parse_timestamp('%F %T', format_timestamp('%F %T', timestamp)) = timestamp`,
  ),
  'UNION ALL': (n) => repeat(n, () => 'select id, timestamp from edge_logs', ' union all '),
  WITH: (n) =>
    `with ${repeat(n, (i) => `a${i} as (select id from ${i === 0 ? 'edge_logs' : `a${i - 1}`})`, ', ')} select id from a0`,
  'SELECTs as columns': columns(() => '(select max(id) from edge_logs)', ''),
  joins: (n) =>
    `select t0.id from edge_logs as t0 ${repeat(n, (i) => `join edge_logs as t${i + 1} on t0.id = t${i + 1}.id`, ' ')}`,
  tables: (n) => `select t0.id from ${repeat(n, (i) => `edge_logs as t${i}`, ', ')}`,
  'fields of any record': (n) =>
    `select id ${records(RECORDS)} where ${repeat(n, (i) => `f${i} = 'x'`, ' and ')}`,
  'columns of any record': (n) => `select ${repeat(n, (i) => `f${i}`, ', ')} ${records(RECORDS)}`,
  stars: (n) => `select ${repeat(n, () => '*', ', ')} from edge_logs`,
  'a long name': (n) => `select m.\`${'a'.repeat(16 * n)}\` as x ${M}`,
  'a long name of any record': (n) => `select \`${'a'.repeat(16 * n)}\` as x ${records(RECORDS)}`,
  'a long text': (n) => `select '${'\\n'.repeat(8 * n)}' as x`,
  'a long text of quotes': (n) => `select '${"''".repeat(8 * n)}' as x`,
  'a text without an end': (n) => `select '${"''".repeat(8 * n)} as x`,
  'a long number': (n) => `select ${'1'.repeat(16 * n)} as x`,
  'a long number with a letter': (n) => `select ${'1'.repeat(16 * n)}a as x`,
  'a long number with dots': (n) => `select ${'1.'.repeat(8 * n)} as x`,
  'white space': (n) => `select${' '.repeat(16 * n)}1 as x`,
  comments: (n) => `select ${'/* x */'.repeat(2 * n)} 1 as x`,
  'comments without an end': (n) => `select ${'/* '.repeat(5 * n)} 1 as x`,
};

/** Every construct of the grammar, nested and side by side. */
export const SHAPES: readonly Shape[] = Object.entries({ ...NESTED, ...SIDE }).map(([name, make]) => ({
  name,
  make,
}));
