import { findLevel, LEVELS, type Level } from '../definitions/level.ts';
import { type Micros, parseInstant } from '../lib/instant.ts';
import { shorten } from '../query/parameters.ts';
import { reject } from './parse.ts';
import type { SearchClause, SearchValue } from './tree.ts';

/** A condition on the value of a field. */
export type Compare = Extract<SearchClause, { kind: 'compare' }>;

/** Returns the levels that are meant, by their names or in their order. @throws TailraceError `invalid_parameter` */
export function findLevels({ operator, value, position }: Compare): readonly Level[] {
  return LEVELS.filter(findTest());

  function findTest(): (level: Level) => boolean {
    if (value.length > 1) return (level) => matches(level, value);
    const found = findLevel(value[0]);
    if (found === undefined)
      throw reject(position, `has the unknown level ${shorten(value[0])}; levels are ${LEVELS.join(', ')}`);
    const rank = LEVELS.indexOf(found);
    return (level) => TESTS[operator](LEVELS.indexOf(level) - rank);
  }
}

/** Whether an operator holds, by the order of two values: below 0 if the first is less. */
export const TESTS: Readonly<Record<Compare['operator'], (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

/** Whether a text has the texts between the wildcards in their order, the first at its start and the last at its end. */
export function matches(text: string, [first, ...rest]: SearchValue): boolean {
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a text meets a condition. */
export function isFitting(text: string, { operator, value }: Compare): boolean {
  if (value.length > 1) return matches(text, value);
  return TESTS[operator](text === value[0] ? 0 : text < value[0] ? -1 : 1);
}

/** Returns the instant that a condition on `timestamp` names. @throws TailraceError `invalid_parameter` */
export function readTime({ value, position }: Compare): Micros {
  const micros = value.length > 1 ? undefined : parseInstant(value[0]);
  if (micros !== undefined) return micros;
  const given = shorten(value.join('*'));
  throw reject(position, `has ${given} instead of an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z`);
}
