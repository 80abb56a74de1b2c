import { enforceRetention, type RetentionOptions } from './retention.ts';

export interface RetentionSchedule {
  /** Enforces retention now; failures are reported, never thrown. */
  run(): Promise<void>;
  /** No further run begins; resolves when the last one has ended. */
  stop(): Promise<void>;
}

export interface ScheduleOptions extends RetentionOptions {
  readonly onError: (error: unknown) => void;
}

// Days leave at midnight, and a store grows past its bound slowly: hourly is often enough.
const EVERY_MS = 3_600_000;

/** Enforces retention once an hour, one run at a time. */
export function scheduleRetention(options: ScheduleOptions): RetentionSchedule {
  let running: Promise<void> | undefined;

  async function enforce(): Promise<void> {
    try {
      await enforceRetention(options);
    } catch (error) {
      options.onError(error);
    }
  }

  function run(): Promise<void> {
    running ??= enforce().finally(() => {
      running = undefined;
    });
    return running;
  }

  const timer = setInterval(() => void run(), EVERY_MS);
  return {
    run,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
