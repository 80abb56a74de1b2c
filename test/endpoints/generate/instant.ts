import fc from 'fast-check';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Instants at which time is easy to get wrong, and any other; ms since the epoch. */
export const clock: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: awkwardClocks() },
  { weight: 1, arbitrary: fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) }) },
);

function awkwardClocks(): fc.Arbitrary<number> {
  const texts = [
    // The edge of a bucket of every width but the day, midnight, a leap day, the end of a year.
    ...['2026-11-20T07:00:00.000Z', '2026-11-20T06:59:59.999Z', '2026-11-20T00:00:00.000Z'],
    ...['2024-02-29T12:34:56.789Z', '2024-03-01T00:00:00.000Z', '2028-02-29T23:59:59.999Z'],
    ...['2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z'],
    // Summer time begins in Europe, and ends in America.
    ...['2025-03-30T01:00:00.000Z', '2025-11-02T06:00:00.001Z'],
  ];
  return fc.constantFrom(...texts.map((text) => Date.parse(text)));
}

/** How far back the bounds of the endpoints lie; an hour ahead is as far as an event may be. */
const SPANS = [0, 5 * MINUTE, 15 * MINUTE, HOUR, DAY, 7 * DAY, -HOUR];
const WIDTHS = [1, SECOND, MINUTE, HOUR, DAY];

/**
 * Instants of events, in microseconds: on the bounds and bucket edges around `now`, one microsecond beside them, and anywhere
 * near. Few distinct ones, so that events share an instant.
 *
 * @param nowMs ms since the epoch
 * @param spans bounds besides those common to all endpoints, in microseconds before now
 */
export function instantAround(nowMs: number, spans: readonly number[] = []): fc.Arbitrary<number> {
  const now = nowMs * 1000;
  return fc
    .record({
      span: fc.constantFrom(...SPANS, ...spans),
      width: fc.constantFrom(...WIDTHS),
      steps: fc.constantFrom(0, 0, 1, 2),
      beside: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(-1, 0, 0, 1) },
        { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: HOUR }) },
      ),
    })
    .map(({ span, width, steps, beside }) => {
      const edge = (Math.floor((now - span) / width) + steps) * width;
      return Math.min(edge + beside, now + HOUR);
    });
}

export const DAYS_90 = 90 * DAY;
