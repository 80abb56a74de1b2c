/** What a token of ClickHouse's SQL is: `name` is an identifier in quotes, `sign` any other single character. */
export type TokenKind = 'text' | 'name' | 'comment' | 'word' | 'parameter' | 'sign';

/** Offsets are UTF-16 units. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/**
 * ClickHouse's tokens, then `@@name` (MySQL's system variables), then `@name`. Order matters: the first alternative that
 * matches at a place wins. Block comments nest, which no regular expression can follow, so only their opening is matched.
 */
const TOKEN = new RegExp(
  [
    /(?<text>'(?:[^'\\]|\\[\s\S]|'')*(?:'|$))/, // backslash escapes, '' is a quote
    /(?<double>"(?:[^"\\]|\\[\s\S]|"")*(?:"|$))/,
    /(?<back>`(?:[^`\\]|\\[\s\S]|``)*(?:`|$))/,
    /(?<typographic>\u2018[^\u2019]*(?:\u2019|$))/, // string in typographic quotes
    /(?<curly>\u201c[^\u201d]*(?:\u201d|$))/, // identifier in typographic quotes
    /(?<heredoc>\$\w*\$)[\s\S]*?(?:\k<heredoc>|$)/, // $tag$ … $tag$
    /(?<line>--[^\n]*|\/\/[^\n]*|#[ !][^\n]*)/, // comments to the end of the line
    /(?<block>\/\*)/,
    /(?<word>[\w$]+)/, // words and numbers, so that the @ of `a@b` is seen as itself
    /@@\w*/,
    /(?<parameter>@[A-Za-z_]\w*)/,
    /\S/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);

const KINDS: Readonly<Record<string, TokenKind>> = {
  text: 'text',
  double: 'name',
  back: 'name',
  typographic: 'text',
  curly: 'name',
  heredoc: 'text',
  line: 'comment',
  block: 'comment',
  word: 'word',
  parameter: 'parameter',
};

// The most frequent first.
const NAMES = Object.keys(KINDS).toReversed();

/** Cuts SQL into tokens, in order, white space left out. A token without its end reaches to the end of the text. */
export function* scanTokens(sql: string): Generator<Token> {
  const token = new RegExp(TOKEN);
  for (let match = token.exec(sql); match !== null; match = token.exec(sql)) {
    const group = match.groups ?? {};
    const found = NAMES.find((name) => group[name] !== undefined);
    if (found === 'block') token.lastIndex = endOfComment(sql, match.index);
    yield { kind: KINDS[found ?? ''] ?? 'sign', start: match.index, end: token.lastIndex };
  }
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
