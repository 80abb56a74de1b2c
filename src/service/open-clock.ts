import type { Config } from '../config/config.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readStoreState } from '../engine/store-state.ts';
import { isKept, tableNames } from '../engine/table.ts';
import { type ClockGuard, createClockGuard } from '../lib/clock-guard.ts';
import { clockFile } from '../retention/file.ts';

const HOUR_MS = 3_600_000;

/**
 * Compares the clock with the last time that the store was open or, if that is unknown, with the newest event. Writes that
 * time at once: with a wrong clock, the newest event may have a wrong time at the next start.
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
    // A full disk must not prevent reading; the service writes it again every minute, and logs failures.
  }
  return clock;
}

async function findNewest(engine: Engine, sources: readonly Source[]): Promise<number | undefined> {
  const states = await readStoreState(engine, sources.filter(isManaged));
  const times = [...states.values()].flatMap(({ newestMs }) => newestMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Hides events beyond their retention from every query: days are deleted whole, and later than they are due. If the clock has
 * jumped ahead, the expected time counts; otherwise every answer would be empty.
 */
export async function hideOld(engine: Engine, sources: readonly Source[], clock: ClockGuard): Promise<void> {
  await hideOlder(engine, sources, clock.correctedMs());
}

/** Hides events beyond their retention at an instant from every query. @param atMs `undefined`: by the engine's clock */
export async function hideOlder(
  engine: Engine,
  sources: readonly Source[],
  atMs: number | undefined,
): Promise<void> {
  const filters = sources
    .filter(isManaged)
    .flatMap((source) =>
      tableNames(source, engine.cluster).map((name) => [name, isKept(source, atMs)] as const),
    );
  await engine.setReadFilters(new Map(filters));
}
