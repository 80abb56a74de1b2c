import { type Place, placeOf, refuse, shorten } from './refusal.ts';
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
  /** What the caller wrote just before an offset in `text`, and there. */
  readonly wordsAt: (offset: number) => string;
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
  const tokens = withoutEnd(readTokens(sql), sql).filter(isKept);
  const writer = createWriter();
  for (const [i, token] of tokens.entries()) {
    const before = tokens[i - 1];
    if (isSign(before, '::')) writer.cast(token);
    else if (isSign(token, '::')) requireType(tokens[i + 1], token, sql);
    else writer.add(token, before);
  }
  return join(writer.pieces, { sql, tokens, literals: writer.literals });
}

const isSign = (token: Token | undefined, sign: string) => token?.kind === 'sign' && token.value === sign;
const isWord = (token: Token | undefined, word: string) =>
  token?.kind === 'word' && token.value.toLowerCase() === word;

function requireType(type: Token | undefined, { start }: Token, sql: string): void {
  if (type?.kind !== 'word') throw refuse('must have a type after ::', placeOf(sql, start));
}

function createWriter() {
  const literals: Token[] = [{ kind: 'number', value: '0', start: 0 }]; // counted from 1: -0 is 0
  const pieces: Piece[] = [];
  const open: number[] = []; // first pieces of the operands that brackets stand in
  let operand = 0; // first piece of the last operand, such as a.b or f(x)

  /** `operand::type` becomes a cast. */
  function cast({ value, start }: Token): void {
    const name = value.toLowerCase();
    pieces.splice(operand, 0, { text: 'cast(', start: pieces[operand]?.start ?? start, isApart: true });
    pieces.push({ text: `as ${Object.hasOwn(TYPES, name) ? TYPES[name] : name})`, start, isApart: true });
  }

  function add(token: Token, before: Token | undefined): void {
    const { kind, start } = token;
    if (kind === 'text' || kind === 'number') literals.push(token);
    if (kind === 'sign') takeBracket(token, before);
    else if (!isSign(before, '.')) operand = pieces.length;
    // The parser takes NOT before a bracket for a call, so that NOT (a) = 1 would be (NOT a) = 1.
    if (isSign(token, '(') && isWord(before, 'not')) pieces.push({ text: BRACKETS, start, isApart: true });
    pieces.push(writePiece(token, before, literals.length - 1));
  }

  function takeBracket({ value }: Token, before: Token | undefined): void {
    if ('(['.includes(value)) open.push(isCall(before) ? operand : pieces.length);
    else if (')]'.includes(value)) operand = open.pop() ?? 0;
  }

  return { pieces, literals, cast, add };
}

/** Removes semicolons at the end. */
function withoutEnd(tokens: readonly Token[], sql: string): readonly Token[] {
  const last = tokens.findLastIndex(({ kind, value }) => kind !== 'sign' || value !== ';');
  if (last < 0) throw refuse('is empty; send one SELECT');
  const kept = tokens.slice(0, last + 1);
  const first = kept.find(({ value }) => value !== '(');
  if (first !== undefined && !isWord(first, 'select') && !isWord(first, 'with'))
    throw refuse(`must be one SELECT; it begins with ${shorten(first.value)}`, placeOf(sql, first.start));
  const second = kept.find(({ kind, value }) => kind === 'sign' && value === ';');
  if (second !== undefined)
    throw refuse('must be one SELECT; there is a semicolon', placeOf(sql, second.start));
  return kept;
}

/**
 * Whether the parser needs a token. It takes `, from (…)` for a call, so the comma at the end of a SELECT list is left out; OUTER says
 * nothing after LEFT.
 */
function isKept(token: Token, i: number, tokens: readonly Token[]): boolean {
  const isLast = isSign(token, ',') && isWord(tokens[i + 1], 'from');
  return !isLast && !(isWord(token, 'outer') && isWord(tokens[i - 1], 'left'));
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
  const isTight =
    isSign(token, '.') ||
    isSign(before, '.') ||
    (isSign(token, '(') && (isCall(before) || isWord(before, 'not')));
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
  const startAt = (offset: number) => pieces[ends.findIndex((end) => end > offset)]?.start ?? sql.length;
  const placeAt = (offset: number) => placeOf(sql, startAt(offset));
  const wordsAt = (offset: number) => {
    const next = tokens.findIndex(({ start }) => start > startAt(offset));
    const from = tokens.at(next < 0 ? -2 : Math.max(0, next - 2)) ?? tokens[0];
    return sql.slice(from?.start ?? 0, next < 0 ? sql.length : tokens[next]?.start).trim();
  };
  return { sql, text, tokens, literals, placeAt, wordsAt };
}
