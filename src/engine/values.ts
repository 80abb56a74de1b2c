import { LRUCache } from 'lru-cache';
import { TailraceError } from '../errors.ts';
import { createRewriter } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { guardSearches } from '../sql/search-guard.ts';
import { findTextSearches } from '../sql/text-search.ts';

type Values = Readonly<Record<string, string>>;

/** A statement with parameters of the server's own: `values` holds those that the text names. */
export interface BoundStatement {
  readonly sql: string;
  readonly values: Values;
}

const STATEMENTS_MAX = 500;
// The values of a statement travel in the address of its request, in which proxies take some kilobytes at most.
const BOUND_CHARS_MAX = 2_000;

/** Puts quoted values in the place of names, and guards around searches (sql/search-guard.ts). */
export function createValueWriter(): (sql: string, values: Values) => string {
  const getRewriter = createRewriters();
  return (sql, values) => getRewriter(sql, values)((name) => quote(getValue(values, name)));
}

/**
 * Puts `{name:String}` in the place of each `@name`, for the server to bind, and guards around searches. Where the values are too long for an address
 * they are quoted in the text instead, which means the same.
 */
export function createValueBinder(): (sql: string, values: Values) => BoundStatement {
  const getRewriter = createRewriters();
  return (sql, values) => {
    const rewrite = getRewriter(sql, values);
    const bound: Record<string, string> = {};
    let chars = 0;
    const text = rewrite((name) => {
      const value = getValue(values, name).toWellFormed();
      if (!Object.hasOwn(bound, name)) chars += value.length;
      bound[name] = value;
      return `{${name}:String}`;
    });
    if (chars <= BOUND_CHARS_MAX) return { sql: text, values: bound };
    return { sql: rewrite((name) => quote(getValue(values, name))), values: {} };
  };
}

type Rewriter = ReturnType<typeof createRewriter>;

/** The searches and the cut text of each statement are kept, since the same few come again. */
function createRewriters(): (sql: string, values: Values) => Rewriter {
  const getSearches = keep(findTextSearches);
  const getRewriter = keep(createRewriter);
  return (sql, values) =>
    getRewriter(guardSearches(sql, getSearches(sql), (name) => getValue(values, name).toWellFormed()));
}

function keep<T extends object>(create: (sql: string) => T): (sql: string) => T {
  const kept = new LRUCache<string, T>({ max: STATEMENTS_MAX });
  return (sql) => {
    const one = kept.get(sql) ?? create(sql);
    kept.set(sql, one);
    return one;
  };
}

function getValue(values: Values, name: string): string {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new TailraceError('internal', `no value was given for @${name}`);
  return value;
}
