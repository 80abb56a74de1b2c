import { type Bounds, joinBounds, type TableBounds } from './bounds.ts';
import type { Context } from './context.ts';
import { unify, WrongType } from './convert.ts';
import { translateExpression } from './expression.ts';
import { outputValues } from './order.ts';
import { isNode, type Node, type Reader } from './parse/tree.ts';
import type { DialectView, Source } from './relation.ts';
import type { Scope } from './scope.ts';
import { type Select, type SelectContext, toSource, translateSelect, withTail } from './select.ts';
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

/** What the parts of a query share. */
interface State extends Options {
  readonly withs: string[];
  readonly reads: TableBounds[];
  /** Relations so far. */
  relations: number;
}

/** Translates a whole query. @throws TailraceError `invalid_parameter` for what is not understood in it */
export function translateQuery(options: Options): Query {
  const state: State = { ...options, withs: [], reads: [], relations: 0 };
  const views = [...options.views].map(
    ([name, view]) => [name.toLowerCase(), viewSource(name, view)] as const,
  );
  const { sql, columns } = query(options.reader.root, new Map(views), state);
  return { sql, columns, withs: state.withs, bounds: joinBounds(state.reads) };
}

/** A query with its WITH, UNION ALL, ORDER BY and LIMIT. @param around what FROM can name */
function query(node: Node, around: Visible, state: State): Select {
  const { reader } = state;
  const visible = readWith(node, around, state);
  const arms = readArms(node, reader);
  const last = arms.at(-1) ?? node;
  if (arms.length === 1) return arm(node, visible, { state, hasTail: true });
  const selects = arms.map((one) => {
    const isBracketed = reader.take(one, 'parentheses_symbol') === true;
    const hasTail = reader.take(one, 'orderby') !== undefined || reader.take(one, 'limit') !== undefined;
    if (hasTail && !isBracketed && one !== last)
      throw reader.refuse('has ORDER BY or LIMIT before UNION ALL; put the SELECT in brackets', one);
    return arm(one, visible, { state, hasTail: isBracketed });
  });
  const union = joinArms(selects, node, reader);
  // Without brackets the parser gives the last SELECT what belongs to all.
  const isBracketed = reader.take(last, 'parentheses_symbol') === true;
  return isBracketed ? union : withTail(union, last, contextIn(visible, state));
}

function readWith(node: Node, around: Visible, state: State): Visible {
  const { reader, withs } = state;
  const visible = new Map(around);
  for (const member of reader.nodes(node, 'with')) {
    const name = reader.must(member, 'name');
    reader.word(name, 'type');
    const statement = reader.must(member, 'stmt');
    const select = query(bare(statement, reader), visible, state);
    const sql = `w${withs.length}`;
    withs.push(`${sql} AS (${select.sql})`);
    const source = readable({ sql, columns: select.columns }, statement, reader);
    visible.set((reader.word(name, 'value') ?? '').toLowerCase(), source);
  }
  return visible;
}

function readArms(node: Node, reader: Reader): readonly Node[] {
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
    if (arms.length > ARMS_MAX)
      throw reader.refuse(`must have at most ${ARMS_MAX} SELECTs in UNION ALL; there is one more`, next);
    at = next;
  }
}

function arm(node: Node, visible: Visible, { state, hasTail }: { state: State; hasTail: boolean }): Select {
  const { reader } = state;
  reader.take(node, 'parentheses_symbol');
  const select = translateSelect(node, contextIn(visible, state), hasTail);
  const labels = select.columns.map(({ label }) => label.toLowerCase());
  const twice = select.columns.find(({ label }, i) => labels.indexOf(label.toLowerCase()) < i);
  if (twice === undefined) return select;
  throw reader.refuse(`has two columns ${twice.label}; give each a name of its own`, node);
}

/** Each column has one type in all arms. */
function joinArms(selects: readonly Select[], node: Node, reader: Reader): Select {
  const [first] = selects;
  const values = selects.map(({ columns }) => outputValues(columns));
  const count = first?.columns.length ?? 0;
  if (first === undefined || selects.some(({ columns }) => columns.length !== count))
    throw reader.refuse('has SELECTs with different numbers of columns in UNION ALL', node);
  const unified = first.columns.map((column, i) => {
    try {
      return unify(values.map((one) => one[i] ?? { type: 'null' as const, sql: 'NULL' }));
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
      throw reader.refuse(`${error.message}: column ${column.label} of UNION ALL`, node);
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
function bare(node: Node, reader: Reader): Node {
  const inner = reader.take(node, 'ast');
  return isNode(inner) ? inner : node;
}

/** @throws TailraceError `invalid_parameter` for a column without a type */
function readable(select: Select, place: Node, reader: Reader): Source {
  const untyped = select.columns.find(({ type }) => type === 'null');
  if (untyped === undefined) return toSource(select);
  throw reader.refuse(`has the column ${untyped.label}, which is NULL without a type; cast it`, place);
}

function contextIn(visible: Visible, state: State): SelectContext {
  const { reader, now } = state;
  const inner = (node: Node) => query(bare(node, reader), visible, state);
  const subquery = (node: Node) => {
    const { sql, columns } = inner(node);
    const [column, ...others] = columns;
    if (column === undefined || others.length > 0)
      throw reader.refuse('has a SELECT with more than one column in the place of a value', node);
    return { sql: `(${sql})`, type: column.type };
  };
  const contextOf = (scope: Scope): Context => {
    const translateRow = (node: Node) => contextOf({ ...scope, grouped: new Map() }).translate(node);
    const context = { reader, scope, now, translateRow, subquery };
    return { ...context, translate: (node) => translateExpression(node, context) };
  };
  return {
    reader,
    contextOf,
    nextAlias: () => `t${state.relations++}`,
    findSource: (name) => visible.get(name.toLowerCase()),
    known: () => [...visible.keys()],
    subquery: (node) => {
      const { sql, columns } = inner(node);
      return readable({ sql: `(${sql})`, columns }, node, reader);
    },
    addRead: (bounds) => state.reads.push(bounds),
  };
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
