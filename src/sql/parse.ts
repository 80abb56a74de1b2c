import { LRUCache } from 'lru-cache';

/** A token other than a comment, and its place among brackets and clauses. Other words are named by their index. */
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

function readSql(sql: string): ParsedSql {
  const words: (Word & { pair: number })[] = [];
  const comments: SqlToken[] = [];
  let level = { open: -1, clause: -1 }; // the innermost bracket that is open, -1 outside of all, and the clause within it
  const outer: (typeof level)[] = [];
  for (const token of scanTokens(sql)) {
    const { kind, start, end } = token;
    if (kind === 'comment') {
      comments.push(token);
      continue;
    }
    const text = sql.slice(start, end);
    const key = keyOf(kind, text);
    const i = words.length;
    const opening = CLOSING.has(key) ? words[level.open] : undefined;
    const pair = opening === undefined ? -1 : level.open;
    if (opening !== undefined) {
      opening.pair = i;
      level = outer.pop() ?? level;
    }
    words.push({ kind, start, end, text, key, depth: outer.length, clause: level.clause, pair });
    if (CLAUSES.has(key)) level.clause = i;
    if (OPENING.has(key)) {
      outer.push(level);
      level = { open: i, clause: -1 };
    }
  }
  return { words, comments };
}

function keyOf(kind: TokenKind, text: string): string {
  if (kind === 'word') return text.toUpperCase();
  return kind === 'sign' ? text : '';
}

/** Kinds of tokens in ClickHouse's SQL: `name` is an identifier in quotes, `sign` any other single character. */
type TokenKind = 'text' | 'name' | 'comment' | 'word' | 'parameter' | 'sign';

/** A part of a text. Offsets are UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface SqlToken extends TextRange {
  readonly kind: TokenKind;
}

/**
 * ClickHouse's tokens, then `@@name` (MySQL's system variables), then `@name`. Order matters: the first alternative that
 * matches at a place wins. Block comments nest, which no regular expression can follow, so only their opening is matched.
 * The only group is the tag of a heredoc, which its end repeats: a group for each kind would take longer than matching.
 */
const TOKEN = new RegExp(
  [
    /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/, // text: backslash escapes, '' is a quote
    /"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)/, // name
    /`(?:[^`\\]|\\[\s\S]|``)*(?:`|$)/, // name
    /\u2018[^\u2019]*(?:\u2019|$)/, // text in typographic quotes
    /\u201c[^\u201d]*(?:\u201d|$)/, // name in typographic quotes
    /(\$\w*\$)[\s\S]*?(?:\1|$)/, // $tag$ … $tag$
    /--[^\n]*|\/\/[^\n]*|#[ !][^\n]*/, // comments to the end of the line
    /\/\*/,
    /[\w$]+/, // words and numbers, so that the @ of `a@b` is seen as itself
    /@@\w*/,
    /@[A-Za-z_]\w*/,
    /\S/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);

const TEXT_QUOTES = "'\u2018";
const NAME_QUOTES = '"`\u201c';
const WORD = /[\w$]/;
const PARAMETER = /^@[^@]/;

/** The tokens of SQL in order, without white space. A token without an end reaches to the end of the text. */
function* scanTokens(sql: string): Generator<SqlToken> {
  const token = new RegExp(TOKEN);
  for (let match = token.exec(sql); match !== null; match = token.exec(sql)) {
    const [text, heredoc] = match;
    if (text === '/*') token.lastIndex = endOfComment(sql, match.index);
    const end = token.lastIndex;
    const kind = heredoc === undefined ? kindOf(text, end === sql.length) : 'text';
    yield { kind, start: match.index, end };
  }
}

function kindOf(text: string, isLast: boolean): TokenKind {
  const first = text.charAt(0);
  const quoted = TEXT_QUOTES.includes(first) ? 'text' : NAME_QUOTES.includes(first) ? 'name' : undefined;
  // A single quote is a token without an end at the end of the text, or a sign if a backslash at the end of the text
  // follows it.
  if (quoted !== undefined) return text.length > 1 || isLast ? quoted : 'sign';
  if (WORD.test(first)) return 'word';
  if (text.length === 1) return 'sign';
  if (first === '@') return PARAMETER.test(text) ? 'parameter' : 'sign';
  return 'comment';
}

function endOfComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  let depth = 0;
  for (let match = edge.exec(sql); match !== null; match = edge.exec(sql)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return sql.length;
}

/** A replacement for a part of a text; an insertion if the part is empty. */
export interface Edit extends TextRange {
  readonly text: string;
}

/** A text with its edits, in any order. Of two edits of the same place only the outer one applies. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let edited = '';
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || rankOf(b) - rankOf(a))) {
    if (edit.start < at) continue;
    edited += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return edited + text.slice(at);
}

/** Orders edits that start at one place: insertions first, then the longest. */
function rankOf({ start, end }: Edit): number {
  return end === start ? Number.POSITIVE_INFINITY : end;
}

/** Every `@name` in ClickHouse SQL outside of strings, quoted identifiers and comments, in order. */
export function findParameters(sql: string): (TextRange & { readonly name: string })[] {
  const words = parseSql(sql).words.filter(({ kind }) => kind === 'parameter');
  return words.map(({ text, start, end }) => ({ name: text.slice(1), start, end }));
}

/** Returns where each `@name` is first in quotes, as beginners write it: there it is a text, or the name of a column. */
export function findQuotedParameters(sql: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { kind, text, start } of parseSql(sql).words)
    if (kind === 'text' || kind === 'name')
      for (const { 1: name = '', index } of text.matchAll(/@([A-Za-z]\w*)/g))
        if (!found.has(name)) found.set(name, start + index);
  return found;
}

/** A function that replaces each `@name` by the result of `write`. Looks for them once. */
export function createRewriter(sql: string): (write: (name: string) => string) => string {
  const uses = findParameters(sql);
  return (write) =>
    applyEdits(
      sql,
      uses.map(({ name, start, end }) => ({ start, end, text: write(name) })),
    );
}
