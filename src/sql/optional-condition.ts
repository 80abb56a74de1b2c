import { type Edit, parseSql, type Word } from './parse.ts';

/**
 * `AND (@name = '' OR …)` or `AND (@name IS NULL OR …)` in the WHERE of a query. Once its parameter is known, an edit
 * decides it: the engine would come to the same, and take a third of a millisecond for it.
 */
export interface OptionalCondition {
  readonly name: string;
  /** Whether it tests for the empty text; for NULL otherwise. */
  readonly isText: boolean;
  /** Removes the condition. */
  readonly ifEmpty: Edit;
  /** Removes the test of the parameter. */
  readonly ifGiven: Edit;
}

// What may follow the condition: with anything else it would be a part of an expression.
const FOLLOWS = new Set('AND GROUP ORDER LIMIT HAVING UNION ) ] }'.split(' '));
// Only in these clauses a condition is nothing but true or false.
const OF_CONDITIONS = new Set(['WHERE', 'PREWHERE']);
// Operators that bind less closely than OR, or have their own AND; names that would be lost with the condition.
const UNFIT_BEFORE = new Set(['BETWEEN', '?', 'CASE']);
const UNFIT_INSIDE = new Set(['AS', '?', ',', 'SELECT']);

/** The optional conditions of a query, in order, in linear time: none is within another, since a SELECT in one is unfit. */
export function findOptionalConditions(sql: string): OptionalCondition[] {
  const { words } = parseSql(sql);
  const unfit = new Set<number>(); // clauses, from an operator on that the next AND could belong to
  return words.flatMap(({ key, clause }, i) => {
    if (UNFIT_BEFORE.has(key)) unfit.add(clause);
    const isOfConditions = OF_CONDITIONS.has(words[clause]?.key ?? '') && !unfit.has(clause);
    return (key === 'AND' && isOfConditions && readCondition(words, i)) || [];
  });
}

/** @param i of the word AND */
function readCondition(words: readonly Word[], i: number): OptionalCondition | undefined {
  const [and, open, parameter, is, value, or, rest] = words.slice(i, i + 7);
  if (open?.key !== '(' || parameter?.kind !== 'parameter' || or?.key !== 'OR') return undefined;
  const isText = is?.key === '=' && value?.text === "''";
  const close = words[open.pair];
  if (!isText && (is?.key !== 'IS' || value?.key !== 'NULL')) return undefined;
  if (and === undefined || close === undefined || rest === undefined) return undefined;
  const next = words[open.pair + 1];
  if (next !== undefined && !FOLLOWS.has(next.key)) return undefined;
  const isOneOperand = words
    .slice(i + 6, open.pair)
    .every(({ key }, at) => !UNFIT_INSIDE.has(key) && !(key === '-' && words[i + 7 + at]?.key === '>'));
  if (!isOneOperand) return undefined;
  return {
    name: parameter.text.slice(1),
    isText,
    ifEmpty: { start: and.start, end: close.end, text: '' },
    ifGiven: { start: open.end, end: rest.start, text: '' },
  };
}
