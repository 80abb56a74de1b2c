import type { TailraceError } from '../../../errors.ts';
import { parseExpression } from './expression.ts';
import { parseQuery } from './query.ts';
import { locate, refuse, shorten } from './refusal.ts';
import { type BigQueryToken, type Quotes, readTokens } from './token.ts';
import { createTokenStream, type Grammar } from './token-stream.ts';
import type { Placed, QueryTree } from './tree.ts';

export interface Parsed {
  readonly root: QueryTree;
  /** The error for a part of the tree that is not understood. */
  readonly fail: (message: string, place: Placed) => TailraceError;
}

/**
 * Parses one SELECT of BigQuery's in a time in proportion to its length, which is bounded.
 *
 * @throws TailraceError `invalid_parameter` that names what is not understood, with its line and column
 */
export function parse(sql: string, quotes: Quotes): Parsed {
  const tokens = createTokenStream(sql, withoutEnd(readTokens(sql, quotes), sql));
  const grammar: Grammar = {
    tokens,
    query: () => parseQuery(grammar),
    expression: () => parseExpression(grammar),
  };
  const root = parseQuery(grammar);
  if (tokens.peek() !== undefined) throw tokens.unexpected('the end');
  return { root, fail: tokens.fail };
}

/** Removes semicolons at the end. */
function withoutEnd(tokens: readonly BigQueryToken[], sql: string): readonly BigQueryToken[] {
  const last = tokens.findLastIndex((token) => !isSemicolon(token));
  if (last < 0) throw refuse('is empty; send one SELECT');
  const kept = tokens.slice(0, last + 1);
  const first = kept.find(({ value }) => value !== '(');
  if (first !== undefined && !(first.kind === 'word' && /^(?:select|with)$/i.test(first.value)))
    throw refuse(`must be one SELECT; it begins with ${shorten(first.value)}`, locate(sql, first.start));
  const second = kept.find(isSemicolon);
  if (second !== undefined)
    throw refuse('must be one SELECT; there is a semicolon', locate(sql, second.start));
  return kept;
}

const isSemicolon = ({ kind, value }: BigQueryToken) => kind === 'sign' && value === ';';
