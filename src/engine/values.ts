import { LRUCache } from 'lru-cache';
import { createRewriter } from '../sql/parse.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { getValue, type Values, writeValue } from '../sql/sql.ts';
import type { WriteStatement } from './engine.ts';

/** A statement with bound parameters: `values` holds the texts that it names; numbers are written into it. */
export interface BoundStatement {
  readonly sql: string;
  readonly values: Readonly<Record<string, string>>;
}

const STATEMENTS_MAX = 500;
// Bound values are sent in the URL, and proxies accept some kilobytes at most.
const BOUND_CHARS_MAX = 2_000;

/** Parses the rows of an answer in JSONEachRow. */
export function parseRows(bytes: Buffer): Record<string, unknown>[] {
  const lines = bytes.toString().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Replaces each `@name` with its value as a literal, and guards searches (sql/search-guard.ts). */
export function createValueWriter(): (sql: string | WriteStatement, values: Values) => string {
  const getRewriter = createRewriters();
  return (sql, values) => {
    if (typeof sql !== 'string') return sql();
    return getRewriter(sql, values)((name) => writeValue(getValue(values, name)));
  };
}

/**
 * Replaces each `@name` of a text with `{name:String}`, which the server binds, and guards searches. Values that are
 * too long for a URL are quoted in the text instead, which means the same.
 */
export function createValueBinder(): (sql: string | WriteStatement, values: Values) => BoundStatement {
  const getRewriter = createRewriters();
  return (sql, values) => {
    if (typeof sql !== 'string') return { sql: sql(), values: {} };
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

/** Caches the split text of each statement, since the same few are run again and again. */
function createRewriters() {
  const cache = new LRUCache<string, ReturnType<typeof createRewriter>>({
    max: STATEMENTS_MAX,
    memoMethod: (sql) => createRewriter(sql),
  });
  return (sql: string, values: Values) =>
    cache.memo(guardSearches(sql, (name) => String(getValue(values, name)).toWellFormed()));
}
