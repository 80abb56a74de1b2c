import fc from 'fast-check';
import type { WireEvent } from '../../trial/oracle/event.ts';
import { weighted } from '../support/property.ts';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Instants at which time is easy to get wrong, and any other; ms since the epoch. */
export const clock: fc.Arbitrary<number> = weighted(
  [3, awkwardClocks()],
  [1, fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) })],
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
      beside: weighted([4, fc.constantFrom(-1, 0, 0, 1)], [1, fc.integer({ min: -HOUR, max: HOUR })]),
    })
    .map(({ span, width, steps, beside }) => {
      const edge = (Math.floor((now - span) / width) + steps) * width;
      return Math.min(edge + beside, now + HOUR);
    });
}

export const DAYS_90 = 90 * DAY;

/** The project that is asked for in a case before `renameProjects` gives the case names of its own. */
export const MINE = 'acme';

/** Mostly ours, else one whose name holds ours, is held by ours, or differs by letter case. */
const project = weighted(
  [6, fc.constant(MINE)],
  [4, fc.constantFrom('acme-eu', 'my-acme', 'acm', 'ACME', 'acme ', 'other')],
);
const noProject = fc.constantFrom('', null, 7, false, [MINE], { ref: MINE });

/** What stands in one of the places where an event may name its project. */
export const projectValue: fc.Arbitrary<unknown> = weighted([8, project], [1, noProject]);

/** The same events with project names that no other case uses, so that cases can share a store. */
export function renameProjects(events: readonly WireEvent[], unique: number): WireEvent[] {
  return JSON.parse(rename(JSON.stringify(events), unique)) as WireEvent[]; // was an array of events before
}

export function rename(text: string, unique: number): string {
  return text.replaceAll('acme', `acme${unique}z`).replaceAll('ACME', `ACME${unique}Z`);
}
