/** A part of the caller's text: an offset in UTF-16 units. */
export interface Placed {
  readonly start: number;
}

/** A query with its WITH, UNION ALL, ORDER BY and LIMIT. */
export interface QueryTree extends Placed {
  readonly kind: 'query';
  readonly withs: readonly WithMember[];
  /** What stands between UNION ALL; a query if it is in brackets. */
  readonly arms: readonly (SelectTree | QueryTree)[];
  readonly tail: Tail;
}

export interface WithMember extends Placed {
  readonly name: string;
  readonly query: QueryTree;
}

/** ORDER BY and LIMIT. */
export interface Tail {
  readonly orderBy: readonly OrderTerm[];
  readonly limit: { readonly rows: string; readonly offset: string | undefined } | undefined;
}

export interface OrderTerm {
  readonly expression: Expression;
  readonly isDescending: boolean;
  /** `undefined` for BigQuery's default: first ascending, last descending. */
  readonly nulls: 'FIRST' | 'LAST' | undefined;
}

export interface SelectTree extends Placed {
  readonly kind: 'select';
  readonly isDistinct: boolean;
  readonly items: readonly (ItemTree | StarTree)[];
  readonly from: readonly FromItem[];
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
}

export interface ItemTree extends Placed {
  readonly kind: 'item';
  readonly expression: Expression;
  readonly alias: string | undefined;
}

/** `*` of all relations, or of one. */
export interface StarTree extends Placed {
  readonly kind: 'star';
  readonly relation: string | undefined;
  /** Names after EXCEPT. */
  readonly except: readonly string[];
}

export type Join = 'CROSS JOIN' | 'INNER JOIN' | 'LEFT JOIN';

export interface FromItem extends Placed {
  /** `undefined` for the first. */
  readonly join: Join | undefined;
  readonly read: FromRead;
  readonly alias: string | undefined;
  readonly on: Expression | undefined;
  /** Columns of USING. */
  readonly using: readonly string[];
}

/** `path` is a table, or a record of another relation, such as `t.metadata`; `unnest` a path in UNNEST. */
type FromRead =
  | { readonly kind: 'path' | 'unnest'; readonly names: readonly string[] }
  | { readonly kind: 'subquery'; readonly query: QueryTree };

/** An expression of BigQuery's SQL. */
export type Expression = Placed & ExpressionForm;

type ExpressionForm =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'interval'; readonly count: Expression; readonly part: string }
  /** `names`: its parts between dots. */
  | { readonly kind: 'name'; readonly names: readonly string[] }
  | { readonly kind: 'unary'; readonly operator: 'NOT' | '+' | '-'; readonly operand: Expression }
  /** `a AND b AND c`. */
  | { readonly kind: 'chain'; readonly operator: 'AND' | 'OR'; readonly operands: readonly Expression[] }
  /** `a + b - c`, or `a * b / c || d`, from the left. */
  | { readonly kind: 'operation'; readonly first: Expression; readonly rest: readonly Operand[] }
  | {
      readonly kind: 'comparison';
      readonly operator: '=' | '!=' | '<>' | '<' | '<=' | '>' | '>=' | 'LIKE';
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'in'; readonly value: Expression; readonly members: readonly Expression[] | QueryTree }
  | { readonly kind: 'is'; readonly value: Expression; readonly what: 'null' | boolean }
  | {
      readonly kind: 'case';
      readonly subject: Expression | undefined;
      readonly branches: readonly { readonly test: Expression; readonly result: Expression }[];
      readonly otherwise: Expression | undefined;
    }
  | { readonly kind: 'cast'; readonly value: Expression; readonly type: string; readonly isSafe: boolean }
  | { readonly kind: 'extract'; readonly part: string; readonly from: Expression }
  | CallForm
  /** `list[offset(index)]`. */
  | { readonly kind: 'member'; readonly list: Expression; readonly index: Expression }
  | { readonly kind: 'subquery'; readonly query: QueryTree };

/** An expression of a kind. */
export type Form<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export interface Operand {
  readonly operator: '+' | '-' | '*' | '/' | '||';
  readonly operand: Expression;
}

interface CallForm {
  readonly kind: 'call';
  /** In lower case, with the words before it, such as `net.host`. */
  readonly name: string;
  readonly args: readonly Expression[];
  /** Whether its argument is `*`. */
  readonly isOfRows?: boolean;
  readonly isDistinct?: boolean;
  /** Whether OVER () stands after it. */
  readonly isOver?: boolean;
}

/** Says what is not understood in a caller's SELECT, and what would be. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
  /** Without it, the place is that of the part that is being translated (`placed`). */
  readonly place: Placed | undefined;
  constructor(message: string, place: Placed | undefined) {
    super(message);
    this.place = place;
  }
}

export function reject(message: string, place?: Placed): NotUnderstood {
  return new NotUnderstood(message, place);
}

/** Parses or translates a part of the caller's text, and adds its place to what is not understood in it. */
export function placed<T>({ start }: Placed, translate: () => T, where = ''): T {
  try {
    return translate();
  } catch (error) {
    const isPlaced = !(error instanceof NotUnderstood) || error.place !== undefined;
    throw isPlaced ? error : reject(error.message + where, { start });
  }
}

/** What the caller wrote, cut for a message. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
