/** A parsed search. `and` and `or` have at least two items. */
export type SearchTree =
  | { readonly kind: 'and' | 'or'; readonly items: readonly SearchTree[] }
  | { readonly kind: 'not'; readonly item: SearchTree }
  | SearchClause;

/** One condition of a search. Positions are UTF-16 units from the start of the text. */
export type SearchClause =
  | { readonly kind: 'text'; readonly value: SearchValue }
  | { readonly kind: 'exists'; readonly field: SearchField; readonly position: number }
  | {
      readonly kind: 'compare';
      readonly field: SearchField;
      readonly operator: SearchOperator;
      readonly value: SearchValue;
      /** Of the value. */
      readonly position: number;
    };

export type SearchOperator = '=' | '>=' | '<=' | '>' | '<';

/** Member names of a path. */
export type SearchField = readonly [string, ...string[]];

/** A text, or the texts between wildcards: `/rest/*` is `/rest/` and an empty text. */
export type SearchValue = readonly [string, ...string[]];

/** A bare word with a meaning of its own; as a text it needs quotes. */
export const KEYWORD = /^(?:and|or|not)$/i;

/** What ends a bare word. */
export const BARE = /[^\s()"]+/y;

/** A field and its colon. Segments in quotes may have any character. */
export const FIELD =
  /(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+)(?:\.(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+))*:/y;

/** Only `\"` and `\\` are escapes within quotes: other backslashes stand for themselves. */
export function unquoteText(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
}

function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** A search as text, which parses to the same tree. */
export function printSearch(tree: SearchTree): string {
  if ('items' in tree) return tree.items.map(printItem).join(tree.kind === 'and' ? ' ' : ' or ');
  if (tree.kind === 'not') return `-${printItem(tree.item)}`;
  if (tree.kind === 'text') return printWord(tree.value);
  if (tree.kind === 'exists') return `${printField(tree.field)}:*`;
  const operator = tree.operator === '=' ? '' : tree.operator;
  return `${printField(tree.field)}:${operator}${printValue(tree.value)}`;
}

function printItem(tree: SearchTree): string {
  return 'items' in tree ? `(${printSearch(tree)})` : printSearch(tree);
}

export function printField(field: SearchField): string {
  return field.map((name) => (/^[^\s()":.*-][^\s()":.*]*$/.test(name) ? name : quoteText(name))).join('.');
}

function printWord(value: SearchValue): string {
  const [text] = value;
  const isBare = /^[^\s()":*-][^\s()":*]*$/.test(text) && !KEYWORD.test(text);
  return value.length > 1 || isBare ? value.join('*') : quoteText(text);
}

function printValue(value: SearchValue): string {
  const [text] = value;
  return value.length > 1 || /^[^\s()"*<>=][^\s()"*]*$/.test(text) ? value.join('*') : quoteText(text);
}
