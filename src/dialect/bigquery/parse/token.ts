import { placeOf, refuse } from './refusal.ts';

/** A token of BigQuery's SQL. `name` is an identifier in backticks. */
export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'sign';
  /** A word, name or sign as written, without backticks; the value of a text; a number in digits. */
  readonly value: string;
  /** Offset in the caller's text, in UTF-16 units. */
  readonly start: number;
}

/** Bounds of a caller's text. The parser cannot be stopped; a text at the bounds takes it some 40 ms. */
const BYTES_MAX = 64 * 1024;
const TOKENS_MAX = 2_000;
const BRACKETS_MAX = 24;

const TOKEN = new RegExp(
  [
    /(?<space>\s+|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)/,
    /(?<prefix>[rRbB]{0,2})(?<quoted>"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')/,
    /`(?<name>[^`\\\n]+)`/,
    /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w))/,
    /(?<word>[A-Za-z_]\w*)/,
    /(?<sign>::|<>|!=|<=|>=|\|\||[()[\],.;+*%=<>-]|\/(?!\*))/,
  ]
    .map((part) => part.source)
    .join('|'),
  'y',
);

/** The tokens of a text, without white space and comments. @throws TailraceError `invalid_parameter` for a text beyond the bounds */
export function readTokens(sql: string): readonly Token[] {
  if (Buffer.byteLength(sql) > BYTES_MAX) throw refuse(`must be at most ${BYTES_MAX} bytes long`);
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  let depth = 0;
  while (pattern.lastIndex < sql.length) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(sql)?.groups;
    if (groups === undefined) throw refuseUnknown(sql, start);
    const token = readToken(groups, start);
    if (token === undefined) continue;
    if (token === 'bytes') throw refuse('has bytes, which are not understood', placeOf(sql, start));
    tokens.push(token);
    if (token.kind === 'sign') depth += DEPTHS[token.value] ?? 0;
    requireAtMost(BRACKETS_MAX, 'levels of brackets', { count: depth, sql, start });
    requireAtMost(TOKENS_MAX, 'words and signs', { count: tokens.length, sql, start });
  }
  return tokens;
}

const DEPTHS: Readonly<Record<string, number>> = { '(': 1, '[': 1, ')': -1, ']': -1 };

function requireAtMost(
  max: number,
  unit: string,
  { count, sql, start }: { readonly count: number; readonly sql: string; readonly start: number },
): void {
  if (count > max) throw refuse(`must have at most ${max} ${unit}; there is one more`, placeOf(sql, start));
}

function refuseUnknown(sql: string, start: number) {
  const place = placeOf(sql, start);
  if (/^(?:[rR]?['"`]|\/\*)/.test(sql.slice(start, start + 2)))
    return refuse('has a text, a name or a comment without an end', place);
  return refuse(`has ${JSON.stringify(sql.slice(start, start + 20))}, which is not understood`, place);
}

function readToken(
  groups: Readonly<Record<string, string | undefined>>,
  start: number,
): Token | 'bytes' | undefined {
  const { space, prefix = '', quoted, name, number, word, sign } = groups;
  if (space !== undefined) return undefined;
  if (quoted !== undefined) {
    if (/b/i.test(prefix)) return 'bytes';
    const quotes = /^(?:"""|''')/.test(quoted) ? 3 : 1;
    const inner = quoted.slice(quotes, -quotes).replaceAll('\r\n', '\n');
    return { kind: 'text', value: prefix === '' ? readEscapes(inner) : inner, start };
  }
  if (name !== undefined) return /\p{Cc}/u.test(name) ? 'bytes' : { kind: 'name', value: name, start };
  if (number !== undefined) return { kind: 'number', value: number, start };
  return word !== undefined
    ? { kind: 'word', value: word, start }
    : { kind: 'sign', value: sign ?? '', start };
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:[xX]([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([\s\S]))/g;

/** @throws TailraceError `invalid_parameter` for an escape that BigQuery does not have */
function readEscapes(text: string): string {
  return text.replace(ESCAPE, (all, x?: string, u?: string, long?: string, octal?: string, other = '') => {
    const digits = x ?? u ?? long;
    const code = digits === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(digits, 16);
    if (!Number.isNaN(code)) return code > 0x10ffff ? refuseEscape(all) : String.fromCodePoint(code);
    if (ESCAPES[other] !== undefined) return ESCAPES[other];
    return `\\?"'\``.includes(other) ? other : refuseEscape(all);
  });
}

function refuseEscape(written: string): never {
  throw refuse(
    `has the escape ${written} in a text, which BigQuery does not have; write r'…' for a raw text`,
  );
}
