import { type Place, placeOf, refuse } from './refusal.ts';
import { readTokens, type Token } from './token.ts';

/** A caller's text in a spelling that the parser reads without loss. */
export interface Prepared {
  readonly sql: string;
  /** Each text is `'4'` and each number `4` there, with its place in `literals`: the parser's own reading of escapes and numbers is not BigQuery's. */
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly literals: readonly Token[];
  /** The place in the caller's text of an offset in `text`. */
  readonly placeAt: (offset: number) => Place;
}

interface Piece {
  readonly text: string;
  /** Offset in the caller's text. */
  readonly start: number;
  /** Whether white space comes before it. */
  readonly isApart: boolean;
}

/** Types by the names that PostgreSQL has for them, which Studio's `::text` uses. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  int: 'int64',
  integer: 'int64',
  bigint: 'int64',
  float: 'float64',
  double: 'float64',
  boolean: 'bool',
};

/** A function that stands for the brackets after NOT: it returns its argument. */
export const BRACKETS = 'tailrace_brackets';

// A bracket after these is not that of a call.
const BEFORE_OPERAND = new Set(
  'select distinct where and or not in on having by when then else like between is from as using union all'.split(
    ' ',
  ),
);

/** @throws TailraceError `invalid_parameter` for a text beyond the bounds, or with what is no token of BigQuery's */
export function prepare(sql: string): Prepared {
  const tokens = withoutEnd(readTokens(sql), sql);
  const literals: Token[] = [{ kind: 'number', value: '0', start: 0 }]; // counted from 1: -0 is 0
  const pieces: Piece[] = [];
  const open: number[] = []; // first pieces of the operands that brackets stand in
  let operand = 0; // first piece of the last operand, such as a.b or f(x)
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined) break;
    const before = tokens[i - 1];
    if (token.value === '::' && token.kind === 'sign') {
      const type = tokens[++i];
      if (type?.kind !== 'word') throw refuse('must have a type after ::', placeOf(sql, token.start));
      const name = type.value.toLowerCase();
      pieces.splice(operand, 0, { text: 'cast(', start: token.start, isApart: true });
      pieces.push({ text: `as ${TYPES[name] ?? name})`, start: type.start, isApart: true });
      continue;
    }
    if (token.kind === 'text' || token.kind === 'number') literals.push(token);
    const isOpening = token.kind === 'sign' && '(['.includes(token.value);
    if (isOpening) open.push(isCall(before) ? operand : pieces.length);
    else if (token.kind === 'sign' && ')]'.includes(token.value)) operand = open.pop() ?? 0;
    else if (token.kind !== 'sign' && before?.value !== '.') operand = pieces.length;
    // The parser takes NOT before a bracket for a call, so that NOT (a) = 1 would be (NOT a) = 1.
    if (token.value === '(' && isOpening && before?.kind === 'word' && before.value.toLowerCase() === 'not')
      pieces.push({ text: BRACKETS, start: token.start, isApart: true });
    pieces.push(writePiece(token, before, literals.length - 1));
  }
  return join(pieces, { sql, tokens, literals });
}

/** Removes semicolons at the end. */
function withoutEnd(tokens: readonly Token[], sql: string): readonly Token[] {
  const last = tokens.findLastIndex(({ kind, value }) => kind !== 'sign' || value !== ';');
  if (last < 0) throw refuse('is empty; send one SELECT');
  const kept = tokens.slice(0, last + 1);
  const second = kept.find(({ kind, value }) => kind === 'sign' && value === ';');
  if (second !== undefined)
    throw refuse('must be one SELECT; there is a semicolon', placeOf(sql, second.start));
  return kept;
}

function isCall(before: Token | undefined): boolean {
  if (before === undefined) return false;
  if (before.kind === 'sign') return before.value === ')' || before.value === ']';
  return (
    before.kind === 'name' || (before.kind === 'word' && !BEFORE_OPERAND.has(before.value.toLowerCase()))
  );
}

function writePiece(token: Token, before: Token | undefined, literal: number): Piece {
  const { kind, value, start } = token;
  // The parser takes `a-b` for one name, and does not take `a . b`.
  const isSign = (one: Token | undefined, sign: string) => one?.kind === 'sign' && one.value === sign;
  const isTight =
    isSign(token, '.') ||
    isSign(before, '.') ||
    (isSign(token, '(') && (isCall(before) || before?.value.toLowerCase() === 'not'));
  const text = kind === 'text' ? `'${literal}'` : kind === 'number' ? String(literal) : value;
  return { text: kind === 'name' ? `\`${value}\`` : text, start, isApart: !isTight };
}

function join(
  pieces: readonly Piece[],
  { sql, tokens, literals }: { sql: string; tokens: readonly Token[]; literals: readonly Token[] },
): Prepared {
  let text = '';
  const ends: number[] = [];
  for (const piece of pieces) {
    text += `${piece.isApart ? ' ' : ''}${piece.text}`;
    ends.push(text.length);
  }
  const placeAt = (offset: number) => {
    const piece = pieces[ends.findIndex((end) => end > offset)];
    return placeOf(sql, piece?.start ?? sql.length);
  };
  return { sql, text, tokens, literals, placeAt };
}
