import fc from 'fast-check';
import type { Expression } from '../../../trial/oracle/bigquery/expression.ts';
import * as e from '../../../trial/oracle/bigquery/expression.ts';
import type { Item, Order, Query, Relation } from '../../../trial/oracle/bigquery/query.ts';
import * as q from '../../../trial/oracle/bigquery/query.ts';
import { aggregate, lengthOf } from './aggregate.ts';
import {
  type Choose,
  chooser,
  condition,
  filter,
  instant,
  number,
  type Scope,
  string,
} from './expression.ts';
import { readTable, type Source } from './source.ts';

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
    where: choose(true, true, false) ? filter(scope, choose(0, 1, 2)) : undefined,
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
    nulls: choose(undefined, undefined, 'first', 'last'),
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
    where: choose(true, true, false) ? filter(scope, choose(0, 1)) : undefined,
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

/** Columns of a fixed type, over which another query goes. */
function inner(choose: Choose): Query {
  const { from, scope } = readTable(choose);
  const items = [
    { expression: instant(scope, 1), name: 'at', alias: true },
    { expression: e.read('string', string(scope, 1)), name: 'word', alias: true },
    { expression: lengthOf(e.read('string', string(scope, 1))), name: 'size', alias: true },
  ];
  return q.select({ items, from, where: choose(true, false) ? filter(scope, 1) : undefined });
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
