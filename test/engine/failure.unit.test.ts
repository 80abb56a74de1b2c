import { describe, expect, test } from 'vitest';
import { publicMessage, toTailraceError } from '../../src/engine/failure.ts';

const thrown = (code: number, text: string, name: string) =>
  new Error(`Code: ${code}. DB::Exception: ${text} (${name})`);

describe('an error of the engine', () => {
  test.each([
    [159, 'TIMEOUT_EXCEEDED', 'query_timeout'],
    [243, 'NOT_ENOUGH_SPACE', 'overloaded'],
    [210, 'NETWORK_ERROR', 'engine_unavailable'],
    [99999, 'SOMETHING_NEW', 'query_failed'],
  ] as const)('%i %s is %s', (number, name, code) => {
    expect(toTailraceError(thrown(number, 'text', name)).code).toBe(code);
  });

  test('out of memory is overloaded for the whole engine, query_failed for the query', () => {
    const code = (text: string) => toTailraceError(thrown(241, text, 'MEMORY_LIMIT_EXCEEDED')).code;
    expect(code('Memory limit (total) exceeded: would use 4 GiB')).toBe('overloaded');
    expect(code('Query memory limit exceeded: would use 96 MiB')).toBe('query_failed');
  });

  test('that quotes a value like a rejected pattern does not reveal it', () => {
    const text = "Cannot parse string 'not a valid re2 pattern: the secret is swordfish' as Int64";
    const error = toTailraceError(thrown(6, text, 'CANNOT_PARSE_TEXT'));
    expect(error.code).toBe('query_failed');
    expect(error.message).not.toContain('swordfish');
  });
});

test.each([
  [
    "Code: 164. DB::Exception: Code: 164. DB::Exception: Cannot modify 'x' setting in readonly mode. (READONLY) (version 26.7.2.1). (READONLY)",
    'Cannot modify ‘…’ setting in readonly mode.',
  ],
  ['Code: 60. DB::Exception: Table /var/lib/store/x is gone. (UNKNOWN_TABLE)', 'Table … is gone.'],
  ['Code: 6. DB::Exception: s3cret', 'the query failed on this data or these parameters'],
])('the message for callers of %s', (full, short) => {
  expect(publicMessage(full)).toBe(short);
});
