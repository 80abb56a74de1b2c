import { locate, refuse } from './refusal.ts';

/** A token of BigQuery's SQL. `name` is an identifier in backticks. */
export interface BigQueryToken {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'sign';
  /** A word, name or sign as written, without backticks; the value of a text; a number in digits. */
  readonly value: string;
  /** Offset in the caller's text, in UTF-16 units. */
  readonly start: number;
}

/**
 * How a text in single quotes is read. `doubled`: two quotes in it are one, as Supabase Studio writes them, and it may have several
 * lines. `bigquery`: three quotes begin a text that ends with three.
 */
export type Quotes = 'bigquery' | 'doubled';

/** Bounds of a caller's text. A text at the bounds is parsed in a few milliseconds. */
const BYTES_MAX = 64 * 1024;
const TOKENS_MAX = 2_000;

const DOUBLED = /(?<doubled>'(?:[^'\\]|\\[\s\S]|'')*')/;

// No part can match the same characters in two ways: a text is read in a time in proportion to its length.
const PARTS = [
  /(?<space>\s+|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)/,
  /(?<prefix>[rRbB]{0,2})(?<quoted>"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')/,
  /`(?<name>[^`\\\n]+)`/,
  /(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))/,
  /(?<word>[A-Za-z_]\w*)/,
  /(?<sign>::|<>|!=|<=|>=|\|\||[()[\],.;+*%=<>-]|\/(?!\*))/,
];

const TOKEN: Readonly<Record<Quotes, RegExp>> = {
  bigquery: joinParts(PARTS),
  doubled: joinParts([DOUBLED, ...PARTS]),
};

function joinParts(parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join('|'), 'y');
}

/** The tokens of a text, without white space and comments. @throws TailraceError `invalid_parameter` for a text beyond the bounds */
export function readTokens(sql: string, quotes: Quotes): readonly BigQueryToken[] {
  if (Buffer.byteLength(sql) > BYTES_MAX) throw refuse(`must be at most ${BYTES_MAX} bytes long`);
  const tokens: BigQueryToken[] = [];
  const pattern = new RegExp(TOKEN[quotes]);
  while (pattern.lastIndex < sql.length) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(sql)?.groups;
    if (groups === undefined) throw refuseUnknown(sql, start);
    const token = readToken(groups, start, sql);
    if (token === undefined) continue;
    tokens.push(token);
    if (tokens.length > TOKENS_MAX)
      throw refuse(`must have at most ${TOKENS_MAX} words and signs; there is one more`, locate(sql, start));
  }
  return tokens;
}

function refuseUnknown(sql: string, start: number) {
  const place = locate(sql, start);
  if (/^(?:[rR]?['"`]|\/\*)/.test(sql.slice(start, start + 2)))
    return refuse('has a string, a name or a comment without an end', place);
  return refuse(`has ${JSON.stringify(sql.slice(start, start + 20))}, which is not understood`, place);
}

function readToken(
  groups: Readonly<Record<string, string | undefined>>,
  start: number,
  sql: string,
): BigQueryToken | undefined {
  const { space, doubled, prefix = '', quoted, name, number, word, sign } = groups;
  if (space !== undefined) return undefined;
  const fail = (message: string) => refuse(message, locate(sql, start));
  if (doubled !== undefined)
    return { kind: 'text', value: readEscapes(doubled.slice(1, -1).replaceAll("''", "'"), fail), start };
  if (quoted !== undefined) {
    if (/b/i.test(prefix)) throw fail('has bytes, which are not understood');
    const quotes = /^(?:"""|''')/.test(quoted) ? 3 : 1;
    const inner = quoted.slice(quotes, -quotes).replaceAll('\r\n', '\n');
    return { kind: 'text', value: prefix === '' ? readEscapes(inner, fail) : inner, start };
  }
  if (name !== undefined) {
    if (/\p{Cc}/u.test(name)) throw fail('has a name with a control character');
    return { kind: 'name', value: name, start };
  }
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
function readEscapes(text: string, fail: (message: string) => Error): string {
  const refuseEscape = (written: string) =>
    fail(
      `has a string with the escape ${written}, which BigQuery does not have; write \\${written}, or r'…' for a raw string,`,
    );
  return text.replace(ESCAPE, (all, x?: string, u?: string, long?: string, octal?: string, other = '') => {
    const digits = x ?? u ?? long;
    const code = digits === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(digits, 16);
    if (code > 0x10ffff) throw refuseEscape(all);
    if (!Number.isNaN(code)) return String.fromCodePoint(code);
    if (ESCAPES[other] !== undefined) return ESCAPES[other];
    if (`\\?"'\``.includes(other)) return other;
    throw refuseEscape(all);
  });
}
