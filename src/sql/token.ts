/** Kinds of tokens in ClickHouse's SQL: `name` is an identifier in quotes, `sign` any other single character. */
export type TokenKind = 'text' | 'name' | 'comment' | 'word' | 'parameter' | 'sign';

/** Offsets are UTF-16 units. */
export interface SqlToken {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
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
export function* scanTokens(sql: string): Generator<SqlToken> {
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
