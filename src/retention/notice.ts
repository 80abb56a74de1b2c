import type { DueDays, HoldReason, RetentionReport } from './file.ts';

/** The reason why retention has stopped, or the clock's fault. It names no source: `/ready` needs no key. */
export interface RetentionNotice {
  /** The reasons why due days are not deleted; empty while all of them are. */
  readonly stopped: readonly HoldReason[];
  /** For an operator: what is wrong and what to do. */
  readonly message: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CONFIRM = '"tailrace retention" shows what is due, "tailrace retention --confirm" lets it continue';

/** @returns `undefined` if nothing is wrong */
export function describeRetention({ clock, due }: RetentionReport): RetentionNotice | undefined {
  const { state, clockMs, plausibleMs, isOther } = clock;
  const distance = describeDuration(Math.abs(clockMs - plausibleMs));
  const [is, expected] = [clockMs, plausibleMs].map((ms) => new Date(ms).toISOString());
  if (state === 'ahead' && isOther)
    return {
      stopped: ['clock'],
      message: `retention has stopped: the clock of the ClickHouse server says ${is}, which is ${distance} ahead of this machine's (${expected}). Nothing is deleted for its age. Set the server's clock right`,
    };
  if (state === 'ahead')
    return {
      stopped: ['clock'],
      message: `retention has stopped: the clock says ${is}, which is ${distance} ahead of what it should say by the last time that the store was open (${expected}). Nothing is deleted for its age. Set the clock right; if it is right, since the service did not run for so long: ${CONFIRM}`,
    };
  const held = due.filter((one) => one.held === 'share');
  if (held.length > 0) {
    const list = held.map(describeShare);
    return {
      stopped: ['share'],
      message: `retention has stopped for ${held.length === 1 ? 'a source' : `${held.length} sources`}: ${list[0]} would be deleted at once. Check retention_days and TAILRACE_STORE_BYTES_MAX; if they are right: ${CONFIRM}`,
    };
  }
  if (state === 'behind')
    return {
      stopped: [],
      message: `the clock says ${is}, which is ${distance} behind what it should say by the last time that the store was open (${expected}). Nothing is deleted too early by that, but events without a timestamp get the wrong time, and right ones are rejected as more than an hour ahead. Set the clock right; if it is right: "tailrace retention --confirm"`,
    };
  return undefined;
}

function describeShare({ percent, reason, days }: DueDays): string {
  const of = reason === 'age' ? 'of its events' : 'of the bytes stored';
  return `${Math.floor(percent)} % ${of} (${days.length} days)`;
}

/** `100 days`, `30 hours` */
function describeDuration(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  return `${Math.round(ms / HOUR_MS)} hours`;
}
