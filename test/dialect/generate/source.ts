import type { Expression } from '../../../trial/oracle/bigquery/expression.ts';
import * as e from '../../../trial/oracle/bigquery/expression.ts';
import type { Relation } from '../../../trial/oracle/bigquery/query.ts';
import * as q from '../../../trial/oracle/bigquery/query.ts';
import type { Choose, Scope } from './expression.ts';
import { SCHEMA, type Shape, TABLES, type Table } from './schema.ts';

/** What a query reads, and what its expressions can be built from. */
export interface Source {
  readonly from: Relation;
  readonly scope: Scope;
}

/** A table with some of its records unnested. */
export function readTable(choose: Choose): Source {
  const name = choose(...TABLES);
  const alias = choose(undefined, 't');
  const join = choose('cross join', 'CROSS JOIN', 'left join', ',');
  // An alias may hide the column.
  const metadata = choose('m', 'metadata');
  const column = alias === undefined ? 'metadata' : `${alias}.metadata`;
  const base = q.table(name, alias, choose('', '`'));
  const read = q.unnested(base, e.path('dynamic', column, column.split('.')), metadata, join);
  const taken = new Set([metadata]);
  const opened = open({ choose, join, alias: metadata, shape: SCHEMA[name], from: read, taken });
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
      isOne: () => {
        const id = `${name}-${choose(0, 1, 2, 39)}`;
        return e.comparison('=', own('string', 'id'), e.literal(id, e.quoted(id)));
      },
    },
  };
}

interface Opened {
  readonly from: Relation;
  readonly records: readonly { readonly alias: string; readonly shape: Shape }[];
}

/** Unnests some of the records of a record, and so on. */
function open(of: {
  choose: Choose;
  join: string;
  alias: string;
  shape: Shape;
  from: Relation;
  /** Aliases so far: no two of a FROM are the same. */
  taken: Set<string>;
}): Opened {
  const { choose, join, alias, shape, taken } = of;
  const start: Opened = { from: of.from, records: [{ alias, shape }] };
  return Object.entries(shape).reduce<Opened>(({ from, records }, [name, inner]) => {
    if (typeof inner === 'string' || choose(false, true, true) === false) return { from, records };
    const names = [name, `${name}_record`, `${alias}_${name}`].filter((one) => !taken.has(one));
    const own = choose(...names.slice(0, 2));
    taken.add(own);
    const read = q.unnested(from, e.path('dynamic', `${alias}.${name}`, [alias, name]), own, join);
    const below = open({ choose, join, alias: own, shape: inner, from: read, taken });
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
