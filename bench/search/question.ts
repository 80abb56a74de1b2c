import type { Source } from '../../src/definitions/source.ts';

const WEEK_MS = 7 * 86_400_000;
export const SEARCH_BUCKETS = 60;
/** The sources of a question: one, with most of the events, or all. */
export const SEARCH_SCOPES = ['one source', 'all sources'] as const;
export type SearchScope = (typeof SEARCH_SCOPES)[number];
export const LARGEST_SOURCE = 'cloudflare.logs.prod';

/** A search of one project's events of a week. */
export interface SearchQuestion {
  readonly part: 'rows' | 'histogram' | 'values' | 'fields' | 'patterns' | 'compare';
  readonly sources: readonly Source[];
  /** Empty: all. */
  readonly project: string;
  /** Whole milliseconds since the epoch; exclusive. */
  readonly untilMs: number;
  readonly filter?: SearchFilter | undefined;
  /** With `values`. */
  readonly field?: SearchField | undefined;
}

/** A field of ours, and the column of it in the rivals' tables. */
export interface SearchField {
  readonly name: string;
  readonly column: string;
}

/** A condition in our query language, and the same in that of the rivals. */
export interface SearchFilter {
  readonly q: string;
  readonly sql: string;
}

/** A text in the message, in any letter case. It has no quotes and no wildcards. */
export function containing(text: string): SearchFilter {
  return { q: `"${text}"`, sql: `event_message ILIKE '%${text}%'` };
}

/** From the first instant, inclusive, to the last, exclusive; ms. */
export function weekOf({ untilMs }: SearchQuestion): { fromMs: number; untilMs: number } {
  return { fromMs: untilMs - WEEK_MS, untilMs };
}

/** The path and query string of ours. */
export function searchPath(question: SearchQuestion): string {
  const { part, sources, project, filter, field } = question;
  const { fromMs, untilMs } = weekOf(question);
  const parameters = new URLSearchParams({
    part,
    ...(project !== '' && { project }),
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    source: sources.map(({ name }) => name).join(','),
    ...(filter && { q: filter.q }),
    ...(part === 'histogram' && { buckets: String(SEARCH_BUCKETS) }),
    ...(field && { field: field.name }),
  });
  return `/api/search?${parameters}`;
}
