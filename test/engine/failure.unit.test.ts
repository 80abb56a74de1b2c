import { describe, expect, test } from 'vitest';
import { publicMessage, toTailraceError } from '../../src/engine/failure.ts';
import { TailraceError } from '../../src/errors.ts';

const thrown = (code: number, text: string, name: string) =>
  new Error(`Code: ${code}. DB::Exception: ${text} (${name})`);

describe('an error of the engine', () => {
  test.each([
    [159, 'TIMEOUT_EXCEEDED', 'query_timeout'],
    [160, 'TOO_SLOW', 'query_timeout'],
    [394, 'QUERY_WAS_CANCELLED', 'query_timeout'],
    [202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'overloaded'],
    [243, 'NOT_ENOUGH_SPACE', 'overloaded'],
    [236, 'ABORTED', 'engine_unavailable'],
    [210, 'NETWORK_ERROR', 'engine_unavailable'],
    [60, 'UNKNOWN_TABLE', 'query_failed'],
    [99999, 'SOMETHING_NEW', 'query_failed'],
  ] as const)('%i %s is %s', (number, name, code) => {
    expect(toTailraceError(thrown(number, 'text', name)).code).toBe(code);
  });

  test('out of memory is overloaded for the whole engine, query_failed for the query', () => {
    const code = (text: string) => toTailraceError(thrown(241, text, 'MEMORY_LIMIT_EXCEEDED')).code;
    expect(code('Memory limit (total) exceeded: would use 4 GiB')).toBe('overloaded');
    expect(code('Query memory limit exceeded: would use 96 MiB')).toBe('query_failed');
  });

  test.each([new Error('socket closed'), 'text', undefined, null])(
    'without a code it is engine_unavailable',
    (error) => {
      expect(toTailraceError(error)).toMatchObject({ code: 'engine_unavailable', status: 503 });
    },
  );

  test('takes its code from the error itself if it has one', () => {
    expect(toTailraceError(Object.assign(new Error('x'), { clickhouseCode: 159 })).code).toBe(
      'query_timeout',
    );
  });

  test('has a cause for the log that holds no value either', () => {
    const error = toTailraceError(thrown(6, "Cannot parse string 's3cret' as Int32", 'CANNOT_PARSE_TEXT'));
    expect(error.cause).toBeInstanceOf(Error);
    expect(String(error.cause)).toContain('CANNOT_PARSE_TEXT');
    expect(String(error.cause)).not.toContain('s3cret');
  });

  test.each([
    [36, 'The pattern argument is not a valid re2 pattern: missing ): (: In scope SELECT 1', 'BAD_ARGUMENTS'],
    [
      427,
      'OptimizedRegularExpression: cannot compile re2: (, error: missing ): (. Look at',
      'CANNOT_COMPILE_REGEXP',
    ],
  ])('of a pattern that RE2 refuses tells the reason, %i', (number, text, name) => {
    const error = toTailraceError(thrown(number, text, name));
    expect(error.code).toBe('invalid_parameter');
    expect(error.message).toMatch(/RE2 regular expression: missing \)$/);
  });

  test('that quotes a value like a refused pattern does not reveal it', () => {
    const text = "Cannot parse string 'not a valid re2 pattern: the secret is swordfish' as Int64";
    const error = toTailraceError(thrown(6, text, 'CANNOT_PARSE_TEXT'));
    expect(error.code).toBe('query_failed');
    expect(error.message).not.toContain('swordfish');
  });

  test('of our own passes as it is', () => {
    const error = new TailraceError('internal', 'x');
    expect(toTailraceError(error)).toBe(error);
  });
});

describe('the message for callers', () => {
  test.each([
    [
      "Code: 47. DB::Exception: Unknown identifier 'a' in scope SELECT a. (UNKNOWN_IDENTIFIER)",
      'Unknown identifier ‘…’',
    ],
    [
      "Code: 164. DB::Exception: Code: 164. DB::Exception: Cannot modify 'x' setting in readonly mode. (READONLY) (version 26.7.2.1). (READONLY)",
      'Cannot modify ‘…’ setting in readonly mode.',
    ],
    ['Code: 60. DB::Exception: Table /var/lib/store/x is gone. (UNKNOWN_TABLE)', 'Table … is gone.'],
    [
      'Code: 62. DB::Exception: Syntax error: failed at position 8 (x): x. Expected one of: token, Dot. (SYNTAX_ERROR)',
      'Syntax error: failed at position 8 (x): x.',
    ],
    [
      'Code: 376. DB::Exception: Cannot parse uuid s3cret: Cannot parse UUID from String. (CANNOT_PARSE_UUID)',
      'the query failed on this data or these parameters: CANNOT_PARSE_UUID',
    ],
    ['Code: 6. DB::Exception: s3cret', 'the query failed on this data or these parameters'],
    ['Code: 60. DB::Exception: ', 'the query failed'],
  ])('of %s', (full, short) => {
    expect(publicMessage(full)).toBe(short);
  });

  test('has at most 500 characters', () => {
    expect(publicMessage(`Code: 60. DB::Exception: ${'x'.repeat(1000)}`)).toHaveLength(500);
  });
});
