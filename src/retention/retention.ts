import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readDays, type StoredDay } from '../engine/store-state.ts';
import { dropDay, storedTable } from '../engine/table.ts';
import type { ClockGuard } from '../lib/clock-guard.ts';
import type { Confirmation, DropReason, DueDays, RetentionReport } from './file.ts';
import { planRetention } from './plan.ts';

export interface DroppedDay extends StoredDay {
  readonly reason: DropReason;
}

export interface RetentionOptions {
  readonly engine: Engine;
  readonly sources: () => readonly Source[];
  readonly clock: ClockGuard;
  /** See `PlanInput`. */
  readonly storeBytesMax: number;
  readonly dropPercentMax: number;
  readonly freeDaysMax: number;
  /** The bound that the last run of an earlier process enforced; 0 for none. */
  readonly storeBytesMaxBefore: number;
  /** Called before days are deleted; see `Reserve.free`. */
  readonly makeRoom: () => Promise<void>;
  /** Called after each day is deleted, oldest first. */
  readonly onDropped: (day: DroppedDay) => void;
}

export interface Retention {
  /** Reports what is due now; deletes nothing. */
  review(): Promise<RetentionReport>;
  /** Deletes what is due and not held; reports what is held. */
  run(): Promise<RetentionReport>;
  /**
   * Applies a confirmation, then runs.
   *
   * @returns whether it covered the clock and all held days
   */
  confirm(confirmation: Confirmation): Promise<boolean>;
}

// The offset of a running clock stays the same; a restarted service may have measured it minutes later.
const SAME_OFFSET_MS = 3_600_000;

/** Deletes whole days, unless the clock has jumped ahead or too much would be deleted at once: then an operator has to confirm. */
export function createRetention(options: RetentionOptions): Retention {
  const { engine, sources, clock, storeBytesMax, onDropped } = options;
  const confirmed = new Set<string>();
  let storeBytesMaxBefore = options.storeBytesMaxBefore;

  async function review(): Promise<RetentionReport> {
    const reading = clock.last();
    const due = planRetention({
      ...options,
      days: await readDays(engine),
      sources: sources(),
      cluster: engine.cluster,
      clock: reading,
      storeBytesMaxBefore,
      isConfirmed: (day) => confirmed.has(nameOf(day)),
    });
    const isBoundHeld = due.some(({ reason, held }) => reason === 'size' && held !== undefined);
    return { clock: reading, due, storeBytesMax: isBoundHeld ? storeBytesMaxBefore : storeBytesMax };
  }

  async function run(): Promise<RetentionReport> {
    const report = await review();
    const byTable = new Map(sources().map((source) => [storedTable(source, engine.cluster), source]));
    const dropped = listDropped(report.due);
    if (dropped.length > 0) await options.makeRoom();
    for (const day of dropped) {
      const source = byTable.get(day.table);
      if (source === undefined) continue; // the definitions have changed meanwhile
      await engine.command(dropDay(source, day.day, engine.cluster));
      onDropped(day);
    }
    storeBytesMaxBefore = report.storeBytesMax;
    return { ...report, due: report.due.filter(({ held }) => held !== undefined) };
  }

  return {
    review,
    run,
    async confirm({ clockOffsetMs, days }) {
      const { state, clockMs, plausibleMs } = clock.last();
      const isSeen =
        clockOffsetMs !== undefined && Math.abs(clockMs - plausibleMs - clockOffsetMs) < SAME_OFFSET_MS;
      if (state !== 'plausible' && isSeen) clock.accept();
      for (const day of days) confirmed.add(nameOf(day));
      const { due, clock: reading } = await run();
      return reading.state !== 'ahead' && due.length === 0;
    },
  };
}

function nameOf({ table, day }: Pick<StoredDay, 'table' | 'day'>): string {
  return `${table} ${day}`;
}

/** By age before by size, each oldest first. */
function listDropped(due: readonly DueDays[]): DroppedDay[] {
  const list = (reason: DropReason) =>
    due
      .filter((one) => one.reason === reason && one.held === undefined)
      .flatMap(({ days }) => days.map((day) => ({ ...day, reason })))
      .toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  return [...list('age'), ...list('size')];
}
