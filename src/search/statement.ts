import type { Endpoint } from '../definitions/endpoint.ts';
import { PAGE_SKIP } from '../definitions/pages.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { NO_CURSOR } from '../query/position.ts';
import type { SelectItem } from '../sql/final-select.ts';
import { writeValue } from '../sql/quote.ts';
import { writeCondition } from './condition.ts';
import { column, createFields, type Fields, type Operand, TABLE } from './field.ts';
import { joinPartsOfRank, writeLevelName, writePartsOfRank } from './level.ts';
import type { SearchField, SearchTree } from './tree.ts';

/** Writes the query of a search (definitions/endpoint.ts). */
export type WriteSearch = NonNullable<Endpoint['writeSelect']>;

/** The input of every part of an answer. */
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

/** Writes the newest events; each source is cut at the page before they are merged. */
export function writeRows(scope: SearchScope, size: number): WriteSearch {
  return (value) => {
    // What the first page does not need is left out, since the engine would analyse it in the SELECT of each source.
    const isFirst = value('cursor_id') === NO_CURSOR;
    const skipped = value(PAGE_SKIP);
    const limit = skipped === NOTHING ? size : `${size} + toUInt64OrZero(${skipped})`;
    const arms = writeArms(scope, value, {
      bounds: ['page_from', 'page_until'],
      more: (source) => (isFirst ? '' : `AND (${writeAfterCursor(writeValue(source.name), value)})`),
      select: (fields, source) =>
        `${fields.find(['source']).sql} AS source, ${COLUMNS}, ${writeLevelParts(source)}, ${writeStored(source)}`,
      end: `ORDER BY ${[...ORDER.map(column), ...STORED].map((sql) => `${sql} DESC`).join(', ')} LIMIT ${limit}`,
    });
    return {
      items: ROW_ITEMS,
      after: `FROM (
${arms}
)
ORDER BY ${['at', 'id', 'source', 'project', ...STORED].map((sql) => `${sql} DESC`).join(', ')}`,
      limit: size,
    };
  };
}

const NOTHING = writeValue('');
const ORDER = ['timestamp', 'id', 'project'];
// The order of equal rows, which has to be the same in the query for each page. Merges change neither: a merged part keeps its lowest
// number, and the engine keeps the order of its rows.
const STORED = ['`#insert`', '`#row`'];

/** Writes where a row was stored: number of the insert, and of the row in its part. Unknown for an existing table. */
function writeStored(source: Source): string {
  const [insert, row] = isManaged(source)
    ? [`toUInt64(splitByChar('_', ${column('_part')})[2])`, column('_part_offset')]
    : ['toUInt64(0)', 'toUInt64(0)'];
  return `${insert} AS ${STORED[0]}, ${row} AS ${STORED[1]}`;
}

/** Writes the parts of an event's level, of which `ROW_ITEMS` computes it once for all sources. */
function writeLevelParts({ level }: Source): string {
  const { text, status } = writePartsOfRank(level, column);
  return `${text} AS level_text, ${status} AS level_status`;
}

const COLUMNS = [
  ...['id', 'project', 'event_message', 'metadata'].map((name) => `${column(name)} AS ${name}`),
  `${column('timestamp')} AS at`,
].join(', ');
const ROW_ITEMS: readonly SelectItem[] = [
  { name: 'source', sql: 'source' },
  { name: 'id', sql: 'id' },
  { name: 'timestamp', sql: 'toUnixTimestamp64Micro(at) AS timestamp' },
  { name: 'project', sql: 'project' },
  { name: 'level', sql: `${writeLevelName(joinPartsOfRank('level_text', 'level_status'))} AS level` },
  { name: 'event_message', sql: 'event_message' },
  { name: 'metadata', sql: 'metadata' },
];

/** Writes the condition of rows after that of the cursor, among those up to its instant. Its columns are those of the order, including the source. */
function writeAfterCursor(source: string, value: Value): string {
  const [id, project] = [column('id'), column('project')];
  const [ofSource, ofProject, ofId] = ['source', 'project', 'id'].map((name) => value(`cursor_${name}`));
  const isAfter = `${source} < ${ofSource} OR (${source} = ${ofSource} AND ${project} < ${ofProject})`;
  const isBefore = `${column('timestamp')} < ${value('page_until')}`;
  return `${isBefore} OR ${id} < ${ofId} OR (${id} = ${ofId} AND (${isAfter}))`;
}

// The field of a histogram may have any name but these, since `#` is not allowed in names.
const SLOT = '`#slot`';
const VALUE = '`#value`';
const EVENTS = '`#events`';
const SERIES = '`#series`';
const PART = '`#part`';
const TOTAL = '`#total`';
const RANK = '`#rank`';

/** Writes counts by time bucket and by a field: of more than `SERIES_MAX` values the most frequent. @param name of the column, without backticks */
export function writeHistogram(scope: SearchScope, by: SearchField, name: string): WriteSearch {
  return (value) => {
    const start = `toUnixTimestamp64Micro(toDateTime64(${value(SEARCH_FROM)}, 6, 'UTC'))`;
    const width = `CAST(${value(SEARCH_WIDTH)}, 'Int64')`;
    const slot = `intDiv(toUnixTimestamp64Micro(${column('timestamp')}) - ${start}, ${width})`;
    const arms = writeArms(scope, value, {
      bounds: [SEARCH_FROM, SEARCH_UNTIL],
      select: (fields) =>
        `${slot} AS ${SLOT}, ${writeFieldValue(fields.find(by))} AS ${VALUE}, count() AS ${EVENTS}`,
      end: `GROUP BY ${SLOT}, ${VALUE}`,
    });
    const series = isLevel(by)
      ? `SELECT ${SLOT}, ${writeLevelName(VALUE)} AS ${SERIES}, ${EVENTS} AS ${PART} FROM (\n${arms}\n)`
      : writeSeries(arms);
    return {
      items: [
        { name: 'timestamp', sql: `${start} + ${SLOT} * ${width} AS timestamp` },
        { name, sql: `${SERIES} AS \`${name}\`` },
        { name: 'count', sql: `sum(${PART}) AS count` },
      ],
      after: `FROM (${series})
GROUP BY ${SLOT}, ${SERIES}
ORDER BY ${SLOT}, ${SERIES}`,
      limit: undefined,
    };
  };
}

/** Writes the counts of the most frequent values, and of the others together. */
function writeSeries(arms: string): string {
  const totals = `SELECT *, if(isNull(${VALUE}), 0, sum(${EVENTS}) OVER (PARTITION BY ${VALUE})) AS ${TOTAL} FROM (\n${arms}\n)`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY ${TOTAL} DESC, ${VALUE} ASC) AS ${RANK} FROM (${totals})`;
  const kept = `if(isNull(${VALUE}) OR ${RANK} <= ${SERIES_MAX}, ${VALUE}, '${OTHER_VALUES}')`;
  return `SELECT ${SLOT}, ${kept} AS ${SERIES}, ${EVENTS} AS ${PART} FROM (${ranked})`;
}

/** Writes the most frequent values of a field, without events that have none. */
export function writeValues(scope: SearchScope, field: SearchField): WriteSearch {
  // Of other fields than the level there are too many values for a source to count them first.
  const [own, end, count] = isLevel(field)
    ? [`, count() AS ${EVENTS}`, `GROUP BY ${VALUE}`, `sum(${EVENTS})`]
    : ['', '', 'count()'];
  const [shown, exists] = isLevel(field)
    ? [writeLevelName(VALUE), `${VALUE} > 0`]
    : [VALUE, `${VALUE} IS NOT NULL`];
  return (value) => {
    const arms = writeArms(scope, value, {
      bounds: [SEARCH_FROM, SEARCH_UNTIL],
      select: (fields) => `${writeFieldValue(fields.find(field))} AS ${VALUE}${own}`,
      end,
    });
    return {
      items: [
        { name: 'value', sql: `${SERIES} AS value` },
        { name: 'count', sql: `${PART} AS count` },
      ],
      after: `FROM (SELECT ${shown} AS ${SERIES}, ${count} AS ${PART} FROM (\n${arms}\n) WHERE ${exists} GROUP BY ${VALUE})
ORDER BY count DESC, value`,
      limit: VALUES_MAX,
    };
  };
}

function isLevel(field: SearchField): boolean {
  return field.length === 1 && field[0] === 'level';
}

/** Writes the value of a field as a text that may be NULL, since fields may have different types in different sources; for a level its rank. */
function writeFieldValue({ kind, sql }: Operand): string {
  return kind === 'level' ? sql : `CAST(toString(${sql}), 'Nullable(String)')`;
}

type Value = Parameters<WriteSearch>[0];

interface Arm {
  /** Parameters with the first and the last instant. */
  readonly bounds: readonly [from: string, until: string];
  readonly more?: (source: Source) => string;
  readonly select: (fields: Fields, source: Source) => string;
  readonly end?: string;
}

/** Writes one UNION of a SELECT for each source. */
function writeArms({ sources, tree, hasProject }: SearchScope, value: Value, arm: Arm): string {
  const [from, until] = arm.bounds.map(value);
  const time = column('timestamp');
  const project = hasProject ? `AND ${column('project')} = ${value('project')}` : undefined;
  const arms = sources.map((source) => {
    const fields = createFields(source);
    const selected = arm.select(fields, source);
    const conditions = [`${time} >= ${from} AND ${time} <= ${until}`, project, arm.more?.(source)];
    const searched = tree && writeCondition(tree, fields);
    const definitions = fields.definitions();
    return `(${definitions.length === 0 ? '' : `WITH ${definitions.join(', ')} `}SELECT ${selected}
FROM ${writeSearched(source, searched)}${conditions.filter(Boolean).join(' ')}
${arm.end ?? ''})`;
  });
  return arms.join('\nUNION ALL\n');
}

/**
 * Writes the table with the condition of the search, up to the other conditions. The condition is in PREWHERE: otherwise the engine reads the
 * columns it sorts by for all rows. There it also remembers, for any range of time, which granules have no match. Views have no PREWHERE.
 */
function writeSearched(source: Source, condition: string | undefined): string {
  const table = `\`${source.table}\` AS ${TABLE}`;
  if (condition === undefined) return `${table}\nWHERE `;
  return isManaged(source) ? `${table}\nPREWHERE ${condition}\nWHERE ` : `${table}\nWHERE ${condition} AND `;
}
