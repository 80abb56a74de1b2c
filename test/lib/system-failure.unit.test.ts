import { expect, test } from 'vitest';
import { describeSystemFailure, isTransient } from '../../src/lib/system-failure.ts';

const failure = (code: string | undefined, message = 'it failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  ['a full disk', failure('ENOSPC')],
  ['a full share of the disk', failure('EDQUOT')],
  ['a port in use', failure('EADDRINUSE')],
  ['a name that is not known', failure('ENOTFOUND')],
  ['each address of a name refuses', new AggregateError([failure('ECONNREFUSED'), failure('EHOSTUNREACH')])],
  ['PostgreSQL starts', failure('57P03')],
  ['PostgreSQL has too many connections', failure('53300')],
  ['PostgreSQL does not respond', failure(undefined, 'timeout expired')],
  ['PostgreSQL ends the connection', failure(undefined, 'Connection terminated unexpectedly')],
])('may pass: %s', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['no right to write', failure('EACCES')],
  ['a read-only disk', failure('EROFS')],
  ['a file instead of a folder', failure('ENOTDIR')],
  ['a wrong password of PostgreSQL', failure('28P01')],
  ['a database that is missing', failure('3D000')],
  ['no right in PostgreSQL', failure('42501')],
  [
    'a newer version',
    failure(undefined, 'its tables of keys are of version 9, newer than this Tailrace (2)'),
  ],
  ['of some addresses', new AggregateError([failure('ECONNREFUSED'), failure('EACCES')])],
  ['no error', undefined],
])('has to be changed: %s', (_, error) => {
  expect(isTransient(error)).toBe(false);
});

test('the message for a full disk says what to do', () => {
  expect(describeSystemFailure(failure('ENOSPC'))).toBe('the disk is full; make room');
  expect(describeSystemFailure(failure('EACCES', 'EACCES: permission denied'))).toBe(
    'EACCES: permission denied',
  );
});
