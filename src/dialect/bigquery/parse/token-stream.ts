import type { TailraceError } from '../../../errors.ts';
import { locate, refuse, shorten } from './refusal.ts';
import type { BigQueryToken } from './token.ts';
import type { Expression, QueryTree } from './tree.ts';

/** The tokens of a caller's text, of which the next one is read. */
export type TokenStream = ReturnType<typeof createTokenStream>;

/** What the parts of the grammar need of each other. */
export interface Grammar {
  readonly tokens: TokenStream;
  readonly query: () => QueryTree;
  readonly expression: () => Expression;
}

/**
 * Deepest nesting that is parsed and translated: each level is a few calls of the parser and of the translator on the stack, and the
 * translation of a level is at least as long as that of the levels in it.
 */
const LEVELS_MAX = 24;

const wordsOf = (text: string) => new Set(text.toUpperCase().split(/\s+/));

/** Words with a meaning of their own wherever they stand: none of them is a name without backticks. */
const RESERVED = wordsOf(
  `all and array as asc between by case cast cross desc distinct else end except exists extract false for from full group having if
  in inner intersect interval is join lateral left like limit natural not null nulls on or order outer over partition qualify recursive
  right select struct tablesample then true union unnest using when where window with`,
);

/** Other words that BigQuery reserves, or that begin a clause of another engine: none of them is an alias without AS. */
const NOT_ALIAS = wordsOf(
  `any assert_rows_modified at collate contains create cube current default define enum escape exclude fetch following grouping groups
  hash ignore into lookup merge new no of preceding proto range respect rollup rows set some to treat unbounded within
  format settings offset pivot unpivot match_recognize prewhere sample final ilike rlike regexp similar global div mod xor`,
);

export function createTokenStream(sql: string, tokens: readonly BigQueryToken[]) {
  const words = tokens.map(({ kind, value }) => (kind === 'word' ? value.toUpperCase() : ''));
  let at = 0;
  let level = 0;

  const peek = (ahead = 0): BigQueryToken | undefined => tokens[at + ahead];
  const fail = (message: string, place?: { readonly start: number }): TailraceError =>
    refuse(message, locate(sql, place?.start ?? stream.start()));

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
    isName(ahead = 0): boolean {
      const token = peek(ahead);
      if (token?.kind === 'word') return !RESERVED.has(stream.word(ahead));
      return token?.kind === 'name';
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
    expectWord(word: string): void {
      if (!stream.takeWords(word)) throw stream.unexpected(word);
    },
    /** The error for what is not understood, at a place or at the next token. */
    fail,
    /** The error for a token that does not belong there. @param belongs what does */
    unexpected: (belongs: string): TailraceError => fail(describe(peek(), belongs)),
    /** Parses what is one level deeper. @throws TailraceError beyond the bound */
    nest<T>(parse: () => T): T {
      stream.requireLevel(level + 1);
      level++;
      const parsed = parse();
      level--;
      return parsed;
    },
    /** @param deeper levels that a part adds from the left, such as `x::text::text` */
    requireLevel(levels: number): void {
      if (levels > LEVELS_MAX + 1)
        throw fail(
          `must have at most ${LEVELS_MAX} levels of brackets, calls, casts, CASE, NOT and signs; there is one more`,
        );
    },
    get level(): number {
      return level;
    },
  };
  return stream;
}

function describe(token: BigQueryToken | undefined, belongs: string): string {
  if (token === undefined) return `ends where ${belongs} belongs`;
  const { kind, value } = token;
  const word = kind === 'word' ? value.toUpperCase() : '';
  if (RESERVED.has(word) || NOT_ALIAS.has(word))
    return `has ${word} in a place that is not understood; ${belongs} belongs there`;
  const shown = shorten(value);
  return `has ${kind === 'text' ? `the text ${JSON.stringify(shown)}` : `"${shown}"`} where ${belongs} belongs`;
}
