import { expect, test } from 'vitest';
import { isTransient } from '../../src/lib/system-failure.ts';

const failure = (code: string | undefined, message = 'it failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  ['a full disk', failure('ENOSPC')],
  ['each address of a name refuses', new AggregateError([failure('ECONNREFUSED'), failure('EHOSTUNREACH')])],
  ['PostgreSQL starts', failure('57P03')],
])('may pass: %s', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['no right to write', failure('EACCES')],
  ['a wrong password of PostgreSQL', failure('28P01')],
  ['of some addresses', new AggregateError([failure('ECONNREFUSED'), failure('EACCES')])],
])('has to be changed: %s', (_, error) => {
  expect(isTransient(error)).toBe(false);
});
