import { expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import type { Question } from '../../src/query/question.ts';
import type { Answer } from '../../src/query/run.ts';
import { createTypedFirst } from '../../src/query/typed-first.ts';

const WHOLE = { fileHash: 'f', parameters: [], pinned: [], columns: [] };
const TYPED = { ...WHOLE, sql: 'typed' };
// Only these fields are read.
const question = {
  endpoint: { ...WHOLE, sql: 'whole', typedFirst: TYPED },
  values: {},
  format: { framing: {} },
} as unknown as Question;

/** @param typed what the SELECT over typed columns does */
function open(typed: () => Answer) {
  const ran: string[] = [];
  const run = createTypedFirst(
    async ({ endpoint: { sql } }) => {
      ran.push(sql);
      return sql === 'typed' ? typed() : ANSWER;
    },
    { timeoutMs: 1_000, late: () => new Error('late') },
  );
  return { ran, run };
}

const ANSWER = {} as Answer; // is passed on
const fail = (error: Error) => () => {
  throw error;
};

test('the answer of the typed columns is the answer', async () => {
  const { ran, run } = open(() => ANSWER);
  for (let i = 0; i < 3; i++) expect(await run(question)).toBe(ANSWER);
  expect(ran).toEqual(['typed', 'typed', 'typed']);
});

test('after a failure the whole SELECT is run, and the typed columns are tried more and more seldom', async () => {
  const { ran, run } = open(fail(new TailraceError('query_failed', 'untyped')));
  for (let i = 0; i < 8; i++) expect(await run(question)).toBe(ANSWER);
  expect(ran.join(' ')).toBe('typed whole whole typed whole whole whole typed whole whole whole');
});

test('a query that was stopped is not run again', async () => {
  const { ran, run } = open(fail(new TailraceError('query_timeout', 'late')));
  await expect(run(question)).rejects.toThrow('late');
  expect(ran).toEqual(['typed']);
});
