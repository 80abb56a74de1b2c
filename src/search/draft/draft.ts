import { Document, isMap } from 'yaml';
import type { ParameterFields } from '../../definitions/parameter-type.ts';
import { formatInstant } from '../../lib/instant.ts';
import { invalidParameters, type ParameterValues } from '../../query/parameters.ts';
import { SEARCH_PARAMETER } from '../parse.ts';
import { type PartRequest, readLimit, rejectField } from '../part.ts';
import { planPart, ROW_COLUMNS, ROWS_DEFAULT } from '../plan.ts';
import { type CreateSearchOptions, readRequest } from '../search.ts';
import { toText } from './condition.ts';
import type { Names } from './names.ts';
import { type DraftParameters, planValues } from './parameters.ts';
import { type DraftQuery, writeQuery } from './query.ts';
import { planSeries, planTop } from './series.ts';
import { type DraftShape, slug } from './shape.ts';

/** A search as the files of an endpoint. */
export interface SearchDraft {
  readonly name: string;
  readonly definition: string;
  readonly sql: string;
  /** Values of its parameters with which it returns what the search does. */
  readonly values: Readonly<Record<string, string>>;
  readonly query: DraftQuery;
  readonly request: PartRequest;
  readonly parameters: DraftParameters;
}

const SHAPES: Readonly<Record<string, (request: PartRequest) => DraftShape>> = {
  rows: planEvents,
  histogram: planSeries,
  values: planTop,
};

/** The workbench reads no longer texts. */
const TEXT_BYTES_MAX = 64 * 1024;
const SEARCH_CHARS_SHOWN_MAX = 300;
const NAME_CHARS_MAX = 90;

/**
 * Writes a search as the files of an endpoint.
 *
 * @param values of `SEARCH`, checked
 * @param isTaken whether an endpoint has a name
 * @throws TailraceError `invalid_parameter` as `createSearch`, and for a part that is not one SELECT
 */
export function createDraft(
  values: ParameterValues,
  options: CreateSearchOptions,
  isTaken: (name: string) => boolean,
): SearchDraft {
  const request = readRequest(values, options);
  planPart(request); // rejects what a search rejects
  const plan = SHAPES[values['part'] ?? ''];
  if (plan === undefined)
    throw rejectField(
      'part',
      'must be rows, histogram or values for an endpoint: the other parts are not one SELECT',
    );
  const { scope, range } = request;
  const shape = plan(request);
  const { parameters: own, find } = planValues(scope.tree, scope.sources);
  const parameters = { ...describeScope(request, shape), ...own };
  const query: DraftQuery = { scope, shape, find, length: range.until - range.from };
  const sql = writeQuery(query);
  const name = chooseName(request, shape, isTaken);
  const definition = writeDefinition({ name, description: describe(request, shape), shape, parameters });
  if (Buffer.byteLength(sql) > TEXT_BYTES_MAX)
    throw invalidParameters([
      {
        parameter: SEARCH_PARAMETER,
        message:
          `is too long for an endpoint over ${scope.sources.length} sources, whose SQL may have ` +
          `${TEXT_BYTES_MAX} bytes; name fewer in "source", or search for fewer terms`,
      },
    ]);
  const { project = '' } = values;
  const bounds = { from: toIso(range.from), until: toIso(range.until) };
  return {
    ...{ name, definition, sql, query, request, parameters },
    values: { ...(project !== '' && { project }), ...bounds },
  };
}

/** Formats an instant as parameters and events have it. */
export function toIso(micros: number): string {
  return `${formatInstant(micros)
    .replace(' ', 'T')
    .replace(/\.?0+$/, '')}Z`;
}

/** The parameters of every draft: project, range and width of a time bucket. */
function describeScope({ scope, values }: PartRequest, { stepSeconds }: DraftShape): DraftParameters {
  const project: ParameterFields = scope.hasProject
    ? {
        type: 'string',
        required: true,
        description: 'Only events of this project.',
        examples: [values['project'] ?? ''],
      }
    : { type: 'string', description: 'Only events of this project. Empty or missing means every project.' };
  return {
    project,
    from: {
      type: 'timestamp',
      description: 'First instant. Default: the length of the search before `until`.',
    },
    until: { type: 'timestamp', description: 'End, exclusive. Default: now.' },
    ...(stepSeconds !== undefined && {
      step: {
        type: 'integer',
        min: 1,
        max: STEP_MAX,
        default: stepSeconds,
        description: 'Width of a time bucket, seconds.',
      },
    }),
  };
}

// A century.
const STEP_MAX = 36_500 * 86_400;

function describe({ values }: PartRequest, { description }: DraftShape): string {
  const q = (values[SEARCH_PARAMETER] ?? '').trim();
  const shown = q.length > SEARCH_CHARS_SHOWN_MAX ? `${q.slice(0, SEARCH_CHARS_SHOWN_MAX)}…` : q;
  return q === '' ? `${description}.` : `${description} that match: ${shown.toWellFormed()}`;
}

/** Chooses a name that no endpoint has, such as `edge_logs.count-by-level`. */
function chooseName(
  { scope }: PartRequest,
  { title }: DraftShape,
  isTaken: (name: string) => boolean,
): string {
  const [first] = scope.sources;
  const about = scope.sources.length === 1 && first !== undefined ? slug(first.table) : 'events';
  const name = `${about || 'events'}.${title}`.slice(0, NAME_CHARS_MAX).replace(/-+$/, '');
  let count = 1;
  while (isTaken(count === 1 ? name : `${name}-${count}`)) count++;
  return count === 1 ? name : `${name}-${count}`;
}

interface DraftDefinition {
  readonly name: string;
  readonly description: string;
  readonly shape: DraftShape;
  readonly parameters: DraftParameters;
}

export const LINE_CHARS_MAX = 110;

/** Writes endpoint.yaml without `id`, which a save adds. */
function writeDefinition({ name, description, shape, parameters }: DraftDefinition): string {
  const { maxRows, columns, chart } = shape;
  const document = new Document({
    name,
    description,
    max_rows: maxRows,
    caching: 'disabled',
    parameters,
    columns: Object.fromEntries(columns.map(({ name: column, ...fields }) => [column, fields])),
    chart,
  });
  for (const field of ['parameters', 'columns']) {
    const map = document.get(field);
    if (isMap(map)) for (const { value } of map.items) if (isMap(value)) value.flow = true;
  }
  return document.toString({ lineWidth: LINE_CHARS_MAX });
}

/** Plans the draft of `part=rows`: the first page. */
function planEvents({ values }: PartRequest): DraftShape {
  const size = readLimit(values, ROWS_DEFAULT);
  const column = (name: string) => ({ name, write: (names: Names) => names.column(name) });
  return {
    title: 'newest',
    description: 'Newest events',
    items: [
      { name: 'source', write: (names) => toText(names.find(['source'])) },
      column('id'),
      { name: 'at', write: (names) => names.column('timestamp') },
      column('project'),
      { name: 'level', write: (names) => toText(names.find(['level'])) },
      column('event_message'),
      column('metadata'),
    ],
    select: `SELECT
  source,
  id,
  toUnixTimestamp64Micro(at) AS timestamp,
  project,
  level,
  event_message,
  metadata
FROM events
ORDER BY at DESC, id DESC, source DESC, project DESC
LIMIT ${size}`,
    columns: ROW_COLUMNS,
    maxRows: size,
    chart: { show: 'table' },
  };
}
