import { formatInstant, type Micros } from '../../lib/instant.ts';
import type { Context } from './context.ts';
import { instantOf } from './convert.ts';
import type { Relation } from './relation.ts';
import type { Node } from './tree.ts';
import type { Value } from './value.ts';

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
  where: Node | undefined,
  relations: readonly Relation[],
  context: Context,
): readonly TableBounds[] {
  const bounds = new Map<object, TableBounds>(relations.map((relation) => [relation, {}]));
  if (where !== undefined) visit(where);
  return relations.filter(({ source }) => source.view !== undefined).map((one) => bounds.get(one) ?? {});

  function visit(node: Node): void {
    const { reader, translate } = context;
    if (reader.word(node, 'type') !== 'binary_expr') return;
    const operator = reader.word(node, 'operator') ?? '';
    const [left, right] = [reader.must(node, 'left'), reader.must(node, 'right')];
    if (operator === 'AND') {
      visit(left);
      visit(right);
    } else if (operator === 'BETWEEN') {
      const [low, high] = reader.nodes(right, 'value');
      if (low !== undefined) take('>=', translate(left), translate(low));
      if (high !== undefined) take('<=', translate(left), translate(high));
    } else if (Object.hasOwn(MIRRORED, operator)) {
      const values = [translate(left), translate(right)] as const;
      take(operator, ...values);
      take(MIRRORED[operator] ?? '', values[1], values[0]);
    }
  }

  function take(operator: string, { column }: Value, { instant, text }: Value): void {
    const own = column && bounds.get(column.table);
    if (own === undefined) return;
    if (column?.name === 'id' && operator === '=' && text !== undefined) own.id = text;
    if (column?.name !== 'timestamp') return;
    const micros = text === undefined ? instant : instantOf(text, 'timestamp').instant;
    if (micros === undefined) return;
    if (/^(?:=|>=?)$/.test(operator)) own.from = Math.max(own.from ?? micros, micros);
    if (/^(?:=|<=?)$/.test(operator)) own.until = Math.min(own.until ?? micros, micros);
  }
}

const MIRRORED: Readonly<Record<string, string>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

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
