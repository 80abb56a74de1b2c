import { PAGE_SKIP } from '../definitions/pages.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { NO_CURSOR } from '../query/position.ts';
import { writeValue } from '../sql/quote.ts';
import {
  isLevel,
  SEARCH_FROM,
  SEARCH_UNTIL,
  type SearchScope,
  type Value,
  type WriteSearch,
  writeArms,
  writeFieldValue,
} from './arms.ts';
import { column } from './field.ts';
import { joinPartsOfRank, writeLevelName, writePartsOfRank } from './level.ts';
import type { SearchField } from './tree.ts';

export const VALUES_MAX = 20;

/** Writes the newest events; each source is cut at the page before they are merged. */
export function writeRows(scope: SearchScope, size: number): WriteSearch {
  return (value) => {
    // What the first page does not need is left out, since the engine would analyse it in the SELECT of each source.
    const isFirst = value('cursor_id') === NO_CURSOR;
    const skipped = value(PAGE_SKIP);
    const [limit, offset] =
      skipped === NOTHING
        ? [size, '']
        : [`${size} + toUInt64OrZero(${skipped})`, ` OFFSET CAST(${skipped}, 'UInt64')`];
    const arms = writeArms(scope, value, {
      bounds: ['page_from', 'page_until'],
      more: (source) => (isFirst ? '' : `AND (${writeAfterCursor(writeValue(source.name), value)})`),
      select: (_, source) =>
        `${writeValue(source.name)} AS source, ${COLUMNS}, ${writeLevelParts(source)}, ${writeStored(source)}`,
      end: `ORDER BY ${[...ORDER.map(column), ...STORED].map((sql) => `${sql} DESC`).join(', ')} LIMIT ${limit}`,
    });
    return `SELECT ${ROW_ITEMS} FROM (
${arms}
)
ORDER BY ${['at', 'id', 'source', 'project', ...STORED].map((sql) => `${sql} DESC`).join(', ')}
LIMIT ${size}${offset}`;
  };
}

const NOTHING = writeValue('');
const ORDER = ['timestamp', 'id', 'project'];
// The order of equal rows, which has to be the same in the query for each page. Merges change neither: a merged part
// keeps its lowest number, and the engine keeps the order of its rows.
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
const ROW_ITEMS = `source, id, toUnixTimestamp64Micro(at) AS timestamp, project,
  ${writeLevelName(joinPartsOfRank('level_text', 'level_status'))} AS level, event_message, metadata`;

/**
 * Writes the condition of rows after that of the cursor, among those up to its instant. Its columns are those of the
 * order, including the source.
 */
function writeAfterCursor(source: string, value: Value): string {
  const [id, project] = [column('id'), column('project')];
  const [ofSource, ofProject, ofId] = ['source', 'project', 'id'].map((name) => value(`cursor_${name}`));
  const isAfter = `${source} < ${ofSource} OR (${source} = ${ofSource} AND ${project} < ${ofProject})`;
  const isBefore = `${column('timestamp')} < ${value('page_until')}`;
  return `${isBefore} OR ${id} < ${ofId} OR (${id} = ${ofId} AND (${isAfter}))`;
}

// Names that no field has, since `#` is not allowed in names.
const VALUE = '`#value`';
const EVENTS = '`#events`';
const SERIES = '`#series`';
const PART = '`#part`';

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
    return `SELECT ${SERIES} AS value, ${PART} AS count
FROM (SELECT ${shown} AS ${SERIES}, ${count} AS ${PART} FROM (\n${arms}\n) WHERE ${exists} GROUP BY ${VALUE})
ORDER BY count DESC, value LIMIT ${VALUES_MAX}`;
  };
}
