import { describe, expect, test } from 'vitest';
import { formatJson, toAnswer } from '../../console/src/api/answer.ts';
import { ApiError, parseAnswer } from '../../console/src/api/client.ts';
import { ownMember } from '../../console/src/format/own.ts';
import { toBars } from '../../console/src/page/explore/histogram/series.ts';
import { createSnippets } from '../../console/src/page/source/snippet.ts';
import { findAnswerRange } from '../../console/src/ui/chart/answer-range.ts';
import { formatValue, toLine, valueAt } from '../../console/src/ui/lines/line.ts';
import { toColumns } from '../../console/src/ui/table/answer-columns.tsx';

/** What every object inherits: names that a caller may use like any other. */
const INHERITED = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];

describe('an answer of another shape', () => {
  const answer = (text: string) => ({ text, status: 200 });

  test.each([
    ['null'],
    ['[]'],
    ['"result"'],
    ['7'],
    ['{}'],
    ['{"result":null}'],
    ['{"result":[null]}'],
    ['{"result":{"length":1}}'],
    ['{"result":"none"}'],
    ['{"status":"ok"}'],
    ['<html>'],
    [''],
  ])('%s is an error that says so, not a value', (text) => {
    expect(() => parseAnswer<{ result: string[] }>(answer(text), ['result'])).toThrow(ApiError);
    expect(() => parseAnswer<{ result: string[] }>(answer(text), ['result'])).toThrow(/not from Tailrace/);
  });

  test.each([['null'], ['{}'], ['{"result":{}}'], ['5']])('%s is not a list', (text) => {
    expect(() => parseAnswer<string[]>(answer(text), 'list')).toThrow(ApiError);
  });

  test('has each member itself: what every object inherits does not count', () => {
    expect(() => parseAnswer<Record<string, unknown>>(answer('{}'), ['constructor'])).toThrow(ApiError);
    expect(parseAnswer<Record<string, unknown>>(answer('{"a":null}'), ['a'])).toEqual({ a: null });
    expect(parseAnswer<string[]>(answer('["a"]'), 'list')).toEqual(['a']);
  });

  test.each([['[null]'], ['[1]'], ['["row"]']])('with %s for rows is an error', (rows) => {
    const text = `{"result":${rows}}`;
    const raw = { text, status: 200, headers: new Headers(), ms: 1, blob: new Blob([text]) };
    expect(() => toAnswer(raw)).toThrow(ApiError);
  });
});

describe.each(INHERITED)('the name %s', (name) => {
  test('means a member of its own only', () => {
    expect(ownMember<unknown>({}, name)).toBeUndefined();
    expect(ownMember<unknown>(JSON.parse(`{"${name}":1}`) as object as Record<string, unknown>, name)).toBe(
      1,
    );
  });

  test('as a field of a line is its value, or none', () => {
    const row = { source: 's', id: '1', timestamp: 1, project: 'p', event_message: 'm' };
    for (const field of [name, `metadata.${name}`, `a.${name}`, `${name}.${name}`]) {
      const none = valueAt(toLine({ ...row, metadata: { a: {} } }), field);
      expect(none).toBeUndefined();
      expect(formatValue(none)).toBe('');
    }
    const metadata = JSON.parse(`{"${name}":"there"}`) as unknown;
    expect(valueAt(toLine({ ...row, metadata }), name)).toBe('there');
  });

  test('as a column of a table has no value if the row has none', () => {
    const [column] = toColumns([{ name, type: 'number', description: '', search: null }], {
      zone: 'utc',
      times: new Set(),
    });
    expect(column?.value({})).toBeNull();
    expect(column?.cell?.({})).toBeUndefined();
  });

  test('as a value of the series has a colour like any other', () => {
    const counts = [{ startMs: 0, value: name, count: 1 }];
    const search = {
      q: '',
      source: [],
      project: '',
      fromMs: 0,
      untilMs: 10,
      nowMs: 10,
      widthMs: 1,
      offsetMs: 0,
    };
    const { series } = toBars(counts, search, { by: 'level' });
    expect(series.map(({ label, color, alpha }) => [label, typeof color, typeof alpha])).toEqual([
      [name, 'string', 'number'],
    ]);
  });

  test('as a span of the time buckets is unknown', () => {
    const bucket = { column: 'timestamp', by: 'interval', spans: {}, aligned: false };
    const range = findAnswerRange({ bucket, parameters: [] }, { interval: name }, 5_000);
    expect(range).toEqual({ from: undefined, until: 5, widthSeconds: undefined });
  });

  test('as the path of a column is in the example of its source', () => {
    const columns = [
      { name: 'c', type: 'integer', path: ['metadata', name, 'x'], other_paths: [], description: '' },
    ];
    const source = { id: 'i', name: 's', columns };
    const [curl] = createSnippets({ origin: 'http://localhost', source, project: 'p' });
    expect(curl?.text.replaceAll(/\s/g, '')).toContain(`"metadata":{"${name}":{"x":200}}`);
  });
});

test('a value without JSON is an empty text', () => {
  expect([formatJson(undefined), formatJson(() => 1), formatJson(null)]).toEqual(['', '', 'null']);
});
