import { formatInstant, type Micros } from '../../lib/instant.ts';
import type { Expression } from './parse/tree.ts';
import type { Relation } from './relation.ts';
import type { Context } from './scope.ts';
import { instantOf, type Value } from './value.ts';

/** Bounds that hold for every row of one table that a SELECT reads. */
export interface TableBounds {
  from?: Micros;
  until?: Micros;
  id?: string;
}

/** Bounds that hold for every row that is read, in the engine's own form of a time. */
export interface Bounds {
  readonly from?: string;
  readonly until?: string;
  readonly id?: string;
}

/** The bounds of each table of FROM, by the conditions of WHERE that have to hold. */
export function findBounds(
  where: Expression | undefined,
  relations: readonly Relation[],
  context: Context,
): readonly TableBounds[] {
  const bounds = new Map<object, TableBounds>(relations.map((relation) => [relation, {}]));
  if (where !== undefined) {
    for (const { operator, left, right } of comparisons(where, context)) {
      take(operator, left, right, bounds);
      take(MIRRORED[operator] ?? '', right, left, bounds);
    }
  }
  return relations.filter(({ source }) => source.view !== undefined).map((one) => bounds.get(one) ?? {});
}

interface Comparison {
  readonly operator: string;
  readonly left: Value;
  readonly right: Value;
}

/** The comparisons that all have to hold. */
function comparisons(expression: Expression, context: Context): readonly Comparison[] {
  const { translate } = context;
  if (expression.kind === 'chain' && expression.operator === 'AND')
    return expression.operands.flatMap((operand) => comparisons(operand, context));
  if (expression.kind === 'between') {
    const [left, low, high] = [expression.value, expression.low, expression.high].map(translate);
    if (left === undefined || low === undefined || high === undefined) return [];
    return [
      { operator: '>=', left, right: low },
      { operator: '<=', left, right: high },
    ];
  }
  if (expression.kind !== 'comparison' || !Object.hasOwn(MIRRORED, expression.operator)) return [];
  const { operator, left, right } = expression;
  return [{ operator, left: translate(left), right: translate(right) }];
}

const MIRRORED: Readonly<Record<string, string>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function take(
  operator: string,
  { column }: Value,
  constant: Value,
  bounds: ReadonlyMap<object, TableBounds>,
): void {
  const own = column && bounds.get(column.table);
  if (own === undefined) return;
  if (column?.name === 'id' && operator === '=' && constant.text !== undefined) own.id = constant.text;
  const micros = column?.name === 'timestamp' ? instantIn(constant) : undefined;
  if (micros === undefined) return;
  if (/^(?:=|>=?)$/.test(operator)) own.from = Math.max(own.from ?? micros, micros);
  if (/^(?:=|<=?)$/.test(operator)) own.until = Math.min(own.until ?? micros, micros);
}

function instantIn({ instant, text }: Value): Micros | undefined {
  return text === undefined ? instant : instantOf(text, 'timestamp').instant;
}

/** The bounds of several reads together: the widest. */
export function joinBounds(reads: readonly TableBounds[]): Bounds {
  const from = all(reads.map((read) => read.from))?.reduce((a, b) => Math.min(a, b));
  const until = all(reads.map((read) => read.until))?.reduce((a, b) => Math.max(a, b));
  const ids = new Set(all(reads.map((read) => read.id)) ?? []);
  const [id] = ids;
  return {
    ...(from !== undefined && { from: formatInstant(from) }),
    ...(until !== undefined && { until: formatInstant(until) }),
    ...(id !== undefined && ids.size === 1 && { id }),
  };
}

/** The members, if there are some and none is missing. */
function all<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length > 0 && given.length === values.length ? given : undefined;
}
