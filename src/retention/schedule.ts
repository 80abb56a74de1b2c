import type { Source } from '../definitions/source.ts';
import type { ClockGuard } from '../lib/clock-guard.ts';
import { createSlots } from '../lib/slots.ts';
import type { clockFile, confirmationFile, RetentionReport, reportFile } from './file.ts';
import { describeRetention, type RetentionNotice } from './notice.ts';
import type { Retention } from './retention.ts';

export interface RetentionSchedule {
  /** Enforces retention. To be called every hour: days become due at midnight, and a store outgrows its bound slowly. */
  run(): Promise<void>;
  /** Checks the clock, and for a confirmation. To be called every five seconds: an operator waits for the confirmation. */
  watch(): Promise<void>;
  /** Reports what is due now; deletes nothing. */
  review(): Promise<RetentionReport>;
  /** Returns why retention has stopped; `undefined` while nothing is wrong. */
  notice(): RetentionNotice | undefined;
  /** Writes the plausible time, after running work has ended. */
  saveClock(): Promise<void>;
}

export interface ScheduleOptions {
  readonly retention: Retention;
  readonly clock: ClockGuard;
  /** A new list after each reload. */
  readonly sources: () => readonly Source[];
  /** The clock of a ClickHouse server, ms since the epoch; `undefined` for the embedded engine. */
  readonly readEngineMs: () => Promise<number | undefined>;
  readonly files: {
    readonly clock: ReturnType<typeof clockFile>;
    readonly report: ReturnType<typeof reportFile>;
    readonly confirmation: ReturnType<typeof confirmationFile>;
  };
  /** Called when the clock becomes implausible, or plausible again. */
  readonly onClockChange: () => Promise<void>;
  /** Called with a new notice, again by each run while it lasts, and with `undefined` when it is over. */
  readonly onNotice: (notice: RetentionNotice | undefined) => void;
  readonly onConfirmed: (isAll: boolean) => void;
}

// If the process is killed a minute is lost, which is little compared with the hours by which a clock may be wrong.
const SAVE_EVERY_WATCHES = 12;

/** Enforces retention and follows the clock, one at a time. Failures reject, and change nothing for later calls. */
export function createRetentionSchedule(options: ScheduleOptions): RetentionSchedule {
  const { retention, clock, files } = options;
  let watches = 0;
  let knownState = clock.last().state;
  let knownSources = options.sources();
  let notice: RetentionNotice | undefined;
  const acquire = createSlots(1);

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const slot = await acquire();
    return await work().finally(slot.release);
  }

  function publish(report: RetentionReport): void {
    const before = notice;
    notice = describeRetention(report);
    if (notice !== undefined || before !== undefined) options.onNotice(notice);
    files.report.write(report);
  }

  async function enforce(): Promise<void> {
    await followClock();
    publish(await retention.run());
  }

  /** @returns whether the clock's state has changed */
  async function followClock(): Promise<boolean> {
    const { state } = clock.check(await options.readEngineMs());
    if (state === knownState) return false;
    await options.onClockChange();
    knownState = state;
    return true;
  }

  async function saveClock(): Promise<void> {
    files.clock.write({ seen_ms: clock.last().plausibleMs });
  }

  async function watch(): Promise<void> {
    if (await followClock()) publish(await retention.run());
    else if (options.sources() !== knownSources) publish(await retention.review()); // a reload may hide events: report it; the hourly run deletes
    knownSources = options.sources();
    await applyConfirmation();
    if (watches++ % SAVE_EVERY_WATCHES === 0) await saveClock();
  }

  /** Removing the file signals to `tailrace retention --confirm` that the report is up to date. */
  async function applyConfirmation(): Promise<void> {
    const confirmation = files.confirmation.read();
    if (confirmation === undefined) return;
    try {
      options.onConfirmed(await retention.confirm(confirmation));
      await enforce();
      await saveClock();
    } finally {
      files.confirmation.remove();
    }
  }

  return {
    run: () => alone(enforce),
    watch: () => alone(watch),
    review: () => alone(retention.review),
    notice: () => notice,
    saveClock: () => alone(saveClock),
  };
}
