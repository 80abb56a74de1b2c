import fc from 'fast-check';
import type { Expression } from '../../../trial/oracle/bigquery/expression.ts';
import * as e from '../../../trial/oracle/bigquery/expression.ts';
import type { Item, Order, Query, Relation } from '../../../trial/oracle/bigquery/query.ts';
import * as q from '../../../trial/oracle/bigquery/query.ts';
import { compare, number as toNumber, type Value } from '../../../trial/oracle/bigquery/value.ts';
import { type Choose, chooser, condition, instant, number, type Scope, string } from './expression.ts';
import { SCHEMA, type Shape, TABLES, type Table } from './schema.ts';

interface Source {
  readonly from: Relation;
  readonly scope: Scope;
}

/** Queries as Studio writes them, with their answers computed from the events. */
export const query: fc.Arbitrary<Query> = fc.gen().map((g) => {
  const choose = chooser(g);
  return choose<() => Query>(
    () => rowsQuery(readTable(choose)),
    () => rowsQuery(readTable(choose)),
    () => groupedQuery(readTable(choose)),
    () => groupedQuery(readTable(choose)),
    () => wrapped(choose),
    () => union(choose),
    () => joined(choose),
  )();
});

/** A table with some of its records unnested. */
function readTable(choose: Choose): Source {
  const name = choose(...TABLES);
  const alias = choose(undefined, 't');
  const join = choose('cross join', 'CROSS JOIN', 'left join', ',');
  // An alias may hide the column.
  const metadata = choose('m', 'metadata');
  const column = alias === undefined ? 'metadata' : `${alias}.metadata`;
  const base = q.table(name, alias, choose('', '`'));
  const read = q.unnested(base, e.path('dynamic', column, column.split('.')), metadata, join);
  const opened = open({ choose, join, alias: metadata, shape: SCHEMA[name], from: read });
  const prefix = alias === undefined ? '' : choose(`${alias}.`, '');
  const own = (type: e.Type, field: string) =>
    e.path(type, `${prefix}${field}`, `${prefix}${field}`.split('.'));
  const fields = (kinds: readonly string[]) =>
    opened.records.flatMap((record) =>
      Object.entries(record.shape).flatMap(([field, kind]) =>
        typeof kind === 'string' && kinds.includes(kind) ? [fieldOf(choose, name, record.alias, field)] : [],
      ),
    );
  return {
    from: opened.from,
    scope: {
      choose,
      texts: [...fields(['text']), own('string', 'event_message'), own('string', 'id')],
      numbers: fields(['mixed']),
      bigs: fields(['big']),
      instants: [own('timestamp', 'timestamp')],
    },
  };
}

interface Opened {
  readonly from: Relation;
  readonly records: readonly { readonly alias: string; readonly shape: Shape }[];
}

/** Unnests some of the records of a record, and so on. */
function open(of: { choose: Choose; join: string; alias: string; shape: Shape; from: Relation }): Opened {
  const { choose, join, alias, shape } = of;
  const start: Opened = { from: of.from, records: [{ alias, shape }] };
  return Object.entries(shape).reduce<Opened>(({ from, records }, [name, inner]) => {
    if (typeof inner === 'string' || choose(false, true, true) === false) return { from, records };
    const own = choose(name, `${name}_record`);
    const read = q.unnested(from, e.path('dynamic', `${alias}.${name}`, [alias, name]), own, join);
    const below = open({ choose, join, alias: own, shape: inner, from: read });
    return { from: below.from, records: [...records, ...below.records] };
  }, start);
}

/** A field of a record; one that no other record of the table has may stand without the record's alias. */
function fieldOf(choose: Choose, table: Table, alias: string, field: string): Expression {
  const isUnique = countNames(SCHEMA[table], field) === 1;
  return e.path('dynamic', isUnique ? choose(`${alias}.${field}`, field) : `${alias}.${field}`, [
    alias,
    field,
  ]);
}

function countNames(shape: Shape, name: string): number {
  return Object.entries(shape).reduce(
    (sum, [own, inner]) =>
      sum + Number(own === name) + (typeof inner === 'string' ? 0 : countNames(inner, name)),
    0,
  );
}

const NAMES = ['a', 'n', 'timestamp', 'event_message', 'id', 'count', 'status', 'Total'];

/** One item of each name at most, so that ORDER BY and GROUP BY can use them. */
function item(choose: Choose, expression: Expression, taken: Set<string>, mayLackName = true): Item {
  const name = choose(...NAMES.filter((one) => !taken.has(one)), ...(mayLackName ? [undefined] : []));
  // A path by itself has the name of its last member.
  const named =
    name ?? (/^[\w.]+$/.test(expression.sql) ? choose(...NAMES.filter((one) => !taken.has(one))) : undefined);
  if (named !== undefined) taken.add(named);
  return { expression, name: named, alias: named !== undefined };
}

function anyValue(scope: Scope): Expression {
  const build = scope.choose(string, string, number, instant, condition);
  return build(scope, scope.choose(0, 1, 2));
}

function rowsQuery({ from, scope }: Source): Query {
  const { choose } = scope;
  const taken = new Set<string>();
  const items = Array.from({ length: choose(1, 2, 3) }, () => item(choose, anyValue(scope), taken));
  if (choose(false, false, false, true)) items.push(item(choose, e.countOverAll('count(*) over ()'), taken));
  return q.select({
    items,
    from,
    where: choose(true, true, false) ? condition(scope, choose(0, 1, 2)) : undefined,
    order: orderBy(choose, items),
    limit: choose(undefined, 5, 100),
    trailingComma: choose(false, false, true),
  });
}

/** By aliases or positions of items whose order is exact: a path alone may hold values of any type, a float depends on the order of a sum. */
function orderBy(choose: Choose, items: readonly Item[]): Order[] | undefined {
  const sortable = items.flatMap(({ expression, name }, i) =>
    expression.type === 'dynamic' || expression.type === 'float'
      ? []
      : [{ sql: choose(name ?? `${i + 1}`, `${i + 1}`), by: expression }],
  );
  if (sortable.length === 0 || choose(true, true, false) === false) return undefined;
  const first = choose(...sortable);
  return [first, ...sortable.filter((one) => one !== first && choose(true, false))].map((one) => ({
    ...one,
    descending: choose(true, false),
  }));
}

function groupedQuery({ from, scope }: Source): Query {
  const { choose } = scope;
  const taken = new Set<string>();
  const keys = Array.from({ length: choose(0, 1, 1, 2) }, () => item(choose, groupKey(scope), taken));
  const aggregates = Array.from({ length: choose(1, 2, 3) }, () => item(choose, aggregate(scope), taken));
  const items = [...keys, ...aggregates];
  return q.select({
    items,
    from,
    where: choose(true, true, false) ? condition(scope, choose(0, 1)) : undefined,
    group: keys.map(({ expression, name }, i) => ({
      sql: choose(name ?? `${i + 1}`, `${i + 1}`),
      by: expression,
    })),
    having: choose(true, false, false)
      ? e.comparison('>=', e.countRows('count(*)'), e.literal(2, '2'))
      : undefined,
    order: keys.length === 0 ? undefined : orderBy(choose, items),
    limit: keys.length === 0 ? undefined : choose(undefined, 5),
  });
}

function groupKey(scope: Scope): Expression {
  return scope.choose<() => Expression>(
    () => instant(scope, 1),
    () => string(scope, 2),
    () => scope.choose(...scope.texts),
  )();
}

function aggregate(scope: Scope): Expression {
  const { choose } = scope;
  const countAll = e.countRows(choose('count(*)', 'COUNT(*)', 'count(1)'));
  const text = () => e.read('string', string(scope, 1));
  const figure = () => e.read('float', number(scope, choose(0, 1)));
  const count = () => {
    const when = condition(scope, choose(0, 1));
    return e.aggregate(
      'int',
      `countif(${when.sql})`,
      when,
      (values) => values.filter((one) => one === true).length,
    );
  };
  const over = (type: e.Type, name: string, of: Expression, compute: (values: readonly Value[]) => Value) =>
    e.aggregate(type, `${name}(${of.sql})`, of, compute);
  return choose<() => Expression>(
    () => countAll,
    count,
    () => over('int', 'count', string(scope, 1), (values) => values.length),
    () => {
      const of = text();
      return e.aggregate('int', `count(distinct ${of.sql})`, of, e.distinct);
    },
    () => over('float', choose('sum', 'SUM'), figure(), e.sum),
    () => over('float', 'avg', figure(), e.average),
    () => over('timestamp', 'max', instant(scope, 1), (values) => e.extreme(1, values)),
    () => over('timestamp', 'min', instant(scope, 1), (values) => e.extreme(-1, values)),
    () => {
      const [name, sign] = choose(['max', 1] as const, ['min', -1] as const);
      return over('int', name, lengthOf(text()), (values) => e.extreme(sign, values));
    },
    () => {
      const [part, whole] = [count(), countAll];
      return e.strict('float', `safe_divide(${part.sql}, ${whole.sql})`, [part, whole], (a, b) =>
        b === 0 ? null : Number(a) / Number(b),
      );
    },
    () => quantile(scope, figure()),
  )();
}

function quantile({ choose }: Scope, of: Expression): Expression {
  const [parts, offset] = choose([2, 1], [100, 95], [100, 50], [4, 3], [10, 0], [10, 10]) as [number, number]; // a pair
  return e.aggregate('float', `approx_quantiles(${of.sql}, ${parts})[offset(${offset})]`, of, (values) =>
    quantileRange(values, offset / parts),
  );
}

/** Between the values beside the rank, which is as near as an approximation has to be. */
function quantileRange(values: readonly Value[], share: number): Value {
  const sorted = [...values].sort(compare).map((value) => Number(toNumber(value)));
  const rank = share * (sorted.length - 1);
  const least = sorted[Math.max(0, Math.floor(rank) - 1)];
  const most = sorted[Math.min(sorted.length - 1, Math.ceil(rank) + 1)];
  return least === undefined || most === undefined ? null : { least, most };
}

/** Columns of a fixed type, over which another query goes. */
function inner(choose: Choose): Query {
  const { from, scope } = readTable(choose);
  const items = [
    { expression: instant(scope, 1), name: 'at', alias: true },
    { expression: e.read('string', string(scope, 1)), name: 'word', alias: true },
    { expression: lengthOf(e.read('string', string(scope, 1))), name: 'size', alias: true },
  ];
  return q.select({ items, from, where: choose(true, false) ? condition(scope, 1) : undefined });
}

function lengthOf(of: Expression): Expression {
  return e.strict('int', `length(${of.sql})`, [of], (value) => [...String(value)].length);
}

function over(choose: Choose, from: Relation, alias: string): Source {
  const column = (type: e.Type, name: string) =>
    choose(e.path(type, name, [name]), e.path(type, `${alias}.${name}`, [alias, name]));
  return {
    from,
    scope: {
      choose,
      texts: [column('string', 'word')],
      numbers: [column('int', 'size')],
      bigs: [],
      instants: [column('timestamp', 'at')],
    },
  };
}

/** A query over a subquery or over a view of WITH. */
function wrapped(choose: Choose): Query {
  const outer = (from: Relation, alias: string) => choose(rowsQuery, groupedQuery)(over(choose, from, alias));
  const below = inner(choose);
  if (choose(true, false)) return outer(q.subquery(below, 'inside'), 'inside');
  return q.withView('picked', below, (from) => outer(from, 'picked'));
}

function union(choose: Choose): Query {
  const both = q.unionAll(inner(choose), inner(choose));
  if (choose(true, false)) return both;
  return groupedQuery(over(choose, q.subquery(both, 'every'), 'every'));
}

/** Two counts by text, joined by it. */
function joined(choose: Choose): Query {
  const counts = (name: string) => {
    const { from, scope } = readTable(choose);
    const key = { expression: e.read('string', string(scope, 1)), name: 'word', alias: true };
    const count = { expression: e.countRows('count(*)'), name, alias: true };
    return q.select({ items: [key, count], from, group: [{ sql: choose('word', '1'), by: key.expression }] });
  };
  const [left, right] = [q.subquery(counts('a_count'), 'a'), q.subquery(counts('b_count'), 'b')];
  const kind = choose('join', 'left join');
  const columns = [
    e.path('string', 'word', ['word']),
    e.path('int', 'a.a_count', ['a', 'a_count']),
    e.path('int', 'b_count', ['b_count']),
  ];
  const items = columns.map((expression, i) => ({ expression, name: `c${i}`, alias: true }));
  return q.select({ items, from: q.joinUsing(kind, left, right, 'word') });
}
