import type { Completion } from '@codemirror/autocomplete';

export const KEYWORDS: readonly string[] = (
  'SELECT, DISTINCT, FROM, FINAL, SAMPLE, PREWHERE, WHERE, GROUP BY, ORDER BY, LIMIT, LIMIT BY, ' +
  'OFFSET, HAVING, QUALIFY, WINDOW, WITH, AS, UNION ALL, UNION DISTINCT, INTERSECT, EXCEPT, ' +
  'ARRAY JOIN, JOIN, INNER JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN, CROSS JOIN, ASOF JOIN, ANY, ALL, ' +
  'SEMI, ANTI, ON, USING, AND, OR, NOT, IN, BETWEEN, LIKE, ILIKE, REGEXP, IS NULL, IS NOT NULL, NULL, ' +
  'TRUE, FALSE, CASE, WHEN, THEN, ELSE, END, CAST, INTERVAL, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, ' +
  'YEAR, ASC, DESC, NULLS FIRST, NULLS LAST, WITH FILL, STEP, TO, INTERPOLATE, WITH TIES, WITH TOTALS, ' +
  'ROLLUP, CUBE, GROUPING SETS, OVER, PARTITION BY, ROWS, RANGE, UNBOUNDED, PRECEDING, FOLLOWING, ' +
  'CURRENT ROW, GLOBAL, EXISTS, EXTRACT, REPLACE, APPLY, COLUMNS'
).split(', ');

export const TYPES: readonly string[] = (
  'Int8, Int16, Int32, Int64, Int128, Int256, UInt8, UInt16, UInt32, UInt64, UInt128, UInt256, ' +
  'Float32, Float64, Decimal, Bool, String, FixedString, UUID, Date, Date32, DateTime, DateTime64, ' +
  'Array, Tuple, Map, Nullable, LowCardinality, JSON, IPv4, IPv6'
).split(', ');

const CONDITIONAL = 'count, sum, avg, min, max, any, uniq, uniqExact, quantile, groupArray'.split(', ');

/** Functions of the engine and the forms with a condition, such as `countIf`, which the engine does not list. */
export function withConditional(functions: readonly { readonly name: string }[]): string[] {
  const names = functions.map(({ name }) => name);
  return [...names, ...CONDITIONAL.filter((name) => names.includes(name)).map((name) => `${name}If`)];
}

/** A name that a query may use. */
export interface Word {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Word[];
}

/** The names that an editor of SQL completes, beside keywords and the views of the text itself. */
export interface Vocabulary {
  readonly functions: readonly string[];
  readonly tables: readonly Table[];
  /** Without `@`. */
  readonly parameters: readonly Word[];
}

export const NO_WORDS: Vocabulary = { functions: [], tables: [], parameters: [] };

const AT_CURSOR = /(?:([A-Za-z_]\w*)\.)?(@?\w*)$/;
const AFTER_FROM = /\b(?:from|join)\s+$/i;
const VIEW = /\b([A-Za-z_]\w*)\s+as\s*\(\s*(?:--[^\n]*\s*)*(?:select|with)\b/gi;
const READ = /\b(?:from|join)\s+([A-Za-z_]\w*)(?:\s+(?:as\s+)?([A-Za-z_]\w*))?/gi;

/** Completes the word at `from`: parameters after `@`, columns after a table, tables after FROM and JOIN, else all. */
export function suggest(
  text: string,
  position: number,
  words: Vocabulary,
): { from: number; options: readonly Completion[] } {
  const before = text.slice(0, position);
  const [all = '', qualifier, word = ''] = AT_CURSOR.exec(before) ?? [];
  const from = position - word.length;
  if (/^\d/.test(word)) return { from, options: [] };
  if (word.startsWith('@')) return { from, options: words.parameters.map(toParameter) };
  if (qualifier !== undefined) {
    const table = findTable(text, qualifier, words.tables);
    return { from, options: table === undefined ? [] : table.columns.map((one) => toColumn(one, table, 2)) };
  }
  const views = new Set([...text.matchAll(VIEW)].map(([, name = '']) => name));
  const tables: readonly Completion[] = [
    ...[...views].map((label) => ({ label, type: 'class', boost: 2, detail: 'view' })),
    ...words.tables.map(({ name, columns }) => {
      return { label: name, type: 'class', boost: 1, detail: columns.length === 0 ? 'view' : 'table' };
    }),
  ];
  if (AFTER_FROM.test(before.slice(0, before.length - all.length))) return { from, options: tables };
  const functions = words.functions.map((label) => ({ label, type: 'function' }));
  return { from, options: [...toColumns(text, words.tables), ...tables, ...functions, ...RESERVED] };
}

const RESERVED: readonly Completion[] = KEYWORDS.map((label) => ({ label, type: 'keyword', boost: -1 }));

function toParameter({ name, type = '', description = '' }: Word): Completion {
  return { label: `@${name}`, type: 'variable', detail: type, info: description };
}

function toColumn({ name, type, description = '' }: Word, table: Table, boost: number): Completion {
  const detail = [type, table.name].filter(Boolean).join(' · ');
  return { label: name, type: 'property', boost, detail, info: description };
}

/** Each name once: of several tables the one that the text names. */
function toColumns(text: string, tables: readonly Table[]): Completion[] {
  const named = new Set(text.match(/[A-Za-z_]\w*/g));
  const sorted = tables.toSorted((a, b) => Number(named.has(b.name)) - Number(named.has(a.name)));
  const found = new Map<string, Completion>();
  for (const table of sorted) {
    for (const column of table.columns) {
      if (found.has(column.name)) continue;
      found.set(column.name, toColumn(column, table, named.has(table.name) ? 2 : -2));
    }
  }
  return [...found.values()];
}

/** The table of this name or alias. */
function findTable(text: string, name: string, tables: readonly Table[]): Table | undefined {
  const read = [...text.matchAll(READ)].find(([, , alias]) => alias === name)?.[1] ?? name;
  return tables.find((table) => table.name === read);
}
