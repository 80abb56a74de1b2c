import type { Source } from '../definitions/source.ts';
import type { ClockGuard } from '../lib/clock-guard.ts';
import type { Retention, RetentionReport } from './retention.ts';
import { type clockFile, type confirmationFile, type reportFile, toStored } from './retention-file.ts';
import { describeRetention, type RetentionNotice } from './retention-notice.ts';

export interface RetentionSchedule {
  /** Enforces retention now; failures are reported, never thrown. */
  run(): Promise<void>;
  /** Looks at the clock, and whether an operator has confirmed; failures are reported, never thrown. */
  watch(): Promise<void>;
  /** Why retention has stopped; `undefined` while there is nothing to say. */
  notice(): RetentionNotice | undefined;
  /** No further run begins; resolves when the last one has ended. */
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  readonly retention: Retention;
  readonly clock: ClockGuard;
  /** What says how long events are kept; another list after each reload. */
  readonly sources: () => readonly Source[];
  /** The time of a server, which has a say of its own; `undefined` where the engine has none. ms since the epoch */
  readonly readEngineMs: () => Promise<number | undefined>;
  readonly files: {
    readonly clock: ReturnType<typeof clockFile>;
    readonly report: ReturnType<typeof reportFile>;
    readonly confirmation: ReturnType<typeof confirmationFile>;
  };
  /** Called when the clock has become implausible, or plausible again. */
  readonly onClockChange: () => Promise<void>;
  /** Called when a notice is new, each time that a run finds it still there, and once when it is over. */
  readonly onNotice: (notice: RetentionNotice | undefined) => void;
  readonly onConfirmed: (isAll: boolean) => void;
  readonly onError: (error: unknown) => void;
}

// Days leave at midnight, and a store grows past its bound slowly: hourly is often enough.
const RUN_EVERY_MS = 3_600_000;
// An operator who confirms waits for it.
const WATCH_EVERY_MS = 5_000;
// A minute in which the process may have been killed is nothing against the hours that the clock may be off.
const NOTE_EVERY_TURNS = 12;

/** Enforces retention once an hour, and holds the clock against the past in between; one of both at a time. */
export function scheduleRetention(options: ScheduleOptions): RetentionSchedule {
  const { retention, clock, files, onError } = options;
  let turns = 0;
  let known = clock.last().state;
  let knownSources = options.sources();
  let notice: RetentionNotice | undefined;
  let last: Promise<void> = Promise.resolve();
  const waiting = new Map<() => Promise<void>, Promise<void>>();

  /** Work one after another, each kind at most once among what waits; what fails is reported. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const same = waiting.get(work);
    if (same !== undefined) return same;
    last = last
      .then(work)
      .catch(onError)
      .finally(() => waiting.delete(work));
    waiting.set(work, last);
    return last;
  }

  function found(report: RetentionReport): void {
    const before = notice;
    const stored = toStored(report);
    notice = describeRetention(stored);
    if (notice !== undefined || before !== undefined) options.onNotice(notice);
    files.report.write(stored);
  }

  async function enforce(): Promise<void> {
    await followClock();
    found(await retention.run());
  }

  /** @returns whether the clock's state has changed */
  async function followClock(): Promise<boolean> {
    const { state } = clock.check(await options.readEngineMs());
    if (state === known) return false;
    await options.onClockChange();
    known = state;
    return true;
  }

  async function noteClock(): Promise<void> {
    files.clock.write({ seen_ms: clock.last().plausibleMs });
  }

  async function watch(): Promise<void> {
    if (await followClock()) found(await retention.run());
    else if (options.sources() !== knownSources) found(await retention.review()); // events may be hidden now: say so; the hourly run deletes
    knownSources = options.sources();
    await takeConfirmation();
    if (turns++ % NOTE_EVERY_TURNS === 0) await noteClock();
  }

  /** That the file goes says to the command, which waits for it, that the report is up to date. */
  async function takeConfirmation(): Promise<void> {
    const confirmation = files.confirmation.read();
    if (confirmation === undefined) return;
    try {
      options.onConfirmed(await retention.confirm(confirmation));
      await enforce();
      await noteClock();
    } finally {
      files.confirmation.remove();
    }
  }

  const running = setInterval(() => void inTurn(enforce), RUN_EVERY_MS);
  const watching = setInterval(() => void inTurn(watch), WATCH_EVERY_MS);
  for (const timer of [running, watching]) timer.unref(); // a service that could not start must not be kept alive by them
  return {
    run: () => inTurn(enforce),
    watch: () => inTurn(watch),
    notice: () => notice,
    async stop() {
      clearInterval(running);
      clearInterval(watching);
      await inTurn(noteClock);
    },
  };
}
