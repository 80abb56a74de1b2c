import { expect, test } from 'vitest';
import { messageOf } from '../src/errors.ts';

test('a host of several addresses has the message of the first that was tried', () => {
  const tried = [new Error('connect ECONNREFUSED ::1:9'), new Error('connect ECONNREFUSED 127.0.0.1:9')];
  expect(messageOf(new AggregateError(tried))).toBe('connect ECONNREFUSED ::1:9');
  expect(messageOf(new AggregateError(tried, 'all of them failed'))).toBe('all of them failed');
  expect(messageOf('a text')).toBe('a text');
});
