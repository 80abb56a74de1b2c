import { Document, isMap } from 'yaml';
import { createParameter } from '../../definitions/parameter.ts';
import type { ParameterFields } from '../../definitions/parameter-type.ts';
import type { Source } from '../../definitions/source.ts';
import { formatInstant } from '../../lib/instant.ts';
import { type ParameterValues, rejectParameter } from '../../query/parameters.ts';
import { boundOfInteger, isNumber } from '../comparison.ts';
import { findColumn, isRowField } from '../field.ts';
import {
  type Compare,
  printField,
  SEARCH_PARAMETER,
  type SearchClause,
  type SearchOperator,
  type SearchTree,
} from '../parse.ts';
import type { PartRequest } from '../part.ts';
import { planPart } from '../plan.ts';
import { type CreateSearchOptions, readRequest } from '../search.ts';
import { type DraftQuery, type DraftShape, writeQuery } from './query.ts';
import { SHAPES, slug } from './shape.ts';

/** A search as the files of an endpoint. */
export type SearchDraft = ReturnType<typeof createDraft>;

/** The parameters of a draft by name. */
type DraftParameters = Readonly<Record<string, ParameterFields>>;

/** The workbench reads no longer texts. */
const TEXT_BYTES_MAX = 64 * 1024;
const SEARCH_CHARS_SHOWN_MAX = 300;
const NAME_CHARS_MAX = 90;
export const LINE_CHARS_MAX = 110;

/**
 * Writes a search as the files of an endpoint.
 *
 * @param isTaken whether an endpoint has a name
 * @throws TailraceError `invalid_parameter` as `createSearch`, and for a part that is not one SELECT
 */
export function createDraft(
  values: ParameterValues,
  options: CreateSearchOptions,
  isTaken: (name: string) => boolean,
) {
  const request = readRequest(values, options);
  planPart(request); // rejects what a search rejects
  const shapeOf = SHAPES[values['part'] ?? ''];
  if (shapeOf === undefined)
    throw rejectParameter(
      'part',
      'must be rows, histogram or values for an endpoint: the other parts are not one SELECT',
    );
  const { scope } = request;
  const shape = shapeOf(request);
  const { parameters: own, names } = planValues(scope.tree, scope.sources);
  const parameters = { ...describeScope(request, shape), ...own };
  const query: DraftQuery = { ...request, shape, findParameter: (clause) => names.get(clause) };
  const sql = writeQuery(query);
  if (Buffer.byteLength(sql) > TEXT_BYTES_MAX)
    throw rejectParameter(
      SEARCH_PARAMETER,
      `is too long for an endpoint over ${scope.sources.length} sources, whose SQL may have ` +
        `${TEXT_BYTES_MAX} bytes; name fewer in "source", or search for fewer terms`,
    );
  const name = chooseName(request, shape, isTaken);
  const definition = writeDefinition({ name, description: describe(request, shape) }, shape, parameters);
  const { project = '' } = values;
  const bounds = { from: toIso(scope.range.from), until: toIso(scope.range.until) };
  return {
    ...{ name, definition, sql, query, parameters },
    /** With which it returns what the search does. */
    values: { ...(project !== '' && { project }), ...bounds },
  };
}

/** Formats an instant as parameters and events have it. */
export function toIso(micros: number): string {
  return `${formatInstant(micros)
    .replace(' ', 'T')
    .replace(/\.?0+$/, '')}Z`;
}

// A microsecond, and a century.
const STEP_MIN = 0.000_001;
const STEP_MAX = 36_500 * 86_400;

/** The parameters of every draft: project, range and width of a time bucket. */
function describeScope({ scope, values }: PartRequest, { stepSeconds }: DraftShape): DraftParameters {
  const project: ParameterFields =
    scope.project !== ''
      ? {
          type: 'string',
          required: true,
          description: 'Only events of this project.',
          examples: [values['project'] ?? ''],
        }
      : { type: 'string', description: 'Only events of this project. Empty or missing means every project.' };
  const from = 'First instant. Default: the length of the search before `until`.';
  return {
    project,
    from: { type: 'timestamp', description: from },
    until: { type: 'timestamp', description: 'End, exclusive. Default: now.' },
    ...(stepSeconds !== undefined && {
      step: {
        type: 'number',
        min: STEP_MIN,
        max: STEP_MAX,
        default: stepSeconds,
        description: 'Width of a time bucket, seconds. The first begins at `from`.',
      },
    }),
  };
}

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
  const [first, ...others] = scope.sources;
  const about = others.length === 0 && first !== undefined ? slug(first.table) : '';
  const name = `${about || 'events'}.${title}`.slice(0, NAME_CHARS_MAX).replace(/-+$/, '');
  let count = 1;
  while (isTaken(count === 1 ? name : `${name}-${count}`)) count++;
  return count === 1 ? name : `${name}-${count}`;
}

/** Writes endpoint.yaml without `id`, which a save adds. */
function writeDefinition(
  texts: { readonly name: string; readonly description: string },
  { maxRows, columns, chart }: DraftShape,
  parameters: DraftParameters,
): string {
  const document = new Document({
    ...texts,
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

const VALUES_MAX = 8;
const CHARS_MAX = 256;

/** Names that the SQL, the service or a request already use. */
const TAKEN: ReadonlySet<string> = new Set('project from until step now format cursor sql'.split(' '));

const SUFFIXES: Readonly<Record<SearchOperator, readonly [suffix: string, words: string]>> = {
  '=': ['', 'Value'],
  '>=': ['_from', 'Least value'],
  '<=': ['_to', 'Greatest value'],
  '>': ['_above', 'Values above this,'],
  '<': ['_below', 'Values below this,'],
};

/**
 * Creates parameters for the values that every event of a search has to meet in a typed column, with the searched values
 * as their defaults. Values of other conditions stay in the SQL.
 */
function planValues(tree: SearchTree, sources: readonly Source[]) {
  const parameters: Record<string, ParameterFields> = {};
  const names = new Map<SearchClause, string>();
  for (const clause of tree.kind === 'and' ? tree.items : [tree]) {
    if (clause.kind !== 'compare' || names.size === VALUES_MAX) continue;
    const planned = planValue(clause, sources);
    if (planned === undefined) continue;
    const [name, fields] = planned;
    if (TAKEN.has(name) || Object.hasOwn(parameters, name)) continue;
    parameters[name] = fields;
    names.set(clause, `@${name}`);
  }
  return { parameters, names };
}

function planValue(clause: Compare, sources: readonly Source[]): [string, ParameterFields] | undefined {
  if (clause.value.length > 1 || isRowField(clause.field)) return undefined;
  const [first, ...others] = sources.map((source) => findColumn(source, clause.field));
  const isOfType = (type: string | undefined) => type === first?.type || areTexts(type, first?.type);
  if (first === undefined || !others.every((one) => isOfType(one?.type))) return undefined;
  const value = chooseType(clause, first.type);
  if (value === undefined) return undefined;
  const [suffix, words] = SUFFIXES[clause.operator];
  const field = printField(clause.field);
  const link = suffix === '' && { search: field };
  const fields = { ...value, description: `${words} of ${field}.`, ...link };
  return isValid(fields) ? [first.name + suffix, fields] : undefined;
}

const areTexts = (...types: readonly unknown[]) =>
  types.every((type) => type === 'string' || type === 'keyword');

/** Chooses the type by which `@name` is a value of the column's. */
function chooseType(clause: Compare, type: string): Pick<ParameterFields, 'type' | 'default'> | undefined {
  const { value, operator, isQuoted } = clause;
  const [text] = value;
  if (areTexts(type)) return operator === '=' ? { type: 'string', default: text } : undefined;
  if (type === 'number')
    return isNumber(text) && !isQuoted ? { type: 'number', default: Number(text) } : undefined;
  const bound = type === 'integer' ? boundOfInteger(clause) : 'never';
  const isSame = typeof bound === 'object' && bound.operator === operator;
  if (!isSame || !Number.isSafeInteger(Number(bound.value))) return undefined;
  return { type: 'integer', default: Number(bound.value) };
}

/** Whether endpoint.yaml can have the value as a default: an empty one counts as not sent. */
function isValid(fields: ParameterFields): boolean {
  const { default: value } = fields;
  if (typeof value === 'string' && (value === '' || value.length > CHARS_MAX || /\p{C}/u.test(value)))
    return false;
  try {
    return createParameter('value', fields).defaultText !== '';
  } catch {
    return false;
  }
}
