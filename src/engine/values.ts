import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { createRewriter } from '../sql/parameter.ts';
import { type Value, type Values, writeValue } from '../sql/quote.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { findTextSearches } from '../sql/text-search.ts';

/** A statement with bound parameters: `values` holds the texts that it names; numbers stand in it. */
export interface BoundStatement {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
}

const STATEMENTS_MAX = 500;
// Bound values are sent in the URL, and proxies accept some kilobytes at most.
const BOUND_CHARS_MAX = 2_000;

/** The rows of an answer in JSONEachRow. */
export function parseRows(bytes: Buffer): Record<string, unknown>[] {
  const lines = bytes.toString().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Replaces each `@name` with its value as a literal, and guards searches (sql/search-guard.ts). */
export function createValueWriter(): (sql: string, values: Values) => string {
  const getRewriter = createRewriters();
  return (sql, values) => getRewriter(sql, values)((name) => writeValue(getValue(values, name)));
}

/**
 * Replaces each `@name` of a text with `{name:String}`, which the server binds, and guards searches. Values that are too long for a URL are
 * quoted in the text instead, which means the same.
 */
export function createValueBinder(): (sql: string, values: Values) => BoundStatement {
  const getRewriter = createRewriters();
  return (sql, values) => {
    const rewrite = getRewriter(sql, values);
    const bound: Record<string, string> = {};
    let chars = 0;
    const text = rewrite((name) => {
      const given = getValue(values, name);
      if (typeof given === 'number') return writeValue(given);
      const value = given.toWellFormed();
      if (!Object.hasOwn(bound, name)) chars += value.length;
      bound[name] = value;
      return `{${name}:String}`;
    });
    if (chars <= BOUND_CHARS_MAX) return { sql: text, values: bound };
    return { sql: rewrite((name) => writeValue(getValue(values, name))), values: {} };
  };
}

/** Caches the searches and the split text of each statement, since the same few are run again and again. */
function createRewriters() {
  const getSearches = cacheBySql(findTextSearches);
  const getRewriter = cacheBySql(createRewriter);
  return (sql: string, values: Values) =>
    getRewriter(
      guardSearches(sql, getSearches(sql), (name) => String(getValue(values, name)).toWellFormed()),
    );
}

function cacheBySql<T extends object>(create: (sql: string) => T): (sql: string) => T {
  const cache = new LRUCache<string, T>({ max: STATEMENTS_MAX, memoMethod: (sql) => create(sql) });
  return (sql) => cache.memo(sql);
}

function getValue(values: Values, name: string): Value {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new TailraceError('internal', `no value was given for @${name}`);
  return value;
}
