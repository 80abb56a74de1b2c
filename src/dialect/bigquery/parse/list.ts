import type { Grammar } from './token-stream.ts';
import type { Expression } from './tree.ts';

/** Expressions between commas. */
export function parseList(grammar: Grammar): readonly Expression[] {
  const list = [grammar.expression()];
  while (grammar.tokens.takeSign(',')) list.push(grammar.expression());
  return list;
}

/** Names of columns between commas, in brackets. @param clause before them, for messages */
export function parseNames(clause: string, { tokens }: Grammar): readonly string[] {
  const names: string[] = [];
  tokens.expectSign('(');
  do {
    if (!tokens.isName()) throw tokens.unexpected('a column');
    names.push(tokens.take('a column').value);
  } while (tokens.takeSign(','));
  tokens.expectSign(')', `a comma or the closing bracket of ${clause}`);
  return names;
}
