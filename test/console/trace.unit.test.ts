import { expect, test } from 'vitest';
import { parseAddress } from '../../console/src/page/explore/address.ts';
import { pathOfTrace } from '../../console/src/page/explore/paths.ts';
import { formatTrace, isTraceField } from '../../console/src/page/explore/trace.ts';
import { toLine } from '../../console/src/ui/lines/line.ts';
import { parseSearch } from '../../src/search/parse.ts';

test('a trace is searched for by the names under which senders write it', () => {
  const fields = ['trace_id', 'metadata.otel.trace_id', 'trace.id', 'traceId', 'my_trace_id'];
  expect(fields.map(isTraceField)).toEqual([true, true, true, true, false]);
  expect(formatTrace('metadata.otel.trace_id', '4bf9')).toBe(
    '(otel.trace_id:4bf9 or trace_id:4bf9 or traceId:4bf9 or trace.id:4bf9 or traceID:4bf9)',
  );
  expect(parseSearch(formatTrace('trace_id', 'a "b"'), 100)?.kind).toBe('or');
});

test('a line leads to its trace in every source, a quarter of an hour before and after it', () => {
  const metadata = { trace_id: '4bf9', other: 'x' };
  const line = toLine({ source: 'logs', timestamp: Date.parse('2026-11-20T12:00:00Z') * 1_000, metadata });
  const address = parseAddress('source=logs&project=aurora&q=timeout&range=7d');
  const path = pathOfTrace(address, line, 'trace_id') ?? '';
  expect(parseAddress(path.slice(path.indexOf('?')))).toMatchObject({
    q: '(trace_id:4bf9 or traceId:4bf9 or trace.id:4bf9 or traceID:4bf9)',
    ...{ source: [], project: 'aurora', view: 'timeline' },
    ...{ from: '2026-11-20T11:45:00.000Z', until: '2026-11-20T12:15:00.000Z' },
  });
  expect([pathOfTrace(address, line, 'other'), pathOfTrace(address, line, 'traceId')]).toEqual([
    undefined,
    undefined,
  ]);
});
