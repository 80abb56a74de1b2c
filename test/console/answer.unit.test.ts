import { describe, expect, test } from 'vitest';
import { formatJson, parseCacheStatus, parseJson } from '../../console/src/api/answer.ts';
import { findBounds, findMark } from '../../console/src/page/endpoint/log.ts';
import { createSnippets } from '../../console/src/page/endpoint/snippet.ts';
import { formatUrl, parseUrl } from '../../console/src/page/endpoint/url-state.ts';

test('integers beyond 2^53 stay exact, in and out', () => {
  const text = '{"a":9007199254740993,"b":[1,2.5,-9007199254740995],"c":"9007199254740993","d":1e300}';
  expect(formatJson(parseJson(text), 0)).toBe(text.replace('1e300', '1e+300'));
});

test.each([
  ['Tailrace; hit; ttl=612', 'hit'],
  ['Tailrace; hit; ttl=612; detail=shared', 'hit'],
  ['Tailrace; fwd=miss; stored', 'miss'],
  ['Tailrace; fwd=miss; collapsed', 'collapsed'],
  ['Tailrace; fwd=bypass', 'bypass'],
  ['Tailrace; hit; ttl=-12; fwd=stale; fwd-status=503; detail=stale-if-error', 'stale'],
])('Cache-Status %s is %s', (header, state) => {
  expect(parseCacheStatus(header)).toBe(state);
});

test.each([
  [{ response: { status_code: 503 } }, '503', 'error'],
  [[{ response: [{ status_code: 404 }] }], '404', 'warn'],
  [{ status: 200 }, '200', 'ok'],
  [{ level: 'WARNING' }, 'warning', 'warn'],
  [{ parsed: [{ error_severity: 'FATAL' }] }, 'fatal', 'error'],
  [{ level: 'info' }, 'info', 'info'],
  [null, null, 'none'],
  ['text', null, 'none'],
  [{ status: 'done' }, null, 'none'],
])('a line with %j is marked %s, %s', (metadata, level, tone) => {
  expect(findMark(metadata)).toEqual({ level, tone });
});

const parameter = (name: string, control: 'text' | 'time' = 'text') => ({
  name,
  type: control === 'time' ? ('timestamp' as const) : ('string' as const),
  control,
  required: false,
  description: '',
  default: '',
  values: [],
  otherwise: null,
  pinned: null,
  search: null,
});

test('the bounds of a log are its parameters of that type', () => {
  const parameters = [parameter('iso_timestamp_start', 'time'), parameter('iso_timestamp_end', 'time')];
  expect(findBounds({ parameters })).toEqual({ start: 'iso_timestamp_start', end: 'iso_timestamp_end' });
  expect(findBounds({ parameters: [parameter('start')] })).toEqual({});
});

describe('the address of a view', () => {
  const endpoint = { parameters: [parameter('project'), parameter('view')] };

  test('holds all of it, and reading it gives it back', () => {
    const state = {
      values: { project: 'a&b', view: 'x' },
      view: 'json',
      filter: 'ö',
      live: true,
      columns: ['a."b,c"', 'd'],
      at: '1::x',
    } as const;
    expect(parseUrl(formatUrl(state), endpoint)).toEqual(state);
  });

  test('with what is not declared or not known is read without it', () => {
    const empty = { values: {}, view: undefined, filter: '', live: false, columns: [], at: '' };
    expect(parseUrl('other=1&ui.view=poem&project=', endpoint)).toEqual(empty);
    expect(formatUrl(empty)).toBe('');
  });
});

test('the calls quote what a shell, JavaScript and Python would read otherwise', () => {
  const [curl, javascript, python] = createSnippets('https://a.example', 'logs.all', {
    project: `it's "$HOME"`,
    empty: '',
  });
  expect(curl?.text).toContain(
    `'https://a.example/api/endpoints/query/logs.all?project=it%27s+%22%24HOME%22'`,
  );
  for (const one of [javascript, python]) expect(one?.text).toContain('"project": "it\'s \\"$HOME\\""');
});
