import type { TailraceError } from '../../errors.ts';
import type { Expression, Placed, QueryTree } from './parse/tree.ts';
import type { ColumnScope } from './scope.ts';
import type { Type, Value } from './value.ts';

/** What the translation of an expression needs. */
export interface Context {
  /** The error for a part of the text that is not understood. */
  readonly fail: (message: string, place: Placed) => TailraceError;
  readonly scope: ColumnScope;
  /** Microseconds since 1970. */
  readonly now: number;
  /** Translates an expression within this one. @throws TailraceError for an array */
  readonly translate: (expression: Expression) => Value;
  /** The same for what may be an array. */
  readonly translateArray: (expression: Expression) => Value;
  /** Translates an argument of an aggregate function: names in it are those of a row, not of a group. */
  readonly translateRow: (expression: Expression) => Value;
  /** Translates a SELECT in brackets with one column. */
  readonly subquery: (query: QueryTree) => { readonly sql: string; readonly type: Type };
  /** Counts characters of SQL that have been written. @throws WrongType beyond the bound of a whole translation */
  readonly spend: (chars: number) => void;
}
