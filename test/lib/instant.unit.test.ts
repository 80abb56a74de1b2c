import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EARLIEST_MICROS, formatInstant, LATEST_MICROS, parseInstant } from '../../src/lib/instant.ts';

describe('an instant', () => {
  const at = (text: string) => Date.parse(text) * 1000;
  test.each<[string, number]>([
    ['2026-11-20T07:00:00Z', at('2026-11-20T07:00:00Z')],
    ['2026-11-20T07:00:00', at('2026-11-20T07:00:00Z')],
    ['2026-11-20T07:00:00 01:00', at('2026-11-20T06:00:00Z')],
    // As PostgreSQL's jsonlog writes them.
    ...['UTC', 'GMT', 'Z', '+0000', '+00', ' 0000'].map((zone): [string, number] => [
      `2026-11-20 07:00:00.123 ${zone}`,
      at('2026-11-20T07:00:00.123Z'),
    ]),
    ['2026-11-20 07:00:00.123 -03', at('2026-11-20T10:00:00.123Z')],
    ['2026-11-20T07:00:00+01', at('2026-11-20T06:00:00Z')],
    ['2026-11-20T07:00:00,123456Z', at('2026-11-20T07:00:00.123Z') + 456],
    ['2024-02-29', at('2024-02-29T00:00:00Z')],
    ['2026-11-20T24:00:00Z', at('2026-11-21T00:00:00Z')],
    ['0001-01-01', EARLIEST_MICROS],
    ['9999-12-31T23:59:59Z', LATEST_MICROS],
  ])('%s is read', (text, micros) => expect(parseInstant(text)).toBe(micros));

  test.each([
    '',
    '2026',
    '2025-02-29',
    '2026-11-20T07:30.Z',
    '2026-11-20T07:00:00+24:00',
    '2026-11-20Z',
    '2026-11-20 07:00:00 CET',
    '1763622000',
  ])('%j is not one', (text) => expect(parseInstant(text)).toBeUndefined());

  test('written and read again is the same, to the microsecond', () => {
    const micros = fc.integer({ min: EARLIEST_MICROS, max: LATEST_MICROS });
    fc.assert(
      fc.property(micros, (instant) => {
        const text = formatInstant(instant);
        expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
        expect(parseInstant(text)).toBe(instant);
      }),
    );
  });

  test('agrees with the platform on every date and zone', () => {
    const date = fc.date({ min: new Date('1901-01-01'), max: new Date('2254-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(date, fc.integer({ min: -14 * 60, max: 14 * 60 }), (instant, offset) => {
        const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [h, m] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
          String(n).padStart(2, '0'),
        );
        const text = `${local}${offset < 0 ? '-' : '+'}${h}:${m}`;
        expect(parseInstant(text)).toBe(instant.getTime() * 1000);
      }),
    );
  });
});
