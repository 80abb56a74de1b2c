import { describe, expect, test } from 'vitest';
import { formatJson, parseCacheStatus, parseJson } from '../../console/src/page/endpoint/answer.ts';
import { findBounds, mergeEntries, olderThan, toEntry } from '../../console/src/page/endpoint/log.ts';
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

describe('a log entry', () => {
  const toneOf = (metadata: unknown) => {
    const { mark, tone } = toEntry({ id: 'a', timestamp: 1, event_message: 'm', metadata });
    return [mark, tone];
  };

  test.each([
    [{ response: { status_code: 503 } }, '503', 'bad'],
    [[{ response: [{ status_code: 404 }] }], '404', 'warn'],
    [{ status: 200 }, '200', 'ok'],
    [{ level: 'WARNING' }, 'warning', 'warn'],
    [{ parsed: [{ error_severity: 'FATAL' }] }, 'fatal', 'bad'],
    [{ level: 'info' }, 'info', 'info'],
    [null, '', 'neutral'],
    ['text', '', 'neutral'],
    [{ status: 'done' }, '', 'neutral'],
  ])('with %j is marked %s, %s', (metadata, mark, tone) => {
    expect(toneOf(metadata)).toEqual([mark, tone]);
  });

  const entry = (id: string, micros: number) =>
    toEntry({ id, timestamp: micros, event_message: id, metadata: {} });

  test('is in the list once, newest first, and the other end leaves beyond the bound', () => {
    const kept = [entry('c', 3), entry('b', 2)];
    const ids = (drop: 'oldest' | 'newest', max: number) =>
      mergeEntries(kept, [entry('b', 2), entry('a', 1), entry('d', 4)], { max, drop }).map((one) => one.id);
    expect(ids('oldest', 10)).toEqual(['d', 'c', 'b', 'a']);
    expect(ids('oldest', 2)).toEqual(['d', 'c']);
    expect(ids('newest', 2)).toEqual(['b', 'a']);
  });

  test('is gone on from with every digit of its time, and past it where that found nothing', () => {
    const oldest = entry('a', Date.UTC(2026, 0, 1) * 1000 + 7);
    expect(olderThan(oldest, false)).toBe('2026-01-01T00:00:00.000007Z');
    expect(olderThan(oldest, true)).toBe('2026-01-01T00:00:00.000006Z');
  });
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
    const state = { values: { project: 'a&b', view: 'x' }, view: 'json', filter: 'ö', live: true } as const;
    expect(parseUrl(formatUrl(state), endpoint)).toEqual(state);
  });

  test('with what is not declared or not known is read without it', () => {
    const empty = { values: {}, view: undefined, filter: '', live: false };
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
