import { describe, expect, test } from 'vitest';
import { linesPath, whyNoLines } from '../../console/src/page/endpoint/lines.ts';
import { findAnswerRange } from '../../console/src/ui/chart/answer-range.ts';
import type { EndpointView } from '../../src/management/view.ts';

type Parameter = EndpointView['parameters'][number];
const parameter = (name: string, fields: Partial<Parameter> = {}): Parameter => ({
  name,
  type: 'string',
  required: false,
  description: '',
  default: '',
  control: 'text',
  values: [],
  otherwise: null,
  pinned: null,
  search: null,
  ...fields,
});

describe('the lines behind a range of a chart', () => {
  const span = { from: 1_763_622_000, until: 1_763_625_600 };
  const parametersOf = (path: string | undefined) =>
    Object.fromEntries(new URL(path ?? '', 'http://x').searchParams);

  test('are those of the sources, the project, the range and the parameters with a search', () => {
    const endpoint = {
      sources: ['a.logs', 'b.logs'],
      parameters: [
        parameter('project'),
        parameter('function_id', { search: 'function_id' }),
        parameter('region', { search: 'edge.region', type: 'list' }),
        parameter('interval', { default: '1day' }),
        parameter('level', { search: 'level', default: 'error' }),
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

  test('are of one project, which a pattern does not name, or of the pinned one', () => {
    const linesOf = (value: string, fields: Partial<Parameter> = {}) => {
      const called = { sources: ['a'], parameters: [parameter('project', { type: 'regex', ...fields })] };
      const path = linesPath(called, { project: value }, { span });
      return path === undefined ? whyNoLines(called, { project: value }) : parametersOf(path)['project'];
    };
    expect(linesOf('aurora-1')).toBe('aurora-1');
    expect(linesOf('aurora|zephyr')).toMatch(/name it instead of a pattern/);
    expect(linesOf('', { pinned: 'a.b' })).toBe('a.b');
  });

  test('are none for a key that may search no source of them', () => {
    expect(linesPath({ sources: [], parameters: [] }, {}, { span })).toBeUndefined();
    expect(whyNoLines({ sources: [], parameters: [] }, {})).toMatch(/may not search/);
  });
});

describe('the range of an answer', () => {
  const atMs = Date.UTC(2026, 10, 20, 7, 30);
  const now = atMs / 1000;
  const bucket = {
    column: 'timestamp',
    by: 'interval',
    spans: {
      hourly: { width_seconds: 3600, range_seconds: 7200 },
      daily: { width_seconds: 86_400, range_seconds: 604_800 },
    },
    aligned: false,
  };
  const interval = parameter('interval', { default: 'hourly', otherwise: 'daily' });

  test('is that of the bucket, by the parameter that selects it', () => {
    const endpoint = { bucket, parameters: [interval] };
    expect(findAnswerRange(endpoint, {}, atMs)).toEqual({ from: now - 7200, until: now, widthSeconds: 3600 });
    expect(findAnswerRange(endpoint, { interval: 'other' }, atMs).widthSeconds).toBe(86_400);
    const aligned = { bucket: { ...bucket, aligned: true }, parameters: [interval] };
    expect(findAnswerRange(aligned, {}, atMs).from).toBe(now - 7200 - 1800);
    const only = { ...bucket, by: null, spans: { '': { width_seconds: 60, range_seconds: 600 } } };
    expect(findAnswerRange({ bucket: only, parameters: [] }, {}, atMs).from).toBe(now - 600);
  });

  test('is between timestamps that are sent, in UTC without a zone, and not after the query', () => {
    const parameters = ['iso_timestamp_start', 'iso_timestamp_end'].map((name) =>
      parameter(name, { type: 'timestamp' }),
    );
    const rangeOf = (start: string, end: string) =>
      findAnswerRange(
        { bucket: null, parameters },
        { iso_timestamp_start: start, iso_timestamp_end: end },
        atMs,
      );
    expect(rangeOf('2026-11-20T05:00:00', '2026-11-20T08:00:00+02:00')).toEqual({
      from: now - 9000,
      until: now - 5400,
      widthSeconds: undefined,
    });
    expect(rangeOf('', '2026-11-21')).toEqual({ from: undefined, until: now, widthSeconds: undefined });
    expect(rangeOf('2026-11-20', 'never')).toMatchObject({ from: now - 27_000, until: now });
  });
});
