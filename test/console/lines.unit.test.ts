import { describe, expect, test } from 'vitest';
import { linesPath } from '../../console/src/page/endpoint/lines.ts';
import {
  addTerm,
  attributesOf,
  exclude,
  formatValue,
  termOf,
  toLine,
  valueAt,
} from '../../console/src/page/explore/lines/line.ts';
import { parseSearch } from '../../src/search/parse.ts';
import { createParameterView } from '../support/parameter-view.ts';

const METADATA = {
  request: { path: '/rest', headers: { 'x.id': 'a"b', 'user agent': 'c d' } },
  level: 'high',
  metadata: { level: 1 },
  ids: [1, 2],
  none: null,
  big: 9007199254740993n,
  empty: {},
};
const LINE = toLine({
  source: 'postgres.logs',
  id: 'a',
  timestamp: 1_795_176_000_123_456,
  project: 'aurora',
  level: null,
  event_message: 'it ended',
  metadata: METADATA,
});

test('a record has each value with the field that a search finds it by', () => {
  const found = attributesOf(METADATA);
  expect(found.map(({ field, value }) => [field, formatValue(value)])).toEqual([
    ['request.path', '/rest'],
    ['request.headers."x.id"', 'a"b'],
    ['request.headers."user agent"', 'c d'],
    ['metadata.level', 'high'],
    ['metadata.metadata.level', '1'],
    ['ids', '[1,2]'],
    ['none', 'null'],
    ['big', '9007199254740993'],
    ['empty', '{}'],
  ]);
  for (const { field, value } of found) expect(valueAt(LINE, field)).toEqual(value);
  expect(valueAt(LINE, 'project')).toBe('aurora');
  expect(valueAt(LINE, 'request.no.such')).toBeUndefined();
});

describe('a filter', () => {
  test.each([
    ['level', null, '-level:*'],
    ['response.status_code', 500, 'response.status_code:500'],
    ['request.path', '/a b', 'request.path:"/a b"'],
    ['ids', [1, 2], 'ids:*'],
    ['request.search', '', 'request.search:""'],
    ['event_message', '>= *"x" \\ or', 'event_message:">= *\\"x\\" \\\\ or"'],
  ])('for %s with %j is %s', (field, value, term) => {
    expect(termOf(field, value)).toBe(term);
    expect(exclude(exclude(term))).toBe(term);
    const tree = parseSearch(term, 10);
    if (typeof value === 'string')
      expect(tree).toEqual({
        ...{ kind: 'compare', operator: '=', position: field.length + 1 },
        field: field.split('.'),
        value: [value],
        isQuoted: true,
      });
  });

  test('is added to a search so that both apply, once', () => {
    expect(addTerm('', 'a:1')).toBe('a:1');
    expect(addTerm('x or y', 'a:1')).toBe('(x or y) a:1');
    expect(addTerm('"x"or y', 'a:1')).toBe('("x"or y) a:1');
    expect(addTerm('x a:1', 'a:1')).toBe('x a:1');
  });
});

describe('the lines behind a range of a chart', () => {
  const span = { from: 1_763_622_000, until: 1_763_625_600 };
  const parametersOf = (path: string | undefined) =>
    Object.fromEntries(new URL(path ?? '', 'http://x').searchParams);

  test('are those of the sources, the project, the range and the parameters with a search', () => {
    const endpoint = {
      sources: ['a.logs', 'b.logs'],
      parameters: [
        createParameterView('project'),
        createParameterView('function_id', { search: 'function_id' }),
        createParameterView('region', { search: 'edge.region', type: 'list' }),
        createParameterView('interval', { default: '1day' }),
        createParameterView('level', { search: 'level', default: 'error' }),
      ],
    };
    const values = { project: 'aurora', function_id: 'a "b"', region: 'eu, us', interval: '1hr' };
    const path = linesPath(endpoint, values, { span, search: 'x or y' });
    expect(path).toMatch(/^\/explore\?/);
    expect(parametersOf(path)).toEqual({
      q: 'function_id:"a \\"b\\"" (edge.region:eu or edge.region:us) level:error (x or y)',
      source: 'a.logs,b.logs',
      project: 'aurora',
      from: '2025-11-20T07:00:00.000Z',
      until: '2025-11-20T08:00:00.000Z',
    });
  });
});
