import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readDays, type StoredDay } from '../engine/store-state.ts';
import { quote } from '../sql/quote.ts';

export interface DroppedDay extends StoredDay {
  readonly reason: 'age' | 'size';
}

export interface RetentionOptions {
  readonly engine: Engine;
  readonly sources: () => readonly Source[];
  /** ms since the epoch. */
  readonly now: () => number;
  /** Most disk that all events together may take; 0 for no bound. */
  readonly storeBytesMax: number;
  /** Told of each day when it is gone, oldest first. */
  readonly onDropped: (day: DroppedDay) => void;
}

const DAY_MS = 86_400_000;

/**
 * Drops whole days: those that lie wholly beyond their source's retention, then, while the store is larger than it may be,
 * the oldest day of all. Today stays, whatever its size, since dropping it would lose what has just been acknowledged.
 * Tables that belong to no source are left alone and do not count: whoever took a source away decides about its events.
 */
export async function enforceRetention(options: RetentionOptions): Promise<void> {
  const { engine, sources, now, storeBytesMax, onDropped } = options;
  const retention = new Map(sources().map((source) => [source.table, source.retentionDays]));
  const days = (await readDays(engine)).filter(({ table }) => retention.has(table));
  const isOld = ({ table, day }: StoredDay) =>
    Date.parse(day) + DAY_MS <= now() - (retention.get(table) ?? Number.POSITIVE_INFINITY) * DAY_MS;
  const old = days.filter(isOld).map((day) => ({ ...day, reason: 'age' as const }));
  const left = days.filter((day) => !isOld(day));
  for (const dropped of [...old, ...beyondSize(left, storeBytesMax, now())]) {
    await engine.command(`ALTER TABLE \`${dropped.table}\` DROP PARTITION ${quote(dropped.day)}`);
    onDropped(dropped);
  }
}

function beyondSize(days: readonly StoredDay[], bytesMax: number, nowMs: number): DroppedDay[] {
  if (bytesMax === 0) return [];
  const today = new Date(nowMs).toISOString().slice(0, 10);
  let bytes = days.reduce((sum, day) => sum + day.bytes, 0);
  const dropped: DroppedDay[] = [];
  for (const day of days) {
    if (bytes <= bytesMax || day.day >= today) break;
    bytes -= day.bytes;
    dropped.push({ ...day, reason: 'size' });
  }
  return dropped;
}
