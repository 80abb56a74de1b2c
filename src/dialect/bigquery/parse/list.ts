import type { Grammar } from './token-stream.ts';
import type { Expression } from './tree.ts';

/** Expressions between commas. */
export function parseList(grammar: Grammar): readonly Expression[] {
  const list = [grammar.expression()];
  while (grammar.tokens.takeSign(',')) list.push(grammar.expression());
  return list;
}
