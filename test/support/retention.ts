import type { Source } from '../../src/definitions/source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createClockGuard } from '../../src/lib/clock-guard.ts';
import { createRetention, type DroppedDay, type RetentionOptions } from '../../src/retention/retention.ts';

interface Options extends Partial<RetentionOptions> {
  readonly engine: Engine;
  readonly sources: () => readonly Source[];
  /** ms since the epoch. */
  readonly now: number;
  /** When the store was last open; just now unless given. */
  readonly seenMs?: number;
  readonly onDropped?: (day: DroppedDay) => void;
}

const DAY_MS = 86_400_000;

/** Retention with the guard of the settings' defaults, by a clock that stands still. */
export function createTestRetention({ now, seenMs = now, ...options }: Options) {
  const clock = createClockGuard({ now: () => now, ticks: () => 0, seenMs, jumpMsMax: DAY_MS });
  const retention = createRetention({
    clock,
    storeBytesMax: 0,
    storeBytesMaxBefore: 0,
    dropPercentMax: 25,
    freeDaysMax: 2,
    makeRoom: async () => {},
    onDropped: () => {},
    ...options,
  });
  return { retention, clock };
}
