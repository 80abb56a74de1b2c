/** One `@name` in SQL text: offsets are UTF-16 units, `line` counts from 1. */
export interface ParameterUse {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/**
 * ClickHouse's tokens in which an `@` means nothing, then `@@name` (MySQL's system variables), then `@name`.
 * Order matters: the first alternative that matches at a place wins. Block comments nest, which no regular expression
 * can follow, so only their opening is matched here.
 */
const TOKEN = new RegExp(
  [
    /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/, // string: backslash escapes, '' is a quote
    /"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)/, // quoted identifier
    /`(?:[^`\\]|\\[\s\S]|``)*(?:`|$)/, // quoted identifier
    /\u2018[^\u2019]*(?:\u2019|$)/, // string in typographic quotes
    /\u201c[^\u201d]*(?:\u201d|$)/, // identifier in typographic quotes
    /(?<heredoc>\$\w*\$)[\s\S]*?(?:\k<heredoc>|$)/, // $tag$ … $tag$
    /--[^\n]*|\/\/[^\n]*|#[ !][^\n]*/, // comments to the end of the line
    /(?<comment>\/\*)/,
    /[\w$]+/, // words and numbers, so that the @ of `a@b` is seen as itself
    /@@\w*/,
    /@(?<name>[A-Za-z_]\w*)/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);

/** Finds every `@name` of ClickHouse SQL outside strings, quoted identifiers and comments, in order. */
export function findParameters(sql: string): ParameterUse[] {
  const uses: ParameterUse[] = [];
  const token = new RegExp(TOKEN);
  let line = 1;
  let counted = 0;
  for (let match = token.exec(sql); match !== null; match = token.exec(sql)) {
    if (match.groups?.['comment'] !== undefined) {
      token.lastIndex = endOfComment(sql, match.index);
      continue;
    }
    const name = match.groups?.['name'];
    if (name === undefined) continue;
    line += countNewlines(sql, counted, match.index);
    counted = match.index;
    uses.push({ name, start: match.index, end: match.index + match[0].length, line });
  }
  return uses;
}

/**
 * SQL text with each `@name` replaced by what `write` gives for it. The text is cut once, so that a statement
 * that runs many times costs one concatenation a run.
 */
export function createRewriter(sql: string): (write: (name: string) => string) => string {
  const uses = findParameters(sql);
  const pieces = [0, ...uses.map((use) => use.end)].map((from, i) => sql.slice(from, uses[i]?.start));
  return (write) => {
    let text = pieces[0] ?? '';
    for (const [i, use] of uses.entries()) text += write(use.name) + pieces[i + 1];
    return text;
  };
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

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
