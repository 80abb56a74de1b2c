import type { Node, Reader } from './parse/tree.ts';
import type { Scope } from './scope.ts';
import type { Type, Value } from './value.ts';

/** What the translation of an expression needs. */
export interface Context {
  readonly reader: Reader;
  readonly scope: Scope;
  /** Microseconds since 1970. */
  readonly now: number;
  /** Translates an expression within this one. */
  readonly translate: (node: Node) => Value;
  /** Translates an argument of an aggregate function: names in it are those of a row, not of a group. */
  readonly translateRow: (node: Node) => Value;
  /** Translates a SELECT in brackets with one column. */
  readonly subquery: (node: Node) => { readonly sql: string; readonly type: Type };
}
