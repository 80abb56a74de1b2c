import { formatInstant } from '../../lib/instant.ts';
import { type Expression, type Form, type QueryTree, reject } from './parse/tree.ts';
import type { Origin, Relation, Select, Source, SourceColumn, Step } from './relation.ts';
import { instantOf, isJson, type Value } from './value.ts';

/** What the translation of an expression needs. */
export interface Context {
  readonly scope: ColumnScope;
  /** Microseconds since 1970. */
  readonly now: number;
  /** Translates an expression within this one. @throws NotUnderstood for an array */
  readonly translate: (expression: Expression) => Value;
  /** The same for what may be an array. */
  readonly translateArray: (expression: Expression) => Value;
  /** Translates an argument of an aggregate function: names in it are those of a row, not of a group. */
  readonly translateRow: (expression: Expression) => Value;
  /** Translates a SELECT in brackets. */
  readonly subquery: (query: QueryTree) => Select;
}

/** The names that the expressions of one SELECT can use. */
export interface ColumnScope {
  readonly relations: readonly Relation[];
  /** The records of UNNEST by name, the last first. A record without a name has a name that nothing can be called. */
  readonly records: readonly { readonly name: string; readonly origin: Origin }[];
  /** Columns of USING, which two relations have. */
  readonly shared: ReadonlySet<string>;
  /** The SELECT list, for GROUP BY, HAVING and ORDER BY: the first of several columns of one name counts. */
  readonly aliases: readonly Item[];
  /** What values by which rows are grouped stand for, by their SQL. */
  readonly grouped: ReadonlyMap<string, Value>;
}

/** A column of a SELECT list. */
export interface Item {
  readonly label: string;
  readonly value: Value;
}

export function createScope(): ColumnScope {
  return { relations: [], records: [], shared: new Set(), aliases: [], grouped: new Map() };
}

/** What a name stands for: a value, or JSON that steps lead into. */
type NameTarget = { readonly value: Value } | { readonly origin: Origin; readonly steps: readonly Step[] };

/**
 * Finds what a name of one or more parts stands for: a record of an UNNEST first, whose name hides columns, then a
 * relation, a column, and last a field of a record, named without it. @returns `undefined` if there is none
 * @throws NotUnderstood for an ambiguous name
 */
export function findName(names: readonly string[], scope: ColumnScope): NameTarget | undefined {
  const [first = '', ...rest] = names;
  const record = scope.records.find(({ name }) => isSame(name, first));
  if (record !== undefined) return { origin: record.origin, steps: rest };
  const relation = scope.relations.find(({ name }) => isSame(name, first));
  if (relation !== undefined && rest.length > 0) {
    const [column = '', ...steps] = rest;
    return findColumn(relation, column, steps);
  }
  const holders = scope.relations.filter((one) => getColumn(one.source, first) !== undefined);
  if (holders.length > 1 && !scope.shared.has(first.toLowerCase()))
    throw ambiguous(
      `${first} is in ${holders.map(({ name }) => name).join(' and ')}; write one of them before it`,
    );
  const [holder] = holders;
  if (holder !== undefined) return findColumn(holder, first, rest);
  return rest.length === 0 ? findField(names, scope) : undefined;
}

/**
 * A field without the name of its record. The fields of records are not known beforehand: the record with a typed
 * column for it or below it, or else the last record of an event that has it.
 */
function findField(names: readonly string[], { records }: ColumnScope): NameTarget | undefined {
  const typed = records.filter(({ origin }) => origin.relation.isTyped(origin, names));
  const [record, ...others] = typed.length > 0 ? typed : records;
  if (record === undefined) return undefined;
  const { relation, path } = record.origin;
  const sqls = [record, ...others].flatMap(({ origin }) => origin.sqls);
  if (others.length === 0) return { origin: { relation, sqls, path }, steps: names };
  if (typed.length === 0 && others.every(({ origin }) => origin.relation === relation))
    return { origin: { relation, sqls, path: undefined }, steps: names };
  const listed = [record, ...others].map(({ name }) => name || 'a record without a name').join(' and ');
  const where = typed.length > 0 ? 'is' : 'may be';
  throw ambiguous(`${names.join('.')} ${where} in ${listed}; write the record before it`);
}

const ambiguous = (message: string) => reject(`has an ambiguous name: ${message}`);

function findColumn(relation: Relation, name: string, steps: readonly Step[]): NameTarget | undefined {
  const column = getColumn(relation.source, name);
  if (column === undefined) return undefined;
  if (isJson(column)) return { origin: relation.origin(column), steps };
  return steps.length === 0 ? { value: relation.column(column) } : undefined;
}

/** Names of columns are the same in any letter case. */
export function getColumn({ columns }: Source, name: string): SourceColumn | undefined {
  return columns.find(({ label }) => isSame(label, name));
}

export function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The value that was found. */
export function readFound(found: NameTarget): Value {
  if ('value' in found) return found.value;
  const value = found.origin.relation.value(found.origin, found.steps);
  const isWhole = found.steps.length === 0 && found.origin.path !== undefined;
  return isWhole ? { ...value, type: 'record' } : value;
}

/** Bounds that hold for every row that is read, in the engine's own form of a time. */
export interface Bounds {
  from?: string | undefined;
  until?: string | undefined;
  id?: string | undefined;
}

/** The bounds of each table of FROM, by the conditions of WHERE that have to hold. */
export function findBounds(
  where: Expression | undefined,
  relations: readonly Relation[],
  { translate }: Context,
): readonly Bounds[] {
  const bounds = new Map<object, Bounds>(relations.map((relation) => [relation, {}]));
  for (const { operator, left, right } of comparisons(where)) {
    const [a, b] = [translate(left), translate(right)];
    take(operator, a, b, bounds);
    take(MIRRORED[operator] ?? '', b, a, bounds);
  }
  return relations.filter(({ source }) => source.view !== undefined).map((one) => bounds.get(one) ?? {});
}

const MIRRORED: Readonly<Record<string, string>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** The comparisons that all have to hold. */
function comparisons(expression: Expression | undefined): readonly Form<'comparison'>[] {
  if (expression?.kind === 'chain' && expression.operator === 'AND')
    return expression.operands.flatMap(comparisons);
  return expression?.kind === 'comparison' && Object.hasOwn(MIRRORED, expression.operator)
    ? [expression]
    : [];
}

function take(
  operator: string,
  { column }: Value,
  constant: Value,
  bounds: ReadonlyMap<object, Bounds>,
): void {
  const own = column && bounds.get(column.table);
  if (own === undefined) return;
  if (column?.name === 'id' && operator === '=' && constant.text !== undefined) own.id = constant.text;
  const at = column?.name === 'timestamp' ? instantIn(constant) : undefined;
  if (at === undefined) return;
  if (/^(?:=|>=?)$/.test(operator) && !(own.from && own.from > at)) own.from = at;
  if (/^(?:=|<=?)$/.test(operator) && !(own.until && own.until < at)) own.until = at;
}

function instantIn({ instant, text }: Value): string | undefined {
  const micros = text === undefined ? instant : instantOf(text, 'timestamp').instant;
  return micros === undefined ? undefined : formatInstant(micros);
}

/** The bounds of several reads together: the widest. */
export function joinBounds(reads: readonly Bounds[]): Bounds {
  const all = (name: keyof Bounds) => {
    const given = reads.flatMap((read) => read[name] ?? []).toSorted();
    return given.length === reads.length ? given : [];
  };
  const ids = new Set(all('id'));
  return { from: all('from')[0], until: all('until').at(-1), id: ids.size === 1 ? [...ids][0] : undefined };
}
