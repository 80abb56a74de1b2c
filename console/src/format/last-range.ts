const SECOND_MS = 1_000;
const UNITS = {
  s: { ms: SECOND_MS, name: 'second' },
  m: { ms: 60 * SECOND_MS, name: 'minute' },
  h: { ms: 3_600 * SECOND_MS, name: 'hour' },
  d: { ms: 86_400 * SECOND_MS, name: 'day' },
} as const;

type Unit = keyof typeof UNITS;

/** The length of a range that ends now: `40m`. */
export type LastRange = `${number}${Unit}`;

/** Ten years: no store has older events, and each length up to it is an exact number of ms. */
const LAST_MAX_MS = 3_650 * UNITS.d.ms;

const NAMES: Readonly<Record<string, Unit>> = {
  ...{ s: 's', sec: 's', secs: 's', second: 's', seconds: 's' },
  ...{ m: 'm', min: 'm', mins: 'm', minute: 'm', minutes: 'm' },
  ...{ h: 'h', hr: 'h', hrs: 'h', hour: 'h', hours: 'h' },
  ...{ d: 'd', day: 'd', days: 'd' },
};

/** Reads `40m`, `40 min`, `2 weeks`, `hour`. @returns undefined if it is not a length, or longer than ten years */
export function parseLast(text: string): LastRange | undefined {
  const [, digits, name = ''] = /^(\d{1,9})? ?([a-z]{1,7})$/.exec(text.trim().toLowerCase()) ?? [];
  const isWeeks = ['w', 'week', 'weeks'].includes(name);
  const unit = isWeeks ? 'd' : Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  if (unit === undefined || (digits === undefined && name.length < 3)) return undefined;
  const count = Number(digits ?? 1) * (isWeeks ? 7 : 1);
  return count > 0 && count * UNITS[unit].ms <= LAST_MAX_MS ? `${count}${unit}` : undefined;
}

export function lastMs(range: LastRange): number {
  return Number.parseInt(range, 10) * unitOf(range).ms;
}

/** The length in its largest unit; a day in hours, as people say it. @returns undefined if it is not of whole seconds */
export function toLast(ms: number): LastRange | undefined {
  const units = Object.keys(UNITS).toReversed() as Unit[];
  const unit = units.find((one) => ms % UNITS[one].ms === 0 && !(one === 'd' && ms === UNITS.d.ms));
  return unit === undefined ? undefined : parseLast(`${ms / UNITS[unit].ms}${unit}`);
}

/** `Last hour`, `Last 40 minutes` */
export function describeLast(range: LastRange): string {
  const count = Number.parseInt(range, 10);
  const { name } = unitOf(range);
  return count === 1 ? `Last ${name}` : `Last ${count} ${name}s`;
}

function unitOf(range: LastRange): (typeof UNITS)[Unit] {
  return UNITS[range.slice(-1) as Unit]; // parseLast has made it
}
