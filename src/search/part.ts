import type { AskStep, Endpoint, ResultColumn } from '../definitions/endpoint.ts';
import { createParameter, type Parameter } from '../definitions/parameter.ts';
import type { ParameterFields } from '../definitions/parameter-type.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import type { FilledTables } from '../engine/write-marks.ts';
import { formatInstant, type Micros } from '../lib/instant.ts';
import { type ParameterValues, rejectParameter } from '../query/parameters.ts';
import { writeValue } from '../sql/sql.ts';
import { toText, writeConditions } from './condition.ts';
import { column, createFields, type Operand, type SearchFields, TABLE } from './field.ts';
import { parseField, SEARCH_PARAMETER, type SearchField, type SearchTree } from './parse.ts';

/** From `from`, before `until`. */
export interface Range {
  readonly from: Micros;
  readonly until: Micros;
}

/** The events that every part of an answer is about. */
export interface SearchScope {
  /** At least one. */
  readonly sources: readonly Source[];
  readonly tree: SearchTree;
  /** Only events of this project; empty: of all. */
  readonly project: string;
  readonly range: Range;
  /** Tables without rows are left out of the query, unless it would read none. Default: every table may have rows. */
  readonly mayHaveRows?: FilledTables['mayHaveRows'] | undefined;
}

/** What a caller asks for, checked but for the parameters of its part. */
export interface PartRequest {
  readonly scope: SearchScope;
  readonly values: ParameterValues;
  /** Terms that a search may have. */
  readonly clausesMax: number;
}

/** The members of the endpoint that answers one part. */
export interface PlannedPart
  extends Pick<Endpoint, 'columns' | 'maxRows' | 'writeSelect' | 'prepare'>,
    Partial<Pick<Endpoint, 'pages'>> {
  /** Values that the range of pages is computed from. */
  readonly values?: ParameterValues;
  /** The fields that it groups by or measures. */
  readonly fields?: readonly SearchField[] | undefined;
  /** Why it may find nothing, besides the search. */
  readonly doubt?: string | undefined;
}

/** A column of every part that counts. */
export const COUNT: ResultColumn = { name: 'count', type: 'integer', description: 'Number of events.' };

export function isLevel(field: SearchField): boolean {
  return field.length === 1 && field[0] === 'level';
}

/** Writes the value of a field as a text or NULL, since its type may differ between sources; of a level its rank. */
export function writeFieldValue(operand: Operand): string {
  return operand.kind === 'level' ? operand.write() : writeFieldText(operand);
}

/** The same with a text for the level, too. */
export function writeFieldText(operand: Operand): string {
  return `CAST(${toText(operand)}, 'Nullable(String)')`;
}

interface Arm {
  /** SQL of the first and the last instant. Default: those of the range. */
  readonly bounds?: readonly [from: string, until: string];
  readonly more?: (source: Source) => string;
  /** Instead of the condition of the search. */
  readonly condition?: (fields: SearchFields) => string;
  /** Reads only these events (`writeSample`). Before the other conditions, so that those are tested on few events. */
  readonly sample?: string | undefined;
  readonly select: (fields: SearchFields, source: Source) => string;
  readonly end?: string;
}

/** Writes one UNION of a SELECT for each source. */
export function writeArms(scope: SearchScope, arm: Arm): string {
  const { tree, project, range } = scope;
  const [from, until] =
    arm.bounds ?? [range.from, range.until - 1].map((micros) => writeValue(formatInstant(micros)));
  const time = column('timestamp');
  const ofProject = project === '' ? undefined : `AND ${column('project')} = ${writeValue(project)}`;
  const arms = listRead(scope).map((source) => {
    const fields = createFields(source);
    const selected = arm.select(fields, source);
    const conditions = [`${time} >= ${from} AND ${time} <= ${until}`, ofProject, arm.more?.(source)];
    const own = arm.condition?.(fields);
    const found = own === undefined ? writeConditions(tree, fields) : [own];
    const searched = [...(arm.sample === undefined ? [] : [arm.sample]), ...found].join(' AND ');
    const definitions = fields.definitions();
    return `(${definitions.length === 0 ? '' : `WITH ${definitions.join(', ')} `}SELECT ${selected}
FROM ${writeSearched(source, searched)}${conditions.filter(Boolean).join(' ')}
${arm.end ?? ''})`;
  });
  return arms.join('\nUNION ALL\n');
}

/** Lists the sources that may have events. At least one is read: without a SELECT the answer would have no columns. */
function listRead({ sources, mayHaveRows }: SearchScope): readonly Source[] {
  if (mayHaveRows === undefined) return sources;
  const filled = sources.filter((source) => !isManaged(source) || mayHaveRows(source.table));
  return filled.length > 0 ? filled : sources.slice(0, 1);
}

/**
 * Writes the table with the condition of the search, up to the other conditions. The condition is in PREWHERE:
 * otherwise the engine reads the columns it sorts by for all rows. There it also remembers, for any range of time,
 * which granules have no match. Views have no PREWHERE.
 */
function writeSearched(source: Source, condition: string): string {
  const table = `\`${source.table}\` AS ${TABLE}`;
  if (condition === '') return `${table}\nWHERE `;
  return isManaged(source) ? `${table}\nPREWHERE ${condition}\nWHERE ` : `${table}\nWHERE ${condition} AND `;
}

/** Returns the sample of a search that has at most so many events. */
export async function findSample(ask: AskStep, scope: SearchScope, rowsMax: number): Promise<number> {
  const [events = 0] = await countEvents(ask, scope, [() => 'count()']);
  return chooseSample(events, rowsMax);
}

/** Returns the largest sample that is expected to have at most so many of the events: one event of a power of two. */
export function chooseSample(events: number, rowsMax: number): number {
  let oneOf = 1;
  while (events > rowsMax * oneOf) oneOf *= 2;
  return oneOf;
}

/**
 * Writes the condition of events in a sample, which depends only on them: the same events give the same sample, and a
 * larger sample has every event of a smaller one. `undefined`: all events.
 */
export function writeSample(oneOf: number): string | undefined {
  if (oneOf === 1) return undefined;
  return `bitAnd(cityHash64(${column('id')}, ${column('timestamp')}), ${oneOf - 1}) = 0`;
}

/** What `X-Sampled` says; `undefined` if all events are read. */
export function printShare(share: number): number | undefined {
  return share === 1 ? undefined : Number(share.toPrecision(4));
}

/** Counts events of the search by each of these aggregates. */
export async function countEvents(
  ask: AskStep,
  scope: SearchScope,
  counts: readonly ((fields: SearchFields) => string)[],
): Promise<number[]> {
  const names = counts.map((_, i) => `n${i}`);
  const select = (fields: SearchFields) => counts.map((write, i) => `${write(fields)} AS n${i}`).join(', ');
  const sums = names.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const [row] = await ask({
    columns: names.map((name) => ({ ...COUNT, name })),
    maxRows: 1,
    writeSelect: () => `SELECT ${sums} FROM (\n${writeArms(scope, { select })}\n)`,
  });
  return names.map((name) => Number(row?.[name] ?? 0));
}

export const SEARCH_ROWS_MAX = 1_000;
const BUCKETS_MAX = 1_000;
const TOP_MAX = 50;

const FIELDS: Readonly<Record<string, ParameterFields>> = {
  source: {
    type: 'string',
    description: 'Names or UUIDs of sources, joined by commas. Default: every source that the key may read.',
  },
  [SEARCH_PARAMETER]: {
    type: 'string',
    description: 'What to search for, such as `timeout level:error -status:404`. Default: every event.',
  },
  project: { type: 'string', description: 'Only events of this project. A key may pin it.' },
  from: { type: 'timestamp', description: 'First instant. Default: an hour before `until`.' },
  until: { type: 'timestamp', description: 'End, exclusive. Default: now.' },
  limit: {
    type: 'integer',
    min: 1,
    max: SEARCH_ROWS_MAX,
    description:
      'Rows: of a page with `part=rows`, where the default is 100; see docs/search.md for other parts.',
  },
  part: {
    type: 'enum',
    values: ['rows', 'histogram', 'values', 'fields', 'patterns', 'compare'],
    default: 'rows',
    description:
      'The events; how many there are in each time bucket; the top values of a field; a summary of ' +
      'each field; patterns of the messages; or how the events differ from others.',
  },
  buckets: {
    type: 'integer',
    min: 1,
    max: BUCKETS_MAX,
    default: 60,
    description: 'Time buckets from `from` to `until`, with `part=histogram`.',
  },
  measure: {
    type: 'string',
    default: 'count',
    description:
      'Computed for each time bucket and series, with `part=histogram`: count, avg(f), sum(f), ' +
      'p50(f), p95(f), p99(f) or distinct(f) of a field f.',
  },
  top: {
    type: 'integer',
    min: 1,
    max: TOP_MAX,
    description: 'Series, with `part=histogram`: the rest has `"other": true`.',
  },
  by: { type: 'string', default: 'level', description: 'Field of the series, with `part=histogram`.' },
  against: {
    type: 'string',
    description:
      'A search for the events to compare with, with `part=compare`. Default: those that do not match `q`.',
  },
  field: { type: 'string', description: 'Field to count the values of; required with `part=values`.' },
};

/** The parameters that callers may send, besides `format` and `cursor`. */
export const SEARCH_PARAMETERS: readonly Parameter[] = Object.entries(FIELDS).map(([name, fields]) =>
  createParameter(name, fields),
);

/** Returns `limit`, which has another default in each part. */
export function readLimit({ limit = '' }: ParameterValues, otherwise: number): number {
  return limit === '' ? otherwise : Number(limit);
}

/** Parses a field to group by. */
export function readField(values: ParameterValues, parameter: 'by' | 'field'): SearchField {
  const text = values[parameter] ?? '';
  if (text === '') throw rejectParameter(parameter, 'is required with part=values, such as request.path');
  const field = parseField(text, parameter);
  if (text !== 'timestamp') return field;
  throw rejectParameter(parameter, 'must be another field than timestamp; part=histogram counts by time');
}
