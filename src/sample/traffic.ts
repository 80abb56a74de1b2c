import { MICROS_PER_SECOND, type Micros } from '../lib/instant.ts';
import { createRandom } from '../lib/random.ts';

const SLOT_MICROS = 300 * MICROS_PER_SECOND;
const HOUR_MICROS = 3_600 * MICROS_PER_SECOND;
const DAY_MICROS = 24 * HOUR_MICROS;
const PEAK_HOUR = 14;
const NIGHT_SHARE = 0.2;
const WEEKEND_SHARE = 0.65;
const SLOT_SIGMA = 0.12;

/**
 * Instants of `rows` events over the `days` before `end`, in order: many by day, few by night, fewer at weekends, many in the
 * last hour, so that short ranges show something at any time of day. The last is within five minutes of `end`. Memory does not
 * grow with `rows`.
 */
export function* spreadInstants(span: { rows: number; days: number; end: Micros; seed: string }) {
  const { rows, days, end } = span;
  const random = createRandom(span.seed);
  const slots = (days * DAY_MICROS) / SLOT_MICROS;
  const start = end - days * DAY_MICROS;
  const weights = new Float64Array(slots);
  let total = 0;
  for (let slot = 0; slot < slots; slot++) {
    const at = start + slot * SLOT_MICROS;
    weights[slot] = withRush(rhythm(at), end - at) * random.logNormal(1, SLOT_SIGMA);
    total += weights[slot] ?? 0;
  }
  let passed = 0;
  let placed = 0;
  for (let slot = 0; slot < slots; slot++) {
    passed += weights[slot] ?? 0; // summed in the same order as `total`, so the last share is exactly 1
    const inSlot = Math.floor((passed / total) * rows) - placed;
    for (let i = 0; i < inSlot; i++) {
      // Rounded up: the beginning of the span may be the instant at which retention ends.
      yield start + slot * SLOT_MICROS + Math.ceil(((i + 1 - random.next()) / inSlot) * SLOT_MICROS);
    }
    placed += inSlot;
  }
}

/** Traffic at an instant, 1 at the peak of a working day. */
function rhythm(at: Micros): number {
  const date = new Date(at / 1000);
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  const daylight = ((1 + Math.cos(((hour - PEAK_HOUR) / 12) * Math.PI)) / 2) ** 1.5;
  const weekend = date.getUTCDay() % 6 === 0 ? WEEKEND_SHARE : 1;
  return (NIGHT_SHARE + (1 - NIGHT_SHARE) * daylight) * weekend;
}

const RUSH_LEVEL = 2;

/** Traffic rises over three hours to twice the peak of a working day, and stays there for the last hour. */
function withRush(level: number, age: Micros): number {
  const share = Math.min(1, Math.max(0, (4 * HOUR_MICROS - age) / (3 * HOUR_MICROS)));
  return level + (RUSH_LEVEL - level) * share;
}

/** Whether the project with this index has an outage at an instant. */
export type IsFailing = (project: number, at: Micros) => boolean;

/** Gives each project one outage of 15 to 45 minutes in every stretch of about two days, and one within the last hour. */
export function createOutages(span: {
  projects: number;
  days: number;
  end: Micros;
  seed: string;
}): IsFailing {
  const random = createRandom(span.seed);
  const stretches = Math.ceil(span.days / 2);
  const length = (span.days * DAY_MICROS) / stretches;
  const outages = Array.from({ length: span.projects * stretches }, (_, i) => {
    const stretchEnd = span.end - (i % stretches) * length;
    // Ends an hour before the end of the span, so that it never overlaps the recent one.
    const from = stretchEnd - 2 * HOUR_MICROS - random.next() * (length - 3 * HOUR_MICROS);
    return { from, until: from + (0.25 + random.next() * 0.5) * HOUR_MICROS };
  });
  const recent = Array.from({ length: span.projects }, () => {
    const from = span.end - (0.7 + random.next() * 0.2) * HOUR_MICROS;
    return { from, until: from + (0.3 + random.next() * 0.2) * HOUR_MICROS };
  });
  return (project, at) => {
    const late = recent[project];
    if (late !== undefined && at >= late.from && at < late.until) return true;
    const stretch = Math.min(Math.floor((span.end - at) / length), stretches - 1);
    const outage = outages[project * stretches + stretch];
    return outage !== undefined && at >= outage.from && at < outage.until;
  };
}
