import { describe, expect, test } from 'vitest';
import { QUESTION_KINDS } from '../questions.ts';
import { parseRivals, RIVAL_NAMES, rivalGoal } from './names.ts';

describe('--rivals', () => {
  test('is every rival by default, or those named', () => {
    expect(parseRivals()).toHaveLength(RIVAL_NAMES.length);
    expect(parseRivals(['duckdb-http']).map(({ title }) => title)).toEqual(['DuckDB behind Fastify']);
  });

  test('refuses another name', () => {
    expect(() => parseRivals(['duckdb', 'sqlite'])).toThrow(
      'There is no rival sqlite; there are postgresql, ',
    );
  });
});

test('compares statistics with DuckDB behind HTTP, and everything with PostgreSQL from a million rows on', () => {
  const goals = (name: string, rows: number) =>
    parseRivals([name]).flatMap((rival) => QUESTION_KINDS.map((kind) => rivalGoal(rival, kind, rows).goal));
  const atLeast = (...times: number[]) => times.map((one) => ({ atLeast: one }));
  expect(goals('postgresql-indexed', 1_000_000)).toEqual(atLeast(1, 1, 1, 0.5, 1));
  expect(goals('duckdb-http', 10_000_000)).toEqual(atLeast(1, 1, 1, 3, 3));
  expect(goals('duckdb', 10_000_000)).toEqual([undefined, undefined, ...atLeast(1, 3, 3)]);
  expect(goals('postgresql', 100_000)).toEqual(Array(5).fill(undefined));
});
