import type { Config } from './config/config.ts';
import { isManaged, type Source } from './definitions/source.ts';
import type { Engine } from './engine/engine.ts';
import { readStoreState } from './engine/store-state.ts';
import { isKept, tableNames } from './engine/table.ts';
import { clockFile } from './ingest/retention-file.ts';
import { type ClockGuard, createClockGuard } from './lib/clock-guard.ts';

const HOUR_MS = 3_600_000;

/**
 * Holds the clock against the last time that the store was open, or, where nobody has noted it, against the newest event. What
 * it is held against is noted at once: with a clock that is wrong, the newest event may be of a wrong time at the next start.
 */
export async function openClock(
  engine: Engine,
  sources: readonly Source[],
  options: Pick<Config, 'dataDir' | 'clockJumpHoursMax'> & { now: () => number },
): Promise<ClockGuard> {
  const file = clockFile(options.dataDir);
  const clock = createClockGuard({
    now: options.now,
    ticks: () => performance.now(),
    seenMs: file.read()?.seen_ms ?? (await findNewest(engine, sources)),
    jumpMsMax: options.clockJumpHoursMax * HOUR_MS,
  });
  try {
    file.write({ seen_ms: clock.last().plausibleMs });
  } catch {
    // A full disk keeps nobody from reading; the service notes it again every minute, and logs why it cannot.
  }
  return clock;
}

async function findNewest(engine: Engine, sources: readonly Source[]): Promise<number | undefined> {
  const states = await readStoreState(engine, sources.filter(isManaged));
  const times = [...states.values()].flatMap(({ newestMs }) => newestMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Days leave as a whole, and some time after they might: until then this keeps their old events from every answer. While the
 * clock has jumped ahead they are judged by the time that it should show, or every answer would be empty.
 */
export async function hideOld(engine: Engine, sources: readonly Source[], clock: ClockGuard): Promise<void> {
  const { state, plausibleMs } = clock.last();
  const atMs = state === 'ahead' ? plausibleMs : undefined;
  const filters = sources
    .filter(isManaged)
    .flatMap((source) =>
      tableNames(source, engine.cluster).map((name) => [name, isKept(source, atMs)] as const),
    );
  await engine.setReadFilters(new Map(filters));
}
