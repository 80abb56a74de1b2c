import type { Grammar } from './token-stream.ts';
import type { Expression } from './tree.ts';

/** Parses CASE … END. */
export function parseCase(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('CASE');
  const subject = tokens.word() === 'WHEN' ? undefined : grammar.expression();
  const branches: { test: Expression; result: Expression }[] = [];
  while (tokens.takeWords('WHEN')) {
    const test = grammar.expression();
    tokens.expectWord('THEN');
    branches.push({ test, result: grammar.expression() });
  }
  if (branches.length === 0) throw tokens.unexpected('WHEN');
  const otherwise = tokens.takeWords('ELSE') ? grammar.expression() : undefined;
  if (!tokens.takeWords('END')) throw tokens.unexpected('END');
  return { kind: 'case', subject, branches, otherwise, start };
}

/** Parses CAST or SAFE_CAST. */
export function parseCast(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  const isSafe = tokens.take('CAST').value.toUpperCase() === 'SAFE_CAST';
  tokens.expectSign('(');
  const value = grammar.expression();
  tokens.expectWord('AS');
  const type = tokens.take('a type').value.toLowerCase();
  if (tokens.isSign('(') || tokens.isSign('<'))
    throw tokens.fail(`casts to ${type.toUpperCase()} with parameters, which is not understood`);
  if (tokens.word() === 'FORMAT') throw tokens.fail('has CAST with FORMAT, which is not understood');
  tokens.expectSign(')', 'the closing bracket of CAST');
  return { kind: 'cast', value, type, isSafe, start };
}

/** Parses EXTRACT. */
export function parseExtract(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('EXTRACT');
  tokens.expectSign('(');
  const part = parsePart(grammar);
  tokens.expectWord('FROM');
  const from = grammar.expression();
  if (tokens.word() === 'AT')
    throw tokens.fail('has AT TIME ZONE, which is not understood; times are in UTC');
  tokens.expectSign(')', 'the closing bracket of EXTRACT');
  return { kind: 'extract', part, from, start };
}

/** Parses INTERVAL. */
export function parseInterval(grammar: Grammar, start: number): Expression {
  const { tokens } = grammar;
  tokens.expectWord('INTERVAL');
  const count = grammar.expression();
  const part = parsePart(grammar);
  if (tokens.word() === 'TO')
    throw tokens.fail('has INTERVAL … TO …, which is not understood; write one part');
  return { kind: 'interval', count, part, start };
}

/** A word such as HOUR, in lower case; `week(monday)` is `isoweek`. */
function parsePart({ tokens }: Grammar): string {
  if (tokens.peek()?.kind !== 'word') throw tokens.unexpected('a part of a time, such as HOUR,');
  const part = tokens.take('a part of a time').value.toLowerCase();
  if (part !== 'week' || !tokens.takeSign('(')) return part;
  const day = tokens.take('a day').value.toLowerCase();
  tokens.expectSign(')');
  return day === 'monday' ? 'isoweek' : `week(${day})`;
}
