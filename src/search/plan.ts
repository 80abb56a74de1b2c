import type { ResultColumn } from '../definitions/endpoint.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import type { ParameterValues } from '../query/parameters.ts';
import { planCompare } from './analysis/compare.ts';
import { FIELDS_DEFAULT, planFields } from './analysis/fields.ts';
import { PATTERNS_DEFAULT, planPatterns } from './analysis/patterns.ts';
import { SEARCH_UNTIL } from './arms.ts';
import { type Histogram, listColumns, SEARCH_WIDTH, seriesRowsMax, writeHistogram } from './histogram.ts';
import { MEASURE_PARAMETER, parseMeasure } from './measure.ts';
import {
  boundsOf,
  type PartRequest,
  type PlannedPart,
  type Range,
  readField,
  readLimit,
  rejectField,
} from './part.ts';
import { VALUES_MAX, writeRows, writeValues } from './statement.ts';

export const ROWS_DEFAULT = 100;

const PLANS: Readonly<Record<string, (request: PartRequest) => PlannedPart>> = {
  rows: planRows,
  histogram: planHistogram,
  values: planValues,
  fields: ({ scope, values, range }) => ({
    ...planFields(scope, readLimit(values, FIELDS_DEFAULT)),
    values: boundsOf(range),
  }),
  compare: planCompare,
  patterns: ({ scope, values, range }) => ({
    ...planPatterns(scope, readLimit(values, PATTERNS_DEFAULT)),
    values: boundsOf(range),
  }),
};

/** Plans the query of a part. @throws TailraceError `invalid_parameter` */
export function planPart(request: PartRequest): PlannedPart {
  const plan = PLANS[request.values['part'] ?? ''] ?? planRows;
  return plan(request);
}

function planRows({ scope, values, range }: PartRequest): PlannedPart {
  const size = readLimit(values, ROWS_DEFAULT);
  const pages = {
    by: [
      { name: 'timestamp', type: 'integer', isDescending: true },
      ...['id', 'source', 'project'].map((name) => ({ name, type: 'string', isDescending: true }) as const),
    ],
    size,
    sources: scope.sources,
    canSkip: true, // each source adds as many rows
    range: { after: AFTER, until: SEARCH_UNTIL },
  } as const;
  const bounds = { [AFTER]: formatInstant(range.from - 1), [SEARCH_UNTIL]: formatInstant(range.until - 1) };
  return { columns: ROW_COLUMNS, maxRows: size, pages, values: bounds, writeSelect: writeRows(scope, size) };
}

/** The exclusive lower bound of pages. */
const AFTER = 'search_after';

function planValues({ scope, values, range }: PartRequest): PlannedPart {
  const field = readField(values, 'field');
  return {
    columns: VALUE_COLUMNS,
    maxRows: VALUES_MAX,
    values: boundsOf(range),
    writeSelect: writeValues(scope, field),
    field,
  };
}

/** Parses what a histogram shows. @throws TailraceError `invalid_parameter` */
export function readHistogram(values: ParameterValues): Histogram {
  const measure = parseMeasure(values[MEASURE_PARAMETER] ?? 'count');
  const top = values['top'] === '' || values['top'] === undefined ? undefined : Number(values['top']);
  return { by: readField(values, 'by'), name: values['by'] ?? '', measure, top };
}

/** Returns the width of a time bucket, microseconds. */
export function widthOf({ from, until }: Range, values: ParameterValues): Micros {
  return Math.ceil((until - from) / Number(values['buckets']));
}

function planHistogram({ scope, values, range }: PartRequest): PlannedPart {
  const histogram = readHistogram(values);
  const { name, measure } = histogram;
  const columns = listColumns(histogram, COUNT);
  const isTaken = columns.filter((column) => column.name === name).length > 1;
  if (!/^[\w.@$-]{1,200}$/.test(name) || isTaken)
    throw rejectField(
      'by',
      'must have only letters, digits, _, -, @, $ and dots; write ' +
        `metadata.${isTaken ? name : 'count'} for a field "${isTaken ? name : 'count'}"`,
    );
  const buckets = Number(values['buckets']);
  const width = widthOf(range, values);
  return {
    columns,
    maxRows: buckets * seriesRowsMax(histogram),
    values: { ...boundsOf(range), [SEARCH_WIDTH]: String(width) },
    writeSelect: writeHistogram(scope, histogram),
    field: histogram.by,
    ...(measure && { measure }),
  };
}

export const COUNT: ResultColumn = { name: 'count', type: 'integer', description: 'Number of events.' };
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
  { name: 'metadata', type: 'json', description: 'Attributes of the event, exactly as received.' },
];
