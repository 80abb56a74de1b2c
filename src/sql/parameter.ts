import { parseSql } from './parse.ts';

/** One `@name` in SQL. Offsets are UTF-16 units; `line` counts from 1. */
export interface ParameterUse {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** Every `@name` in ClickHouse SQL outside of strings, quoted identifiers and comments, in order. */
export function findParameters(sql: string): ParameterUse[] {
  let line = 1;
  let counted = 0;
  const words = parseSql(sql).words.filter(({ kind }) => kind === 'parameter');
  return words.map(({ text, start, end }) => {
    line += sql.slice(counted, start).split('\n').length - 1;
    counted = start;
    return { name: text.slice(1), start, end, line };
  });
}

/**
 * Returns where each `@name` is in quotes for the first time, as beginners write it: there it is a text, or the name of
 * a column.
 */
export function findQuotedParameters(sql: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { kind, text, start } of parseSql(sql).words)
    if (kind === 'text' || kind === 'name')
      for (const { 1: name = '', index } of text.matchAll(/@([A-Za-z]\w*)/g))
        if (!found.has(name)) found.set(name, start + index);
  return found;
}

/**
 * A function that replaces each `@name` by the result of `write`. Cuts the SQL once: each run of a statement costs a
 * concatenation.
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
