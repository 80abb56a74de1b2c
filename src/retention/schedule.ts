import type { Source } from '../definitions/source.ts';
import type { ClockGuard } from '../lib/clock-guard.ts';
import type { clockFile, confirmationFile, RetentionReport, reportFile } from './file.ts';
import { describeRetention, type RetentionNotice } from './notice.ts';
import type { Retention } from './retention.ts';

export interface RetentionSchedule {
  /** Enforces retention now; failures are reported, never thrown. */
  run(): Promise<void>;
  /** Checks the clock, and for a confirmation; failures are reported, never thrown. */
  watch(): Promise<void>;
  /** Why retention has stopped; `undefined` while nothing is wrong. */
  notice(): RetentionNotice | undefined;
  /** Starts no further run; resolves when the last one has ended. */
  stop(): Promise<void>;
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
  readonly onError: (error: unknown) => void;
}

// Days become due at midnight, and a store outgrows its bound slowly: hourly is enough.
const RUN_EVERY_MS = 3_600_000;
// An operator waits for the confirmation to be applied.
const WATCH_EVERY_MS = 5_000;
// Losing a minute, if the process is killed, is little beside the hours by which a clock may be wrong.
const SAVE_EVERY_WATCHES = 12;

/** Enforces retention every hour and checks the clock in between, one at a time. */
export function scheduleRetention(options: ScheduleOptions): RetentionSchedule {
  const { retention, clock, files, onError } = options;
  let watches = 0;
  let knownState = clock.last().state;
  let knownSources = options.sources();
  let notice: RetentionNotice | undefined;
  let last: Promise<void> = Promise.resolve();
  const queued = new Map<() => Promise<void>, Promise<void>>();

  /** Runs work one after another, each kind at most once in the queue; failures are reported. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    const same = queued.get(work);
    if (same !== undefined) return same;
    last = last
      .then(work)
      .catch(onError)
      .finally(() => queued.delete(work));
    queued.set(work, last);
    return last;
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

  const running = setInterval(() => void enqueue(enforce), RUN_EVERY_MS);
  const watching = setInterval(() => void enqueue(watch), WATCH_EVERY_MS);
  for (const timer of [running, watching]) timer.unref(); // they must not keep a service alive that could not start
  return {
    run: () => enqueue(enforce),
    watch: () => enqueue(watch),
    notice: () => notice,
    async stop() {
      clearInterval(running);
      clearInterval(watching);
      await enqueue(saveClock);
    },
  };
}
