import type { ResultColumn } from '../definitions/endpoint.ts';
import { PAGE_SKIP } from '../definitions/pages.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { formatInstant } from '../lib/instant.ts';
import { NO_CURSOR } from '../query/position.ts';
import { writeValue } from '../sql/sql.ts';
import { planCompare } from './analysis/compare.ts';
import { planFields } from './analysis/fields.ts';
import { planPatterns } from './analysis/patterns.ts';
import { joinPartsOfRank, writeLevelName, writePartsOfRank } from './comparison.ts';
import { column, writeMetadata } from './field.ts';
import { planHistogram } from './histogram.ts';
import type { SearchField } from './parse.ts';
import {
  COUNT,
  isLevel,
  type PartRequest,
  type PlannedPart,
  readField,
  readLimit,
  type SearchScope,
  writeArms,
  writeFieldValue,
} from './part.ts';

const PLANS: Readonly<Record<string, (request: PartRequest) => PlannedPart>> = {
  rows: planRows,
  histogram: planHistogram,
  values: planValues,
  fields: planFields,
  compare: planCompare,
  patterns: planPatterns,
};

/** Plans the query of a part. @throws TailraceError `invalid_parameter` */
export function planPart(request: PartRequest): PlannedPart {
  const plan = PLANS[request.values['part'] ?? ''] ?? planRows;
  return plan(request);
}

export const ROWS_DEFAULT = 100;
export const VALUES_MAX = 20;

function planRows({ scope, values }: PartRequest): PlannedPart {
  const size = readLimit(values, ROWS_DEFAULT);
  const pages = {
    by: [
      { name: 'timestamp', type: 'integer', isDescending: true },
      ...['id', 'source', 'project'].map((name) => ({ name, type: 'string', isDescending: true }) as const),
    ],
    size,
    sources: scope.sources,
    canSkip: true, // each source adds as many rows
    range: { after: AFTER, until: UNTIL },
  } as const;
  const { from, until } = scope.range;
  return {
    columns: ROW_COLUMNS,
    maxRows: size,
    pages,
    values: { [AFTER]: formatInstant(from - 1), [UNTIL]: formatInstant(until - 1) },
    writeSelect: (value) => writeRows(scope, size, value),
  };
}

/** The bounds of pages: the lower one is exclusive. */
const AFTER = 'search_after';
const UNTIL = 'search_until';

function planValues({ scope, values }: PartRequest): PlannedPart {
  const field = readField(values, 'field');
  return {
    columns: VALUE_COLUMNS,
    maxRows: VALUES_MAX,
    writeSelect: () => writeValues(scope, field),
    fields: [field],
  };
}

const VALUE_COLUMNS: readonly ResultColumn[] = [
  { name: 'value', type: 'string', description: 'Value of the field.' },
  COUNT,
];
export const ROW_COLUMNS: readonly ResultColumn[] = [
  { name: 'source', type: 'string', description: 'Name of the source.' },
  { name: 'id', type: 'string', description: 'Identifier of the event.' },
  {
    name: 'timestamp',
    type: 'integer',
    description: 'Time of the event, microseconds since the epoch, UTC.',
  },
  { name: 'project', type: 'string', description: 'Project of the event.' },
  { name: 'level', type: 'string', description: 'trace, debug, info, warn, error, fatal or null.' },
  { name: 'event_message', type: 'string', description: 'Message of the event.' },
  { name: 'metadata', type: 'json', description: 'Fields of the event, exactly as received.' },
];

/** Writes the newest events; each source is cut at the page before they are merged. @param value SQL of a parameter */
function writeRows(scope: SearchScope, size: number, value: Value): string {
  // What the first page does not need is left out, since the engine would analyse it in the SELECT of each source.
  const isFirst = value('cursor_id') === NO_CURSOR;
  const skipped = value(PAGE_SKIP);
  const [limit, offset] =
    skipped === NOTHING
      ? [size, '']
      : [`${size} + toUInt64OrZero(${skipped})`, ` OFFSET CAST(${skipped}, 'UInt64')`];
  const arms = writeArms(scope, {
    bounds: [value('page_from'), value('page_until')],
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
}

type Value = (name: string) => string;
const NOTHING = writeValue('');
const ORDER = ['timestamp', 'id', 'project'];
// The order of equal rows, which has to be the same in the query for each page: that of the parts, then that within one.
// The engine lists the parts of a day by their first insert. Merges change neither.
const STORED = ['`#part`', '`#row`'];

/** Writes the position of a row: the number of rows in earlier parts, and before it in its part. Not for existing tables. */
function writeStored(source: Source): string {
  const places = isManaged(source)
    ? [column('_part_starting_offset'), column('_part_offset')]
    : ['toUInt64(0)', 'toUInt64(0)'];
  return places.map((place, i) => `${place} AS ${STORED[i]}`).join(', ');
}

/** Writes the parts of an event's level, of which `ROW_ITEMS` computes it once for all sources. */
function writeLevelParts({ level }: Source): string {
  const { text, status } = writePartsOfRank(level, column);
  return `${text} AS level_text, ${status} AS level_status`;
}

const COLUMNS = [
  ...['id', 'project', 'event_message'].map((name) => `${column(name)} AS ${name}`),
  // Chosen from after the newest are found: until then the engine need not read them.
  `${column('metadata')} AS json, ${column('attributes')} AS others, ${column('timestamp')} AS at`,
].join(', ');
const ROW_ITEMS = `source, id, toUnixTimestamp64Micro(at) AS timestamp, project,
  ${writeLevelName(joinPartsOfRank('level_text', 'level_status'))} AS level,
  event_message, ${writeMetadata('json', 'others')} AS metadata`;

/** Writes the condition of rows after the cursor, up to its instant. Its columns are those of the order, with the source. */
function writeAfterCursor(source: string, value: Value): string {
  const [id, project] = [column('id'), column('project')];
  const [ofSource, ofProject, ofId] = ['source', 'project', 'id'].map((name) => value(`cursor_${name}`));
  const isAfter = `${source} < ${ofSource} OR (${source} = ${ofSource} AND ${project} < ${ofProject})`;
  const isBefore = `${column('timestamp')} < ${value('page_until')}`;
  return `${isBefore} OR ${id} < ${ofId} OR (${id} = ${ofId} AND (${isAfter}))`;
}

/** Writes the most frequent values of a field, without events that have none. */
function writeValues(scope: SearchScope, field: SearchField): string {
  const [shown, exists] = isLevel(field)
    ? [writeLevelName('"#value"'), '"#value" > 0']
    : ['"#value"', '"#value" IS NOT NULL'];
  const arms = writeArms(scope, {
    select: (fields) => `${writeFieldValue(fields.find(field))} AS "#value"`,
  });
  return `SELECT ${shown} AS value, count() AS count FROM (\n${arms}\n) WHERE ${exists}
GROUP BY "#value" ORDER BY count DESC, value LIMIT ${VALUES_MAX}`;
}
