import { formatTerm, joinSearches } from '../../format/search-text.ts';
import { formatValue } from './line.ts';

/** The term for events that have this value in a field; of arrays and objects, for those that have any. */
export function termOf(field: string, value: unknown): string {
  if (value === null || value === undefined) return `-${field}:*`;
  return typeof value === 'object' ? `${field}:*` : formatTerm(field, formatValue(value));
}

/** The opposite of a term. */
export function exclude(term: string): string {
  return term.startsWith('-') ? term.slice(1) : `-${term}`;
}

/** A search with one more term. A term that it ends with is not added twice. */
export function addTerm(q: string, term: string): string {
  const text = q.trim();
  return text === term || text.endsWith(` ${term}`) ? q : joinSearches([text, term]);
}

/** The columns with one more, or without it if they have it. */
export function toggleColumn(columns: readonly string[], field: string): readonly string[] {
  return columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field];
}
