import { expect, test } from 'vitest';
import { createParameter } from '../../src/definitions/parameter.ts';
import { parseTimestamp } from '../../src/ingest/event.ts';
import { formatInstant } from '../../src/lib/instant.ts';
import { findParameterValue } from '../../src/query/parameters.ts';

const SINCE = createParameter('since', { type: 'timestamp', description: '' });

/** The instant as a parameter of an endpoint, and as the timestamp of an event; `undefined` where it is refused. */
function both(text: string) {
  const micros = parseTimestamp(JSON.stringify(text));
  const stored = micros === undefined ? undefined : formatInstant(micros);
  return { asked: findParameterValue(SINCE, text, 1_000), stored };
}

test.each([
  ['2026-11-20T24:00:00Z', '2026-11-21 00:00:00.000000'],
  ['2026-11-20T07:30.5Z', '2026-11-20 07:30:30.000000'],
  ['2026-11-20T07,5', '2026-11-20 07:30:00.000000'],
  ['20261120T070000+01', '2026-11-20 06:00:00.000000'],
  [' 2026-11-20T07:00:00.1234569Z ', '2026-11-20 07:00:00.123456'],
  ['20261120', '2026-11-20 00:00:00.000000'],
  ['2026-11-20T24:00:01Z', undefined],
  ['2026-02-30', undefined],
  ['2026-11-20T07:00:60Z', undefined],
])('%j is %s, asked or stored', (text, instant) => {
  expect(both(text)).toEqual({ asked: instant, stored: instant });
});

test('a count since 1970 is for events alone', () => {
  expect(both('1763622000')).toEqual({ asked: undefined, stored: '2025-11-20 07:00:00.000000' });
});
