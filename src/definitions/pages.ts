import { type Static, Type } from 'typebox';
import { closed, optional, wholeNumber } from '../lib/schema.ts';
import { applyEdits, findLimit, findParameters, parseSql } from '../sql/parse.ts';
import { removeUnused } from '../sql/with-list.ts';
import { findSources, type Source } from './source.ts';

/** How an endpoint's rows are read page by page (`cursor` in endpoint.yaml). */
export type Pages = Readonly<ReturnType<typeof createPages>>;

/** A column by which the rows of an endpoint are ordered. */
export interface PageColumn {
  readonly name: string;
  readonly type: 'integer' | 'string';
  readonly isDescending: boolean;
}

/** Parameters of type timestamp that bound the rows of an endpoint whose first cursor column is their time. */
export type PageRange = NonNullable<Pages['range']>;

/** The parameter in which callers send the cursor of a page. */
export const CURSOR_PARAMETER = 'cursor';

/** `@cursor_id` is the value of the column `id` in the last row of the page before; NULL on the first page. */
export const CURSOR_PREFIX = 'cursor_';

/**
 * Parameters that the service binds in a query with the newest rows first: instants in the form of `@now`, both
 * inclusive.
 */
export const PAGE_FROM = 'page_from';
export const PAGE_UNTIL = 'page_until';
export const PAGE_PARAMETERS = [PAGE_FROM, PAGE_UNTIL] as const;

/**
 * The number of rows at the start of a page that were sent before; empty: none. The service leaves them out, so a query
 * does not read it.
 */
export const PAGE_SKIP = 'page_skip';

const TEXT = Type.String({ expected: 'a string; put it in quotes' });
// The event loop reads the position of each row of a page, of CSV and the like, and each tick of a live tail.
const ROWS_MAX = 10_000;

/** `cursor` of endpoint.yaml. */
export const PAGES_FIELDS = closed({
  by: Type.Array(TEXT, {
    ...{ minItems: 1, maxItems: 8 },
    expected: 'a list of columns with their directions, such as [timestamp desc, id desc]',
  }),
  size: wholeNumber(ROWS_MAX, 'rows'),
  ...optional({ after: TEXT, until: TEXT }),
});

/** `cursor` of a file without faults. */
export function createPages(
  { by, size, after, until }: Static<typeof PAGES_FIELDS>,
  columns: Readonly<Record<string, { readonly type: string } | undefined>>,
  { sql, sources }: { readonly sql: string; readonly sources: readonly Source[] },
) {
  const order: readonly PageColumn[] = by.map((text) => {
    const { name = '', direction } = parseOrder(text) ?? {};
    const type = columns[name]?.type === 'integer' ? 'integer' : 'string';
    return { name, type, isDescending: direction === 'desc' };
  });
  const used = applyEdits(sql, removeUnused(sql));
  const isRanged = findParameters(sql).some(({ name }) => name === PAGE_FROM);
  return {
    /** The order of the rows. */
    by: order,
    /** An answer with fewer rows is the last page. */
    size,
    /** The sources that the query may read. */
    sources: findSources(used, sources),
    /** Whether the query can leave out rows that the page before has sent (`@page_skip`). */
    canSkip: canSkip(used),
    /** The range of time, without `after` and until `until`; `undefined` if the query does not read `@page_from`. */
    range: isRanged ? { after, until } : undefined,
  };
}

/** A LIMIT within the query would count the rows that are left out, as would one of the last SELECT of several. */
function canSkip(sql: string): boolean {
  const { words } = parseSql(sql);
  const limits = words.filter(({ key }) => /^(?:LIMIT|TOP|FETCH|OFFSET)$/.test(key));
  if (limits.length === 0) return true;
  const isOne = !words.some(({ key, depth }) => depth === 0 && /^(?:UNION|INTERSECT|EXCEPT)$/.test(key));
  return limits.length === 1 && isOne && findLimit(sql) !== undefined;
}

/** `timestamp desc` → its column and direction; `undefined` if the text is not of this form. */
export function parseOrder(text: string): { name: string; direction: 'asc' | 'desc' } | undefined {
  const [, name, direction] = /^\s*(\w+)\s+(asc|desc)\s*$/i.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { name, direction: direction?.toLowerCase() === 'desc' ? 'desc' : 'asc' };
}

// The name of a row's time everywhere in Tailrace.
export const TIME_COLUMN = 'timestamp';

/** Whether the first page has the newest rows, so that new ones can be followed (live tail). */
export function hasNewestFirst({ by: [first] }: Pages): boolean {
  return first?.name === TIME_COLUMN && first.isDescending;
}
