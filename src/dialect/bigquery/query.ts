import { type Bounds, joinBounds, type TableBounds } from './bounds.ts';
import type { Context } from './context.ts';
import { unify, WrongType } from './convert.ts';
import { translateExpression } from './expression.ts';
import { outputValues } from './order.ts';
import type { DialectView, Source } from './relation.ts';
import type { Scope } from './scope.ts';
import { type OutputColumn, type Select, translateSelect, withTail } from './select.ts';
import { isNode, type Node, type Reader } from './tree.ts';
import type { Type } from './value.ts';

export interface Query extends Select {
  /** The members of WITH, each `w0 AS (SELECT …)`. */
  readonly withs: readonly string[];
  readonly bounds: Bounds;
}

interface Options {
  readonly reader: Reader;
  readonly views: ReadonlyMap<string, DialectView>;
  /** Microseconds since 1970. */
  readonly now: number;
}

/** Sources that a name in FROM can be, in lower case. */
type Visible = ReadonlyMap<string, Source>;

/** Translates a whole query. @throws TailraceError `invalid_parameter` for what is not understood in it */
export function translateQuery({ reader, views, now }: Options): Query {
  const withs: string[] = [];
  const reads: TableBounds[] = [];
  let aliases = 0;

  /** A query with its WITH, UNION ALL, ORDER BY and LIMIT. */
  function query(node: Node, around: Visible): Select {
    const visible = new Map(around);
    for (const member of reader.nodes(node, 'with')) {
      const name = reader.must(member, 'name');
      reader.word(name, 'type');
      const statement = reader.must(member, 'stmt');
      const select = query(bare(statement), visible);
      const sql = `w${withs.length}`;
      withs.push(`${sql} AS (${select.sql})`);
      visible.set((reader.word(name, 'value') ?? '').toLowerCase(), toSource(sql, select.columns, statement));
    }
    const arms = readArms(node);
    const last = arms.at(-1) ?? node;
    if (arms.length === 1) return arm(node, visible, true);
    const selects = arms.map((one) => {
      const isBracketed = reader.take(one, 'parentheses_symbol') === true;
      const hasTail = reader.take(one, 'orderby') !== undefined || reader.take(one, 'limit') !== undefined;
      if (hasTail && !isBracketed && one !== last)
        throw reader.refuse('has ORDER BY or LIMIT before UNION ALL; put the SELECT in brackets', one);
      return arm(one, visible, isBracketed);
    });
    const union = joinArms(selects, node);
    const isBracketed = reader.take(last, 'parentheses_symbol') === true;
    return isBracketed ? union : withTail(union, last, contextIn(visible));
  }

  function readArms(node: Node): readonly Node[] {
    const arms = [node];
    for (let at = node; ; ) {
      const operator = reader.word(at, 'set_op');
      const next = reader.node(at, '_next');
      if (next === undefined) return arms;
      if (operator !== 'union all')
        throw reader.refuse(
          `has ${operator?.toUpperCase()}, which is not understood; known is UNION ALL`,
          next,
        );
      arms.push(next);
      if (arms.length > ARMS_MAX) throw reader.refuse(`has more than ${ARMS_MAX} SELECTs in UNION ALL`, next);
      at = next;
    }
  }

  function arm(node: Node, visible: Visible, hasTail: boolean): Select {
    reader.take(node, 'parentheses_symbol');
    const select = translateSelect(node, contextIn(visible), hasTail);
    const labels = select.columns.map(({ label }) => label.toLowerCase());
    const twice = select.columns.find(({ label }, i) => labels.indexOf(label.toLowerCase()) < i);
    if (twice !== undefined)
      throw reader.refuse(`has two columns ${twice.label}; give each a name of its own`, node);
    return select;
  }

  /** Each column has one type in all arms. */
  function joinArms(selects: readonly Select[], node: Node): Select {
    const [first] = selects;
    const values = selects.map(({ columns }) => outputValues(columns));
    const count = first?.columns.length ?? 0;
    if (first === undefined || selects.some(({ columns }) => columns.length !== count))
      throw reader.refuse('has SELECTs with different numbers of columns in UNION ALL', node);
    const unified = first.columns.map((column, i) => {
      try {
        return unify(values.map((arm) => arm[i] ?? { type: 'null' as const, sql: 'NULL' }));
      } catch (error) {
        if (!(error instanceof WrongType)) throw error;
        throw reader.refuse(`column ${column.label} of UNION ALL ${error.message}`, node);
      }
    });
    const arms = selects.map(({ sql }, i) => {
      const list = unified.map(({ sqls }, column) => `${sqls[i]} AS c${column}`).join(', ');
      return `SELECT ${list} FROM (${sql})`;
    });
    const columns = first.columns.map(({ label }, i) => ({
      label,
      type: unified[i]?.type ?? ('null' as const),
    }));
    return { sql: arms.join(' UNION ALL '), columns };
  }

  /** The SELECT in what the parser puts around one. */
  function bare(node: Node): Node {
    const inner = reader.take(node, 'ast');
    return isNode(inner) ? inner : node;
  }

  function toSource(sql: string, columns: readonly OutputColumn[], node: Node): Source {
    const named = columns.map(({ label, type }, i) => {
      if (type === 'null')
        throw reader.refuse(`has the column ${label}, which is NULL without a type; cast it`, node);
      return [
        label.toLowerCase(),
        { name: `c${i}`, label, type: type === 'record' ? 'json' : type },
      ] as const;
    });
    return { sql, columns: new Map(named) };
  }

  function contextIn(visible: Visible) {
    const contextOf = (scope: Scope): Context => {
      const context: Omit<Context, 'translate'> = {
        reader,
        scope,
        now,
        translateRow: (node) => contextOf({ ...scope, grouped: new Map() }).translate(node),
        subquery: (node) => {
          const { sql, columns } = query(bare(node), visible);
          const [column, ...others] = columns;
          if (column === undefined || others.length > 0)
            throw reader.refuse('has a SELECT with more than one column in the place of a value', node);
          return { sql: `(${sql})`, type: column.type };
        },
      };
      return { ...context, translate: (node) => translateExpression(node, context) };
    };
    return {
      reader,
      contextOf,
      nextAlias: () => `t${aliases++}`,
      findSource: (name: string) => visible.get(name.toLowerCase()),
      known: () => [...visible.keys()],
      subquery: (node: Node) => {
        const { sql, columns } = query(bare(node), visible);
        return toSource(`(${sql})`, columns, node);
      },
      addRead: (bounds: TableBounds) => reads.push(bounds),
    };
  }

  const stored = [...views].map(([name, view]) => [name.toLowerCase(), viewSource(name, view)] as const);
  const { sql, columns } = query(reader.root, new Map(stored));
  return { sql, columns, withs, bounds: joinBounds(reads) };
}

const ARMS_MAX = 20;

const VIEW_COLUMNS: Readonly<Record<string, Type>> = {
  id: 'string',
  timestamp: 'timestamp',
  event_message: 'string',
  metadata: 'record',
};

function viewSource(name: string, view: DialectView): Source {
  const columns = Object.entries(VIEW_COLUMNS).map(
    ([column, type]) => [column, { name: column, label: column, type }] as const,
  );
  return { sql: name, columns: new Map(columns), view };
}
