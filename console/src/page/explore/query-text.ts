/** The texts of searches as docs/search.md defines them; the service parses them with the same rules. */
export interface Token {
  readonly kind: 'space' | 'group' | 'keyword' | 'field' | 'operator' | 'value' | 'phrase' | 'word';
  /** UTF-16 units. */
  readonly from: number;
  readonly until: number;
}

const BARE = /[^\s()"]+/y;
// Up to the closing quote, or to the end of the text without one.
const QUOTED = /"(?:[^"\\]|\\[\s\S])*"?/y;
const FIELD = /(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+)(?:\.(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+))*:/y;

// In this order: `-` and a keyword are special only at the start of a term, and a field may begin with a quote.
const TERM_STARTS = [
  ['space', /\s+/y],
  ['group', /[()]/y],
  ['keyword', /-|(?:and|or|not)(?=[\s()"]|$)/iy],
  ['field', FIELD],
  ['phrase', QUOTED],
  ['word', BARE],
] as const;

// Directly after a field's colon.
const VALUE_STARTS = [
  ['operator', /[<>]=?/y],
  ['value', QUOTED],
  ['value', BARE],
] as const;

/** Divides a text, right or wrong, into tokens without gaps. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let from = 0; from < text.length; ) {
    const before = tokens.at(-1)?.kind;
    const isValue = before === 'field' || before === 'operator';
    const token = (isValue && match(VALUE_STARTS, text, from)) || match(TERM_STARTS, text, from);
    if (token === undefined) throw new Error('every character starts a token');
    tokens.push(token);
    from = token.until;
  }
  return tokens;
}

function match(
  starts: readonly (readonly [Token['kind'], RegExp])[],
  text: string,
  from: number,
): Token | undefined {
  for (const [kind, pattern] of starts) {
    pattern.lastIndex = from;
    if (pattern.test(text)) return { kind, from, until: pattern.lastIndex };
  }
  return undefined;
}

/** The text of a value that may still lack its closing quote. */
export function unquoteValue(text: string): string {
  if (!text.startsWith('"')) return text;
  const end = isClosed(text) ? -1 : undefined;
  return text.slice(1, end).replaceAll(/\\(["\\])/g, '$1');
}

/** Whether a bare text or one that begins with a quote is complete. */
export function isClosed(text: string): boolean {
  return !text.startsWith('"') || /^"(?:[^"\\]|\\[\s\S])*"$/.test(text);
}
