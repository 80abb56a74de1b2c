import { MICROS_PER_DAY, projectOf, type WireEvent } from './event.ts';

export interface LogsQuestion {
  readonly project: string;
  readonly tier: string;
  /** Exclusive, microseconds since the epoch; `undefined` means no bound. */
  readonly start: number | undefined;
  /** Inclusive. */
  readonly end: number | undefined;
  readonly now: number;
}

const TIER_DAYS: Readonly<Record<string, number>> = { FREE: 1, PRO: 7, PAYG: 90, ENTERPRISE: 90 };

/** The rows that `logs.all` may return at most (spec 4.2 rule 3). */
export const ROWS_MAX = 100;

/** Spec 4.2: every event of a source that passes the filters, newest first. Events of one instant are in no set order. */
export function matchingLogs(
  events: readonly WireEvent[],
  source: string,
  { project, tier, start, end, now }: LogsQuestion,
): WireEvent[] {
  const window = (TIER_DAYS[tier] ?? 1) * MICROS_PER_DAY;
  return events
    .filter((event) => projectOf(event, source) === project)
    .filter((event) => event.timestamp > now - window)
    .filter((event) => start === undefined || event.timestamp > start)
    .filter((event) => end === undefined || event.timestamp <= end)
    .sort((a, b) => b.timestamp - a.timestamp);
}
