import { PAGE_SKIP } from '../definitions/pages.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { writeCondition } from './condition.ts';
import { type Bind, column, createFields, type Fields, type Operand } from './field.ts';
import { writeLevelName } from './level.ts';
import type { SearchField, SearchTree } from './tree.ts';

/** A search compiled for some sources. */
export interface SearchStatement {
  readonly sql: string;
  /** The texts of the search by the names of their parameters. */
  readonly values: Readonly<Record<string, string>>;
  /** Fields that no source has as a column: whether any event has them is unknown. */
  readonly extracted: ReadonlySet<string>;
}

/** What every part of an answer reads. */
export interface SearchScope {
  /** At least one. */
  readonly sources: readonly Source[];
  /** `undefined`: every event. */
  readonly tree: SearchTree | undefined;
  /** Whether only events of `@project` are read. */
  readonly hasProject: boolean;
}

/** Bounds of the events of counts, both inclusive; rows are bounded by `@page_from` and `@page_until`. */
export const SEARCH_FROM = 'search_from';
export const SEARCH_UNTIL = 'search_until';
/** Width of a time bucket, microseconds. */
export const SEARCH_WIDTH = 'search_width';

/** Series of a histogram beside NULL; the rest is counted as one more. */
const SERIES_MAX = 20;
const OTHER_VALUES = '(other)';
/** Most rows of one time bucket. */
export const SERIES_ROWS_MAX = SERIES_MAX + 2;
export const VALUES_MAX = 20;

/** The newest events, each source cut at the page before they are merged. */
export function writeRows(scope: SearchScope, size: number): SearchStatement {
  const arms = compile(scope, {
    bounds: ['page_from', 'page_until'],
    more: (bind, source) => `AND (@cursor_id IS NULL OR ${isAfterCursor(bind(source.name))})`,
    select: (fields) =>
      `${fields.find(['source']).sql} AS source, ${COLUMNS}, ${fields.find(['level']).sql} AS level_rank`,
    end: `ORDER BY ${[...ORDER, 'project'].map((name) => `${column(name)} DESC`).join(', ')} LIMIT ${size} + toUInt64OrZero(@${PAGE_SKIP})`,
  });
  const sql = `SELECT source, id, toUnixTimestamp64Micro(at) AS timestamp, project, ${writeLevelName('level_rank')} AS level, event_message, metadata
FROM (
${arms.sql}
)
ORDER BY at DESC, id DESC, source DESC, project DESC
LIMIT ${size}`;
  return { ...arms, sql };
}

const ORDER = ['timestamp', 'id'];
const COLUMNS = [
  ...['id', 'project', 'event_message', 'metadata'].map((name) => `${column(name)} AS ${name}`),
  `${column('timestamp')} AS at`,
].join(', ');

/** The rows after that of the cursor, of those up to its instant. Its columns are those of the order, the source among them. */
function isAfterCursor(source: string): string {
  const [id, project] = [column('id'), column('project')];
  const isAfter = `${source} < @cursor_source OR (${source} = @cursor_source AND ${project} < @cursor_project)`;
  return `${column('timestamp')} < @page_until OR ${id} < @cursor_id OR (${id} = @cursor_id AND (${isAfter}))`;
}

/** Counts by time bucket and by a field: of more than `SERIES_MAX` values the most frequent. @param name of the column, without backticks */
export function writeHistogram(scope: SearchScope, by: SearchField, name: string): SearchStatement {
  const start = `toUnixTimestamp64Micro(toDateTime64(@${SEARCH_FROM}, 6, 'UTC'))`;
  const width = `CAST(@${SEARCH_WIDTH}, 'Int64')`;
  const slot = `intDiv(toUnixTimestamp64Micro(${column('timestamp')}) - ${start}, ${width})`;
  const arms = compile(scope, {
    bounds: [SEARCH_FROM, SEARCH_UNTIL],
    select: (fields) => `${slot} AS slot, ${writeValue(fields.find(by))} AS value, count() AS events`,
    end: 'GROUP BY slot, value',
  });
  const series = isLevel(by)
    ? `SELECT slot, ${writeLevelName('value')} AS series, events AS part FROM (\n${arms.sql}\n)`
    : writeSeries(arms.sql);
  const sql = `SELECT ${start} + slot * ${width} AS timestamp, series AS \`${name}\`, sum(part) AS count
FROM (${series})
GROUP BY slot, series
ORDER BY slot, series`;
  return { ...arms, sql };
}

/** The counts of the most frequent values, and of the others together. */
function writeSeries(arms: string): string {
  const totals = `SELECT *, if(isNull(value), 0, sum(events) OVER (PARTITION BY value)) AS total FROM (\n${arms}\n)`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY total DESC, value ASC) AS place FROM (${totals})`;
  const kept = `if(isNull(value) OR place <= ${SERIES_MAX}, value, '${OTHER_VALUES}')`;
  return `SELECT slot, ${kept} AS series, events AS part FROM (${ranked})`;
}

/** The most frequent values of a field, without events that have none. */
export function writeValues(scope: SearchScope, field: SearchField): SearchStatement {
  // Of other fields than the level there are too many values for a source to count them first.
  const [own, end, count] = isLevel(field)
    ? [', count() AS own', 'GROUP BY value', 'sum(own)']
    : ['', '', 'count()'];
  const arms = compile(scope, {
    bounds: [SEARCH_FROM, SEARCH_UNTIL],
    select: (fields) => `${writeValue(fields.find(field))} AS value${own}`,
    end,
  });
  const [shown, exists] = isLevel(field)
    ? [writeLevelName('value'), 'value > 0']
    : ['value', 'value IS NOT NULL'];
  const sql = `SELECT shown AS value, events AS count
FROM (SELECT ${shown} AS shown, ${count} AS events FROM (\n${arms.sql}\n) WHERE ${exists} GROUP BY value)
ORDER BY count DESC, value
LIMIT ${VALUES_MAX}`;
  return { ...arms, sql };
}

function isLevel(field: SearchField): boolean {
  return field.length === 1 && field[0] === 'level';
}

/** The value of a field as a text that may be NULL, since fields may have different types in different sources; of a level its rank. */
function writeValue({ kind, sql }: Operand): string {
  return kind === 'level' ? sql : `CAST(toString(${sql}), 'Nullable(String)')`;
}

interface Arm {
  /** Parameters with the first and the last instant. */
  readonly bounds: readonly [from: string, until: string];
  readonly more?: (bind: Bind, source: Source) => string;
  readonly select: (fields: Fields) => string;
  readonly end?: string;
}

/** A SELECT for each source, together. */
function compile({ sources, tree, hasProject }: SearchScope, arm: Arm): SearchStatement {
  const { bind, values } = createBinder();
  let extracted: ReadonlySet<string> | undefined;
  const arms = sources.map((source) => {
    const fields = createFields(source, bind);
    const [from, until] = arm.bounds;
    const time = column('timestamp');
    const selected = arm.select(fields);
    const conditions = [
      `${time} >= @${from} AND ${time} <= @${until}`,
      hasProject && `AND ${column('project')} = @project`,
      arm.more?.(bind, source),
    ];
    const searched = tree && writeCondition(tree, { fields, bind });
    const definitions = fields.definitions();
    extracted = extracted?.intersection(fields.extracted) ?? fields.extracted;
    return `(${definitions.length === 0 ? '' : `WITH ${definitions.join(', ')} `}SELECT ${selected}
FROM ${writeSearched(source, searched)}${conditions.filter(Boolean).join(' ')}
${arm.end ?? ''})`;
  });
  return {
    sql: arms.join('\nUNION ALL\n'),
    values: Object.fromEntries(values()),
    extracted: extracted ?? new Set(),
  };
}

/**
 * The table with the condition of the search, up to the other conditions. In reading newest first, the engine reads what it sorts by for all rows,
 * unless PREWHERE has the condition; there it also remembers, for any range of time, which granules have no match. Views have no PREWHERE.
 */
function writeSearched(source: Source, condition: string | undefined): string {
  const table = `\`${source.table}\` AS t`;
  if (condition === undefined) return `${table}\nWHERE `;
  return isManaged(source) ? `${table}\nPREWHERE ${condition}\nWHERE ` : `${table}\nWHERE ${condition} AND `;
}

/** Gives each text a parameter of its own, numbered in the order of their first use. */
function createBinder() {
  const names = new Map<string, string>();
  const bind: Bind = (text) => {
    const name = names.get(text) ?? `q_${names.size + 1}`;
    names.set(text, name);
    return `@${name}`;
  };
  return { bind, values: () => [...names].map(([text, name]) => [name, text] as const) };
}
