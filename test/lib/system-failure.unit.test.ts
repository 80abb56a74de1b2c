import { expect, test } from 'vitest';
import { describeSystemFailure, isTransient } from '../../src/lib/system-failure.ts';

const failure = (code: string | undefined, message = 'it failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  ['a full disk', failure('ENOSPC')],
  ['a port in use', failure('EADDRINUSE')],
  ['each address of a name refuses', new AggregateError([failure('ECONNREFUSED'), failure('EHOSTUNREACH')])],
  ['PostgreSQL starts', failure('57P03')],
  ['PostgreSQL does not respond', failure(undefined, 'timeout expired')],
])('may pass: %s', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['no right to write', failure('EACCES')],
  ['a wrong password of PostgreSQL', failure('28P01')],
  [
    'a newer version',
    failure(undefined, 'its tables of keys are of version 9, newer than this Tailrace (2)'),
  ],
  ['of some addresses', new AggregateError([failure('ECONNREFUSED'), failure('EACCES')])],
])('has to be changed: %s', (_, error) => {
  expect(isTransient(error)).toBe(false);
});

test('the message for a full disk says what to do', () => {
  expect(describeSystemFailure(failure('ENOSPC'))).toBe('the disk is full; make room');
  expect(describeSystemFailure(failure('EACCES', 'EACCES: permission denied'))).toBe(
    'EACCES: permission denied',
  );
});
