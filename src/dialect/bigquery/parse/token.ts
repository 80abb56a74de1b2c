import type { DialectName } from '../../../definitions/endpoint.ts';
import { type Expression, type QueryTree, reject, shorten } from './tree.ts';

/** A token of BigQuery's SQL. `name` is an identifier in backticks. */
export interface BigQueryToken {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'sign';
  /** A word, name or sign as written, without backticks; the value of a text; a number in digits. */
  readonly value: string;
  /** Offset in the caller's text, in UTF-16 units. */
  readonly start: number;
}

/** Bounds of a caller's text. A text at the bounds is parsed in a few milliseconds. */
const BYTES_MAX = 64 * 1024;
const TOKENS_MAX = 2_000;

// Supabase Studio writes a quote as two, and texts in several lines. For other callers three quotes begin a text that
// ends with three.
const DOUBLED = /(?<doubled>'(?:[^'\\]|\\[\s\S]|'')*')/;

// No part can match the same characters in two ways: a text is read in a time in proportion to its length.
const QUOTED = [
  /"""(?:[^\\]|\\[\s\S])*?"""/,
  /'''(?:[^\\]|\\[\s\S])*?'''/,
  /"(?:[^"\\\n]|\\[\s\S])*"/,
  /'(?:[^'\\\n]|\\[\s\S])*'/,
];
const PARTS = [
  /(?<space>\s+|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)/,
  new RegExp(`(?<prefix>[rRbB]{0,2})(?<quoted>${joinSources(QUOTED)})`),
  /`(?<name>[^`\\\n]+)`/,
  /(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))/,
  /(?<word>[A-Za-z_]\w*)/,
  /(?<sign>::|<>|!=|<=|>=|\|\||[()[\],.;+*%=<>-]|\/(?!\*))/,
];

const TOKEN: Readonly<Record<DialectName, RegExp>> = {
  bigquery: new RegExp(joinSources(PARTS), 'y'),
  studio: new RegExp(joinSources([DOUBLED, ...PARTS]), 'y'),
};

function joinSources(choices: readonly RegExp[]): string {
  return choices.map(({ source }) => source).join('|');
}

/**
 * The tokens of a text, without white space and comments.
 * @throws NotUnderstood for a text beyond the bounds
 */
export function readTokens(sql: string, dialect: DialectName): readonly BigQueryToken[] {
  if (Buffer.byteLength(sql) > BYTES_MAX) throw reject(`must be at most ${BYTES_MAX} bytes long`);
  const tokens: BigQueryToken[] = [];
  const pattern = new RegExp(TOKEN[dialect]);
  while (pattern.lastIndex < sql.length) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(sql)?.groups;
    if (groups === undefined) throw rejectUnknown(sql, start);
    const token = readToken(groups, start);
    if (token === undefined) continue;
    tokens.push(token);
    if (tokens.length > TOKENS_MAX)
      throw reject(`must have at most ${TOKENS_MAX} words and signs; there is one more`, { start });
  }
  return tokens;
}

function rejectUnknown(sql: string, start: number) {
  if (/^(?:[rR]?['"`]|\/\*)/.test(sql.slice(start, start + 2)))
    return reject('has a string, a name or a comment without an end', { start });
  return reject(`has ${JSON.stringify(sql.slice(start, start + 20))}, which is not understood`, { start });
}

/** @returns `undefined` for white space and comments */
function readToken(
  groups: Readonly<Record<string, string | undefined>>,
  start: number,
): BigQueryToken | undefined {
  const { doubled, prefix = '', quoted, name } = groups;
  if (doubled !== undefined)
    return { kind: 'text', value: readEscapes(doubled.slice(1, -1).replaceAll("''", "'"), start), start };
  if (quoted !== undefined) {
    if (/b/i.test(prefix)) throw reject('has bytes, which are not understood', { start });
    const quotes = /^(?:"""|''')/.test(quoted) ? 3 : 1;
    const inner = quoted.slice(quotes, -quotes).replaceAll('\r\n', '\n');
    return { kind: 'text', value: prefix === '' ? readEscapes(inner, start) : inner, start };
  }
  if (name !== undefined && /\p{Cc}/u.test(name))
    throw reject('has a name with a control character', { start });
  for (const kind of ['name', 'number', 'word', 'sign'] as const) {
    const value = groups[kind];
    if (value !== undefined) return { kind, value, start };
  }
  return undefined;
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

/** @throws NotUnderstood for an escape that BigQuery does not have */
function readEscapes(text: string, start: number): string {
  const rejectEscape = (written: string) =>
    reject(
      `has a string with the escape ${written}, which BigQuery does not have; ` +
        `write \\${written}, or r'…' for a raw string,`,
      { start },
    );
  return text.replace(ESCAPE, (all, x?: string, u?: string, long?: string, octal?: string, other = '') => {
    const digits = x ?? u ?? long;
    const code = digits === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(digits, 16);
    if (code > 0x10ffff) throw rejectEscape(all);
    if (!Number.isNaN(code)) return String.fromCodePoint(code);
    if (ESCAPES[other] !== undefined) return ESCAPES[other];
    if (`\\?"'\``.includes(other)) return other;
    throw rejectEscape(all);
  });
}

/** The tokens of a caller's text, of which the next one is read. */
type TokenStream = ReturnType<typeof createTokenStream>;

/** The tokens, and what the parts of the grammar need of each other. */
export interface Grammar extends TokenStream {
  readonly query: () => QueryTree;
  readonly expression: () => Expression;
}

/**
 * Deepest nesting that is parsed and translated: each level is a few calls of the parser and of the translator on the
 * stack, and the translation of a level is at least as long as that of the levels in it.
 */
const LEVELS_MAX = 24;

const wordsOf = (text: string) => new Set(text.toUpperCase().split(/\s+/));

/** Words with a meaning of their own wherever they stand: none of them is a name without backticks. */
const RESERVED = wordsOf(
  `all and array as asc between by case cast cross desc distinct else end except exists extract false for from full
    group having if
  in inner intersect interval is join lateral left like limit natural not null nulls on or order outer over partition
  qualify recursive
  right select struct tablesample then true union unnest using when where window with`,
);

/** Other words that BigQuery reserves, or that begin a clause of another engine: none of them is an alias without AS. */
const NOT_ALIAS = wordsOf(
  `any assert_rows_modified at collate contains create cube current default define enum escape exclude fetch following
    grouping groups
  hash ignore into lookup merge new no of preceding proto range respect rollup rows set some to treat unbounded within
  format settings offset pivot unpivot match_recognize prewhere sample final ilike rlike regexp similar global div mod xor`,
);

export function createTokenStream(sql: string, tokens: readonly BigQueryToken[]) {
  const words = tokens.map(({ kind, value }) => (kind === 'word' ? value.toUpperCase() : ''));
  let at = 0;
  let level = 0;

  const peek = (ahead = 0): BigQueryToken | undefined => tokens[at + ahead];
  const fail = (message: string) => reject(message, { start: stream.start() });

  const stream = {
    peek,
    /** The next token in upper case if it is a word; otherwise empty. */
    word: (ahead = 0): string => words[at + ahead] ?? '',
    /** Where the next token begins; where the last one ends if there is none. */
    start: (): number => peek()?.start ?? sql.trimEnd().length,
    isSign(sign: string, ahead = 0): boolean {
      const token = peek(ahead);
      return token?.kind === 'sign' && token.value === sign;
    },
    /** Whether the next token can be a name: one in backticks, or a word that is not reserved. */
    isName(): boolean {
      const kind = peek()?.kind;
      return kind === 'name' || (kind === 'word' && !RESERVED.has(stream.word()));
    },
    /** Whether the next token can be an alias without AS. */
    isAlias: (): boolean => stream.isName() && !NOT_ALIAS.has(stream.word()),
    /** Reads the next token, whatever it is. */
    take(belongs: string): BigQueryToken {
      const token = peek();
      if (token === undefined) throw stream.unexpected(belongs);
      at++;
      return token;
    },
    /** Whether a SELECT is next, with or without its WITH. */
    isQuery: (): boolean => /^(?:SELECT|WITH)$/.test(stream.word()),
    /** Reads the next token, which has to be a word. @returns it as it is written */
    takeWord(belongs: string): string {
      if (peek()?.kind !== 'word') throw stream.unexpected(belongs);
      return stream.take(belongs).value;
    },
    /** Reads a sign if it is next. */
    takeSign(sign: string): boolean {
      if (!stream.isSign(sign)) return false;
      at++;
      return true;
    },
    /** Reads words if they are next, in this order. */
    takeWords(...wanted: readonly string[]): boolean {
      if (!wanted.every((word, i) => stream.word(i) === word)) return false;
      at += wanted.length;
      return true;
    },
    expectSign(sign: string, belongs = `"${sign}"`): void {
      if (!stream.takeSign(sign)) throw stream.unexpected(belongs);
    },
    /** Reads the bracket after what has been parsed, and returns that. */
    close<T>(parsed: T, belongs?: string): T {
      stream.expectSign(')', belongs);
      return parsed;
    },
    /** Names between dots. After a dot every word is one. */
    path(): readonly string[] {
      const names = [stream.take('a name').value];
      while (stream.takeSign('.')) {
        if (!/^(?:word|name)$/.test(peek()?.kind ?? '')) throw stream.unexpected('a name');
        names.push(stream.take('a name').value);
      }
      return names;
    },
    /** What is between commas. */
    list<T>(parse: () => T): readonly T[] {
      const list = [parse()];
      while (stream.takeSign(',')) list.push(parse());
      return list;
    },
    expectWord(word: string): void {
      if (!stream.takeWords(word)) throw stream.unexpected(word);
    },
    /** The error for a token that does not belong there. @param belongs what does */
    unexpected: (belongs: string) => fail(describe(peek(), belongs)),
    /** Parses what is one level deeper. @throws NotUnderstood beyond the bound */
    nest<T>(parse: () => T): T {
      stream.requireLevel(1);
      level++;
      const parsed = parse();
      level--;
      return parsed;
    },
    /** @param deeper levels that a part adds from the left, such as `x::text::text` */
    requireLevel(deeper: number): void {
      if (level + deeper > LEVELS_MAX + 1)
        throw fail(
          `must have at most ${LEVELS_MAX} levels of brackets, calls, casts, CASE, NOT and signs; there is one more`,
        );
    },
  };
  return stream;
}

/** What to write instead of what BigQuery, or this part of it, does not have. */
const INSTEAD: Readonly<Record<string, string>> = {
  '%': 'write mod(a, b)',
  ILIKE: "write lower(x) LIKE '…'",
  REGEXP: "write regexp_contains(x, r'…')",
  RLIKE: "write regexp_contains(x, r'…')",
  UNION: 'known is UNION ALL, between SELECTs without ORDER BY and LIMIT, or in brackets',
  RIGHT: 'known are JOIN, LEFT JOIN and CROSS JOIN',
  FULL: 'known are JOIN, LEFT JOIN and CROSS JOIN',
};

/** The one form of what is not understood: a token, and what belongs in its place. */
function describe(token: BigQueryToken | undefined, belongs: string): string {
  if (token === undefined) return `ends where ${belongs} belongs`;
  const { kind, value } = token;
  const word = value.toUpperCase();
  const isKeyword = kind === 'word' && (RESERVED.has(word) || NOT_ALIAS.has(word));
  const shown = isKeyword ? word : JSON.stringify(shorten(value));
  const instead = kind !== 'text' && Object.hasOwn(INSTEAD, word) ? `; ${INSTEAD[word]}` : '';
  return `has ${kind === 'text' ? 'the text ' : ''}${shown} where ${belongs} belongs${instead}`;
}
