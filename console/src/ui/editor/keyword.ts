/** Keywords of a SELECT in ClickHouse. */
export const KEYWORDS: readonly string[] = [
  ...['SELECT', 'DISTINCT', 'FROM', 'FINAL', 'SAMPLE', 'PREWHERE', 'WHERE', 'GROUP BY', 'ORDER BY', 'LIMIT'],
  ...['LIMIT BY', 'OFFSET', 'HAVING', 'QUALIFY', 'WINDOW', 'WITH', 'AS', 'UNION ALL', 'UNION DISTINCT'],
  ...['INTERSECT', 'EXCEPT', 'ARRAY JOIN', 'JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'],
  ...['CROSS JOIN', 'ASOF JOIN', 'ANY', 'ALL', 'SEMI', 'ANTI', 'ON', 'USING', 'AND', 'OR', 'NOT', 'IN'],
  ...[
    'BETWEEN',
    'LIKE',
    'ILIKE',
    'REGEXP',
    'IS NULL',
    'IS NOT NULL',
    'NULL',
    'TRUE',
    'FALSE',
    'CASE',
    'WHEN',
  ],
  ...['THEN', 'ELSE', 'END', 'CAST', 'INTERVAL', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'],
  ...['ASC', 'DESC', 'NULLS FIRST', 'NULLS LAST', 'WITH FILL', 'STEP', 'TO', 'INTERPOLATE', 'WITH TIES'],
  ...['WITH TOTALS', 'ROLLUP', 'CUBE', 'GROUPING SETS', 'OVER', 'PARTITION BY', 'ROWS', 'RANGE', 'UNBOUNDED'],
  ...['PRECEDING', 'FOLLOWING', 'CURRENT ROW', 'GLOBAL', 'EXISTS', 'EXTRACT', 'REPLACE', 'APPLY', 'COLUMNS'],
];

export const TYPES: readonly string[] = [
  ...[
    'Int8',
    'Int16',
    'Int32',
    'Int64',
    'Int128',
    'Int256',
    'UInt8',
    'UInt16',
    'UInt32',
    'UInt64',
    'UInt128',
  ],
  ...['UInt256', 'Float32', 'Float64', 'Decimal', 'Bool', 'String', 'FixedString', 'UUID', 'Date', 'Date32'],
  ...[
    'DateTime',
    'DateTime64',
    'Array',
    'Tuple',
    'Map',
    'Nullable',
    'LowCardinality',
    'JSON',
    'IPv4',
    'IPv6',
  ],
];

const CONDITIONAL = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'any',
  'uniq',
  'uniqExact',
  'quantile',
  'groupArray',
];

/** Functions of the engine and the forms with a condition, such as `countIf`, which the engine does not list. */
export function withConditional(functions: readonly { readonly name: string }[]): string[] {
  const names = functions.map(({ name }) => name);
  return [...names, ...CONDITIONAL.filter((name) => names.includes(name)).map((name) => `${name}If`)];
}
