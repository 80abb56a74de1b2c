import { toValue } from './call.ts';
import { translateExpression } from './expression.ts';
import { type Expression, type Placed, placed, type QueryTree, reject, type Tail } from './parse/tree.ts';
import {
  createRelation,
  type DialectView,
  FLAG,
  FLAG_LABEL,
  type Select,
  type Source,
  type SourceColumn,
} from './relation.ts';
import { type Bounds, type ColumnScope, type Context, joinBounds } from './scope.ts';
import { readable, type SelectContext, translateSelect, withTail } from './select.ts';
import { SQL_CHARS_MAX, type Type, unify } from './value.ts';

/** A SELECT with the members of its WITH, each `w0 AS (SELECT …)`. */
export type Query = ReturnType<typeof translateQuery>;

export interface QueryOptions {
  readonly root: QueryTree;
  readonly views: ReadonlyMap<string, DialectView>;
  /** Microseconds since 1970. */
  readonly now: number;
  /** Whether only typed columns may be read. */
  readonly isTyped: boolean;
}

/** Sources that a name in FROM can be, in lower case. */
type Visible = ReadonlyMap<string, Source>;

/**
 * Characters of all expressions together, each with those in it: a bound of the work that a translation is. Larger ones
 * than any page sends have a tenth of it.
 */
const EXPRESSION_CHARS_MAX = 4 * 1024 * 1024;

/** What the parts of a query share. */
type State = ReturnType<typeof createState>;

function createState(options: QueryOptions) {
  return {
    ...options,
    withs: [] as string[],
    reads: [] as Bounds[],
    /** SELECTs in brackets that have been translated: an expression is translated several times, SELECTs in it once. */
    inner: new Map<QueryTree, Select>(),
    /** Relations so far. */
    relations: 0,
    /** Characters that expressions may still have. */
    charsLeft: EXPRESSION_CHARS_MAX,
  };
}

/** Translates a whole query. @throws NotUnderstood for what is not understood in it */
export function translateQuery(options: QueryOptions) {
  const { root, isTyped } = options;
  const state = createState(options);
  const views = [...options.views].map(([name, view]) => {
    const columns = isTyped ? [...VIEW_COLUMNS, FLAG_COLUMN] : VIEW_COLUMNS;
    return [name.toLowerCase(), { sql: name, columns, view }] as const;
  });
  const { sql, columns } = query(root, new Map(views), state);
  const array = columns.find(({ type }) => type === 'array');
  if (array !== undefined)
    throw reject(
      `has the array ${array.label} in its answer; read a member of it, such as [OFFSET(95)]`,
      root,
    );
  return { sql, columns, withs: state.withs, bounds: joinBounds(state.reads) };
}

/** A query with its WITH, UNION ALL, ORDER BY and LIMIT. @param around what FROM can name */
function query(tree: QueryTree, around: Visible, state: State): Select {
  const { arms, tail } = tree;
  const visible = readWith(tree, around, state);
  const [first] = arms;
  const context = contextIn(visible, state);
  if (arms.length > ARMS_MAX)
    throw reject(
      `must have at most ${ARMS_MAX} SELECTs in UNION ALL; there is one more`,
      arms[ARMS_MAX] ?? tree,
    );
  if (arms.length === 1 && first?.kind === 'select') return translateSelect(first, context, tail);
  const selects = arms.map((arm) =>
    arm.kind === 'query' ? query(arm, visible, state) : translateSelect(arm, context, NO_TAIL),
  );
  return withTail(joinArms(selects, tree), tail, context);
}

function readWith({ withs }: QueryTree, around: Visible, state: State): Visible {
  if (withs.length === 0) return around;
  const visible = new Map(around);
  for (const member of withs) {
    const select = query(member.query, visible, state);
    const sql = `w${state.withs.length}`;
    state.withs.push(`${sql} AS (${select.sql})`);
    visible.set(member.name.toLowerCase(), readable({ ...select, sql }, member));
  }
  return visible;
}

/** Each column has one type in all arms. */
function joinArms(selects: readonly Select[], place: Placed): Select {
  const [first, ...others] = selects;
  if (first === undefined || others.some(({ columns }) => columns.length !== first.columns.length))
    throw reject('has SELECTs with different numbers of columns in UNION ALL', place);
  if (others.length === 0) return first;
  const unified = first.columns.map(({ label }, i) => {
    const values = selects.map(({ columns }) => {
      const type = columns[i]?.type ?? 'null';
      return { ...toValue(type, `c${i}`), type };
    });
    return placed(
      place,
      () => ({ name: `c${i}`, label, ...unify(values) }),
      `: column ${label} of UNION ALL`,
    );
  });
  const arms = selects.map(({ sql }, i) => {
    const list = unified.map(({ sqls }, column) => `${sqls[i]} AS c${column}`).join(', ');
    return `SELECT ${list} FROM (${sql})`;
  });
  return { sql: arms.join(' UNION ALL '), columns: unified };
}

function contextIn(visible: Visible, state: State): SelectContext {
  const { now, reads, isTyped } = state;
  const subquery = (tree: QueryTree) => {
    const select = state.inner.get(tree) ?? query(tree, visible, state);
    state.inner.set(tree, select);
    return { ...select, sql: `(${select.sql})` };
  };
  const relate: SelectContext['relate'] = (name, source, isOptional) =>
    createRelation({ name, alias: `t${state.relations++}`, source, isTyped, isOptional });
  const contextOf = (scope: ColumnScope): Context => {
    const translateArray = (expression: Expression) =>
      placed(expression, () => {
        const value = translateExpression(expression, context);
        state.charsLeft -= value.sql.length;
        // Checked at every level: some functions write their argument several times.
        if (value.sql.length > SQL_CHARS_MAX || state.charsLeft < 0)
          throw reject('is too large: ask in several requests');
        return value;
      });
    const translate = (expression: Expression) => {
      const value = translateArray(expression);
      if (value.type !== 'array') return value;
      const message = 'has an array where a value belongs; read a member of it, such as [OFFSET(95)]';
      throw reject(message, expression);
    };
    const ofRows = scope.grouped.size === 0 ? undefined : contextOf({ ...scope, grouped: new Map() });
    const translateRow = ofRows?.translate ?? translate;
    const context = { scope, now, subquery, translate, translateArray, translateRow };
    return context;
  };
  return { visible, reads, subquery, relate, contextOf };
}

const ARMS_MAX = 20;
// The ORDER BY and LIMIT after UNION ALL are those of all of its SELECTs.
const NO_TAIL: Tail = { orderBy: [], limit: undefined };

const column = (name: string, type: Type, label = name): SourceColumn => ({ name, label, type });

const VIEW_COLUMNS = [
  column('id', 'string'),
  column('timestamp', 'timestamp'),
  column('event_message', 'string'),
  column('metadata', 'record'),
];
const FLAG_COLUMN = column(FLAG, 'bool', FLAG_LABEL);
