import type { Expression, Group, Row, Type } from './expression.ts';
import { oneRow } from './expression.ts';
import { compare, type Json, keyOf, type Tables, unnest, type Value } from './value.ts';

/** What stands after FROM. */
export interface Relation {
  readonly sql: string;
  readonly rows: (tables: Tables) => readonly Row[];
}

export interface Item {
  readonly expression: Expression;
  /** Column of the answer; `undefined` for one without a name, which is called `f0_`, `f1_` and so on. */
  readonly name: string | undefined;
  /** Whether AS is needed, because the expression has another name or none. */
  readonly alias: boolean;
}

export interface Order {
  /** An alias, a position or the expression. */
  readonly sql: string;
  readonly by: Expression;
  readonly descending: boolean;
  /** Where NULL is if the query says so; without, first ascending, last descending. */
  readonly nulls: 'first' | 'last' | undefined;
}

export interface Select {
  readonly items: readonly Item[];
  readonly from: Relation;
  readonly where?: Expression | undefined;
  /** Keys of GROUP BY; empty for aggregates over all rows. */
  readonly group?: readonly { readonly sql: string; readonly by: Expression }[] | undefined;
  readonly having?: Expression | undefined;
  readonly order?: readonly Order[] | undefined;
  readonly limit?: number | undefined;
  readonly distinct?: boolean | undefined;
  readonly trailingComma?: boolean | undefined;
}

export interface Column {
  readonly name: string;
  readonly type: Type;
}

/** An answer before LIMIT: rows in order, those with equal sort keys in a class of their own, in any order. */
export interface Answer {
  readonly columns: readonly Column[];
  readonly classes: readonly (readonly (readonly Value[])[])[];
  readonly limit: number | undefined;
}

/** A query: its BigQuery SQL, and its answer computed from events. */
export interface Query {
  readonly sql: string;
  readonly answer: (tables: Tables) => Answer;
}

export function table(name: string, alias: string | undefined, quote = ''): Relation {
  const sql = `${quote}${name}${quote}${alias === undefined ? '' : ` as ${alias}`}`;
  return {
    sql,
    rows: (tables) =>
      (tables[name] ?? []).map(({ id, timestamp, event_message, metadata = null }) => {
        const columns: Row = { id, timestamp: { timestamp }, event_message, metadata };
        return { ...columns, [alias ?? name]: columns } as Row; // the alias stands for the row
      }),
  };
}

/** CROSS JOIN UNNEST and its spellings, which all keep an event without the record. */
export function unnested(from: Relation, of: Expression, alias: string, join: string): Relation {
  const joined = join === ',' ? `${from.sql}, unnest(${of.sql})` : `${from.sql} ${join} unnest(${of.sql})`;
  const condition = join.startsWith('left') ? ' on true' : '';
  return {
    sql: `${joined} as ${alias}${condition}`,
    rows: (tables) =>
      from.rows(tables).flatMap((row) =>
        // A path that is unnested evaluates to JSON.
        unnest(of.value(oneRow(row)) as Json).map((element) => ({ ...row, [alias]: element })),
      ),
  };
}

export function subquery({ sql, answer }: Query, alias: string): Relation {
  return { sql: `(${sql}) as ${alias}`, rows: (tables) => rowsOf(answer(tables), alias) };
}

export function joinUsing(
  kind: 'join' | 'left join',
  left: Relation,
  right: Relation,
  name: string,
): Relation {
  return {
    sql: `${left.sql} ${kind} ${right.sql} using (${name})`,
    rows: (tables) => {
      const others = Map.groupBy(right.rows(tables), (other) => keyOf(other[name] ?? null));
      return left.rows(tables).flatMap((row) => {
        const key = row[name] ?? null;
        const equal = key === null ? [] : (others.get(keyOf(key)) ?? []);
        if (equal.length > 0) return equal.map((other) => ({ ...other, ...row }));
        return kind === 'left join' ? [row] : [];
      });
    },
  };
}

/** `with name as (…) …` */
export function withView(name: string, view: Query, build: (read: Relation) => Query): Query {
  const query = build({ sql: name, rows: (tables) => rowsOf(view.answer(tables), name) });
  return { ...query, sql: `with ${name} as (${view.sql}) ${query.sql}` };
}

function rowsOf({ columns, classes, limit }: Answer, alias: string): Row[] {
  return classes
    .flat()
    .slice(0, limit)
    .map((values) => {
      const row: Row = Object.fromEntries(columns.map(({ name }, i) => [name, values[i] ?? null]));
      return { ...row, [alias]: row } as Row;
    });
}

export function unionAll(first: Query, second: Query): Query {
  return {
    sql: `${first.sql} union all ${second.sql}`,
    answer: (tables) => {
      const [left, right] = [first.answer(tables), second.answer(tables)];
      return { ...left, classes: [[...left.classes.flat(), ...right.classes.flat()]] };
    },
  };
}

export function select(of: Select): Query {
  return { sql: write(of), answer: (tables) => answer(of, tables) };
}

function write({ items, from, where, group, having, order, limit, ...options }: Select): string {
  const list = items.map(({ expression, name, alias }) =>
    alias ? `${expression.sql} as ${name}` : expression.sql,
  );
  const clauses = [
    `select ${options.distinct ? 'distinct ' : ''}${list.join(', ')}${options.trailingComma ? ',' : ''}`,
    `from ${from.sql}`,
    where && `where ${where.sql}`,
    group && group.length > 0 && `group by ${group.map(({ sql }) => sql).join(', ')}`,
    having && `having ${having.sql}`,
    order && `order by ${order.map(writeOrder).join(', ')}`,
    limit !== undefined && `limit ${limit}`,
  ];
  return clauses.filter(Boolean).join('\n');
}

function writeOrder({ sql, descending, nulls }: Order): string {
  return `${sql}${descending ? ' desc' : ''}${nulls === undefined ? '' : ` nulls ${nulls}`}`;
}

/** Orders two keys. `compare` has NULL before all other values. */
function compareBy({ descending, nulls }: Order, a: Value, b: Value): number {
  if (nulls !== undefined && (a === null || b === null)) return compare(a, b) * (nulls === 'last' ? -1 : 1);
  return compare(a, b) * (descending ? -1 : 1);
}

function answer(of: Select, tables: Tables): Answer {
  const { from, where, items, order = [], limit } = of;
  const rows = from.rows(tables).filter((row) => where === undefined || where.value(oneRow(row)) === true);
  const groups = groupRows(rows, of.group).filter(
    (group) => of.having === undefined || of.having.value(group) === true,
  );
  const valued = groups.map((group) => {
    const whole = { ...group, outputs: groups.length };
    return {
      values: items.map(({ expression }) => expression.value(whole)),
      keys: order.map(({ by }) => by.value(whole)),
    };
  });
  const kept = of.distinct
    ? [...new Map(valued.map((one) => [one.values.map(keyOf).join(), one])).values()]
    : valued;
  const compareKeys = (a: readonly Value[], b: readonly Value[]) =>
    order.reduce((found, term, i) => found || compareBy(term, a[i] ?? null, b[i] ?? null), 0);
  kept.sort((a, b) => compareKeys(a.keys, b.keys));
  const classes: Value[][][] = [];
  kept.forEach(({ keys, values }, i) => {
    const before = kept[i - 1];
    if (before === undefined || compareKeys(before.keys, keys) !== 0) classes.push([]);
    classes.at(-1)?.push(values);
  });
  return { columns: nameColumns(items), classes, limit };
}

function groupRows(rows: readonly Row[], keys: Select['group']): Group[] {
  if (keys === undefined) return rows.map(oneRow);
  if (keys.length === 0) return [{ rows, outputs: 1 }];
  const groups = Map.groupBy(rows, (row) => keys.map(({ by }) => keyOf(by.value(oneRow(row)))).join());
  return [...groups.values()].map((members) => ({ rows: members, outputs: 0 }));
}

function nameColumns(items: readonly Item[]): Column[] {
  let nameless = 0;
  return items.map(({ name, expression }) => ({ name: name ?? `f${nameless++}_`, type: expression.type }));
}
