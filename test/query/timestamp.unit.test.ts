import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createParameter } from '../../src/definitions/parameter.ts';
import { parseTimestamp } from '../../src/ingest/event.ts';
import { formatInstant } from '../../src/lib/instant.ts';
import { findParameterValue } from '../../src/query/parameters.ts';
import { runs, scale } from '../support/property.ts';

const SINCE = createParameter('since', { type: 'timestamp', description: '' });

/** The instant as a parameter of an endpoint, and as the timestamp of an event; `undefined` where it is refused. */
function both(text: string) {
  const micros = parseTimestamp(JSON.stringify(text));
  const stored = micros === undefined ? undefined : formatInstant(micros);
  return { asked: findParameterValue(SINCE, text, 1_000), stored };
}

const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^\\d{${min},${max}}$`));
const pair = fc
  .oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 23 }) }, fc.integer({ min: 0, max: 99 }))
  .map((n) => String(n).padStart(2, '0'));
const hour = fc.oneof({ weight: 3, arbitrary: pair }, fc.constant('24'));
const minute = fc.oneof({ weight: 2, arbitrary: pair }, fc.constant('00'));

/** Texts that are ISO 8601, or nearly. */
const nearly = fc
  .record({
    year: fc.oneof(fc.constantFrom('2026', '2024', '0001', '9999'), digits(4, 5)),
    month: fc.integer({ min: 0, max: 13 }).map((n) => String(n).padStart(2, '0')),
    day: fc.integer({ min: 0, max: 32 }).map((n) => String(n).padStart(2, '0')),
    basic: fc.boolean(),
    between: fc.constantFrom('T', 't', ' ', ''),
    time: fc.array(minute, { maxLength: 2 }),
    hour,
    fraction: fc.oneof(
      fc.constant(''),
      fc.tuple(fc.constantFrom('.', ','), digits(0, 19)).map((parts) => parts.join('')),
    ),
    zone: fc.constantFrom('', 'Z', 'z', '+01', '-0530', '+24:00', ' 01:00', 'CET'),
    around: fc.constantFrom('', ' ', '\n'),
  })
  .map(({ year, month, day, basic, between, time, hour, fraction, zone, around }) => {
    const date = [year, month, day].join(basic ? '' : '-');
    const rest = between === '' ? '' : between + [hour, ...time].join(basic ? '' : ':') + fraction + zone;
    return around + date + rest + around;
  });

// Digits alone are a count since 1970 in an event, but for the eight of a date.
const isCount = (text: string) => /^\s*\d+(?:\.\d*)?\s*$/.test(text) && text.trim().length !== 8;

test('parameters and events take the same ISO 8601, for the same instant', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: nearly }, fc.string()), (text) => {
      fc.pre(!isCount(text) && text !== '');
      const { asked, stored } = both(text);
      if (asked !== undefined) taken++;
      expect(asked).toBe(stored);
    }),
    runs(20_000),
  );
  expect(taken).toBeGreaterThan(scale(250));
});

test.each([
  ['2026-11-20T24:00:00Z', '2026-11-21 00:00:00.000000'],
  ['2026-11-20T07:30.5Z', '2026-11-20 07:30:30.000000'],
  ['2026-11-20T07,5', '2026-11-20 07:30:00.000000'],
  [' 2026-11-20T07:00:00Z ', '2026-11-20 07:00:00.000000'],
  ['2026-11-20T24:00:01Z', undefined],
  ['2026-11-20T07:00:60Z', undefined],
])('%j is %s, asked or stored', (text, instant) => {
  expect(both(text)).toEqual({ asked: instant, stored: instant });
});

test('a count since 1970 is for events alone', () => {
  expect(both('1763622000')).toEqual({ asked: undefined, stored: '2025-11-20 07:00:00.000000' });
});
