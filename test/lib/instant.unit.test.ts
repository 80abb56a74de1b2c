import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EARLIEST_MICROS, formatInstant, LATEST_MICROS, parseInstant } from '../../src/lib/instant.ts';

describe('an instant', () => {
  const at = (text: string) => Date.parse(text) * 1000;
  test.each<[string, number]>([
    // As PostgreSQL's jsonlog writes them.
    ...['UTC', 'GMT', 'Z', '+0000', '+00', ' 0000'].map((zone): [string, number] => [
      `2026-11-20 07:00:00.123 ${zone}`,
      at('2026-11-20T07:00:00.123Z'),
    ]),
    ['2026-11-20 07:00:00.123 -03', at('2026-11-20T10:00:00.123Z')],
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

  test('is read from every spelling of ISO 8601, with or without a zone', () => {
    const micros = fc.integer({ min: Date.UTC(1971, 0) * 1000, max: Date.UTC(2200, 0) * 1000 });
    const widths = fc.constantFrom(1, 1_000, 1_000_000, 60_000_000, 86_400_000_000);
    fc.assert(
      fc.property(micros, widths, (some, width) => {
        const instant = some - (some % width);
        for (const text of spellings(instant)) expect([text, parseInstant(text)]).toEqual([text, instant]);
      }),
    );
  });

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

/** Texts in ISO 8601 that all name the same microsecond. */
function spellings(micros: number): string[] {
  return ZONES.flatMap(([zone, minutes]) => {
    const { day, time, fraction } = partsOf(micros + minutes * 60_000_000);
    // Digits beyond the microsecond are cut off.
    const fractions = [`.${fraction}`, `,${fraction}`, `.${fraction}000`, `.${fraction}999999`];
    if (fraction.endsWith('000')) fractions.push(`.${fraction.slice(0, 3)}`);
    if (Number(fraction) === 0) fractions.push('');
    const times = fractions.map((one) => time + one);
    if (Number(fraction) === 0 && time.endsWith(':00')) times.push(time.slice(0, 5));
    const days = zone === '' && time === '00:00:00' && Number(fraction) === 0 ? [day, digits(day)] : [];
    const extended = ['T', 't', ' '].flatMap((between) => times.map((one) => day + between + one + zone));
    return [...extended, ...fractions.map((one) => `${digits(day)}T${digits(time)}${one}${zone}`), ...days];
  });
}

/** Offsets as they are written, with their minutes. */
const ZONES: readonly (readonly [string, number])[] = [
  ...['', 'Z', 'z', '+00:00'].map((zone) => [zone, 0] as const), // without a zone it is UTC
  ['+01:00', 60],
  ['-08:00', -480],
  ['+0530', 330],
  ['-03', -180],
  [' 02:00', 120], // what an unescaped + becomes in a query string
  ['+23:59', 1439],
];

function partsOf(micros: number): { day: string; time: string; fraction: string } {
  const ms = Math.floor(micros / 1000);
  const iso = new Date(ms).toISOString();
  const fraction = String(micros - ms * 1000).padStart(3, '0');
  return { day: iso.slice(0, 10), time: iso.slice(11, 19), fraction: iso.slice(20, 23) + fraction };
}

function digits(text: string): string {
  return text.replaceAll(/\D/g, '');
}
