import { remember } from '../lib/single-flight.ts';

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
      /** Whether the value was in quotes, and so means exactly this text. */
      readonly isQuoted: boolean;
      /** Position of the value. */
      readonly position: number;
    };

export type SearchOperator = '=' | '>=' | '<=' | '>' | '<';

/** Member names of a path. */
export type SearchField = readonly [string, ...string[]];

/** A text, or the texts between wildcards: `/rest/*` is `/rest/` and an empty text. */
export type SearchValue = readonly [string, ...string[]];

/** A bare word with a special meaning; as a text it needs quotes. */
export const KEYWORD = /^(?:and|or|not)$/i;

/** The characters that end a bare word. */
export const BARE = /[^\s()"]+/y;

/** A field and its colon. Segments in quotes may have any character. */
export const FIELD =
  /(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+)(?:\.(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+))*:/y;

/** Only `\"` and `\\` are escapes within quotes: other backslashes stand for themselves. */
export function unquoteText(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
}

export function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Lists the fields that the conditions of a search name, as often as they do. */
export function* listNamed(tree: SearchTree): Generator<SearchField> {
  if ('items' in tree) for (const item of tree.items) yield* listNamed(item);
  else if (tree.kind === 'not') yield* listNamed(tree.item);
  else if (tree.kind !== 'text') yield tree.field;
}

export const printField = remember((field: SearchField) =>
  field.map((name) => (/^[^\s()":.*-][^\s()":.*]*$/.test(name) ? name : quoteText(name))).join('.'),
);
