import { LRUCache } from 'lru-cache';
import { type SqlToken, scanTokens, type TokenKind } from './token.ts';

/**
 * A token that is not a comment, and its place among the brackets and clauses around it. Other words are named by their
 * index.
 */
export interface Word extends SqlToken {
  readonly text: string;
  /** The text in capital letters; empty for literals, quoted names and parameters, which are never keywords. */
  readonly key: string;
  /** Brackets around the word. A bracket is not within itself. */
  readonly depth: number;
  /** The keyword within the same brackets that began the clause, such as WHERE; -1 before the first. */
  readonly clause: number;
  /** The other bracket of a pair; -1 for any other word, and for a bracket without one. */
  readonly pair: number;
}

/** A text of SQL by its tokens. No grammar is checked. */
export interface ParsedSql {
  readonly words: readonly Word[];
  readonly comments: readonly SqlToken[];
}

const CLAUSES: ReadonlySet<string> = new Set(
  'WITH SELECT FROM ARRAY JOIN ON PREWHERE WHERE GROUP BY HAVING ORDER LIMIT'.split(' '),
);

const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

export function isClosing({ key }: Word): boolean {
  return CLOSING.has(key);
}

// Room for the largest draft, whose readers take turns; a stored query has some hundred words. Larger texts are not kept.
const CACHED_BYTES_MAX = 16 * 1024 * 1024;
const WORD_BYTES = 200;

const cache = new LRUCache<string, ParsedSql>({
  maxSize: CACHED_BYTES_MAX,
  sizeCalculation: ({ words }, sql) => 2 * sql.length + WORD_BYTES * (1 + words.length),
  memoMethod: (sql) => readSql(sql),
});

/** Reads a text in linear time. The readers of a statement share one result, which is cached by the text. */
export function parseSql(sql: string): ParsedSql {
  return cache.memo(sql);
}

/** `n` of a query that ends with `LIMIT n`, whatever it is otherwise. */
export function findLimit(sql: string): number | undefined {
  const { words } = parseSql(sql);
  const rows = words.at(-1)?.text ?? '';
  return words.at(-2)?.key === 'LIMIT' && /^\d{1,9}$/.test(rows) ? Number(rows) : undefined;
}

/** The innermost bracket that is open, and the clause within it. */
interface OpenBracket {
  /** Index of the bracket; -1 outside of all. */
  readonly open: number;
  clause: number;
}

type OpenWord = { -readonly [Name in keyof Word]: Word[Name] };

function readSql(sql: string): ParsedSql {
  const words: OpenWord[] = [];
  const comments: SqlToken[] = [];
  for (const token of scanTokens(sql)) {
    const { kind, start, end } = token;
    if (kind === 'comment') {
      comments.push(token);
      continue;
    }
    const text = sql.slice(start, end);
    words.push({ kind, start, end, text, key: keyOf(kind, text), depth: 0, clause: -1, pair: -1 });
  }
  placeWords(words);
  return { words, comments };
}

function placeWords(words: readonly OpenWord[]): void {
  const outer: OpenBracket[] = [];
  let level: OpenBracket = { open: -1, clause: -1 };
  let i = -1;
  for (const word of words) {
    i++;
    const closed = CLOSING.has(word.key) ? words[level.open] : undefined;
    if (closed !== undefined) {
      word.pair = level.open;
      closed.pair = i;
      level = outer.pop() ?? level;
    }
    word.depth = outer.length;
    word.clause = level.clause;
    if (CLAUSES.has(word.key)) level.clause = i;
    if (OPENING.has(word.key)) {
      outer.push(level);
      level = { open: i, clause: -1 };
    }
  }
}

function keyOf(kind: TokenKind, text: string): string {
  if (kind === 'word') return text.toUpperCase();
  return kind === 'sign' ? text : '';
}
