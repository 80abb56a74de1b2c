import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readDays, type StoredDay } from '../engine/store-state.ts';
import { dropDay, storedTable } from '../engine/table.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { identifier, join, type Sql, sql } from '../sql/sql.ts';
import type { Deletions } from './deletions.ts';

const DAY_MS = 86_400_000;
// A long weekend without events says nothing about the clock.
const QUIET_DAYS_MAX = 3;
// A clock that is wrong for longer has been reported for a week.
const DOUBTED_DAYS_MAX = 7;

/**
 * The guard against a wrong clock: returns for each stored day the day up to which its age counts, both as days since 1970.
 *
 * Only the clock says that time has passed in which nothing was stored, and a clock may be a hundred days ahead, at the
 * next start as well. So a gap between stored days, or between the last one and the present, counts only once the days
 * after it span as much, or are more than those before it: a clock that is 100 days ahead would have to stay so for 50
 * days, or for the longest retention (a week in a new store). After a month in which the service did not run, deletion
 * goes on a month later; a few old events that somebody loads stop it for a week. Days in the future are ignored:
 * events that got their time from a wrong clock mean nothing once it is right. All that this needs is in the store, so
 * it holds over restarts, for every replica, and for a new data directory.
 */
function findEnds(stored: readonly number[], today: number): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const days = stored.filter((day) => day <= today).toSorted((a, b) => b - a);
  let end = today;
  let later = today;
  let after = 0; // days from `later` to `end`
  for (const [i, day] of days.entries()) {
    const gap = later - day;
    const isAsLong = end - later >= gap || after > Math.max(DOUBTED_DAYS_MAX, days.length - i);
    if (gap > QUIET_DAYS_MAX && !isAsLong) {
      end = day;
      after = 0;
    }
    ends.set(day, end);
    later = day;
    after++;
  }
  return ends;
}

/** A day that has to be deleted. */
export interface DueDay extends StoredDay {
  readonly source: Source;
  /** `age`: all of it is older than its source keeps. `size`: the store is larger than its bound. */
  readonly reason: 'age' | 'size';
}

export interface PlanInput {
  /** The days of all tables, oldest first. */
  readonly days: readonly StoredDay[];
  readonly sources: readonly Source[];
  readonly cluster: string;
  /** ms since the epoch. */
  readonly nowMs: number;
  /** Most disk that all events together may take; 0 for no bound. */
  readonly storeBytesMax: number;
}

/**
 * Finds due days: those wholly beyond the retention of their source, then the oldest of all while the store is larger
 * than its bound. Tables without a source are neither deleted nor counted: the operator who removed the source decides
 * about their events.
 */
export function planRetention({ days, sources, cluster, nowMs, storeBytesMax }: PlanInput) {
  const byTable = new Map(sources.map((source) => [storedTable(source, cluster), source]));
  const all = days.flatMap((day) => {
    const source = byTable.get(day.table);
    return source === undefined ? [] : [{ ...day, source, number: Date.parse(day.day) / DAY_MS }];
  });
  const today = Math.floor(nowMs / DAY_MS);
  const stored = [...new Set(all.map(({ number }) => number))];
  const ends = findEnds(stored, today);
  const isOld = ({ number, source }: (typeof all)[number], end: number) =>
    number + 1 + source.retentionDays <= end;
  const byAge = new Set(all.filter((day) => isOld(day, ends.get(day.number) ?? 0)));
  const held = all.find((day) => isOld(day, today) && !byAge.has(day));

  // Never the newest day, nor today: it has events that have just been acknowledged.
  const keptFrom = Math.min(today, Math.max(...stored));
  const left = all.filter((day) => !byAge.has(day));
  let bytes = left.reduce((sum, day) => sum + day.bytes, 0);
  const bySize: typeof all = [];
  for (const day of storeBytesMax === 0 ? [] : left) {
    if (bytes <= storeBytesMax || day.number >= keptFrom) break;
    bytes -= day.bytes;
    bySize.push(day);
  }

  const certain = Math.min(today, ...ends.values());
  const due: DueDay[] = [
    ...[...byAge].map((day) => ({ ...day, reason: 'age' as const })),
    ...bySize.map((day) => ({ ...day, reason: 'size' as const })),
  ];
  return {
    /** By age before by size, each oldest first. */
    due,
    /** Why days that are due by the clock stay. */
    stopped: held && describeDoubt(nowMs, ends.get(held.number) ?? 0),
    /** The latest time that is certain, ms since the epoch. */
    certainMs: certain === today ? nowMs : (certain + 1) * DAY_MS,
  };
}

/** It names no source: `/ready` needs no key. */
function describeDoubt(nowMs: number, end: number): string {
  const last = new Date(end * DAY_MS).toISOString().slice(0, 10);
  return [
    `retention has stopped: the clock says ${new Date(nowMs).toISOString()}, but no events are stored of the`,
    `days after ${last}, so it may be wrong, and nothing before is deleted for its age. Set the clock right.`,
    'If it is right, retention continues by itself after as many days with events',
  ].join(' ');
}

export interface RetentionOptions extends Pick<PlanInput, 'storeBytesMax'> {
  readonly engine: Engine;
  /** The managed sources. */
  readonly sources: () => readonly Source[];
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** Called before days are deleted; see `Reserve.free`. */
  readonly makeRoom: () => Promise<void>;
  /** Called after each day is deleted. */
  readonly onDropped: (day: DueDay) => void;
  /** Called by each run that finds retention stopped, and with `undefined` by the first one that does not. */
  readonly onStopped: (reason: string | undefined) => void;
}

export type Retention = ReturnType<typeof createRetention>;

/** Deletes whole days, by age and by size, unless the clock may be wrong. */
export function createRetention(options: RetentionOptions) {
  const { engine, sources, now, ticks, storeBytesMax } = options;
  const { cluster } = engine;
  let stopped: string | undefined;
  let certain = { ms: 0, ticks: ticks() };
  return {
    /** Deletes what is due. To be called every hour: days become due at midnight, and a store outgrows its bound slowly. */
    async run(): Promise<void> {
      const days = await readDays(engine);
      const plan = planRetention({ days, sources: sources(), cluster, nowMs: now(), storeBytesMax });
      if (plan.stopped !== undefined || stopped !== undefined) options.onStopped(plan.stopped);
      stopped = plan.stopped;
      certain = { ms: plan.certainMs, ticks: ticks() };
      if (plan.due.length > 0) await options.makeRoom();
      for (const day of plan.due) {
        await engine.command(dropDay(day.source, day.day, cluster));
        options.onDropped(day);
      }
    },
    /** Why the last run has left days that are due by the clock; `undefined` if it has not. */
    stopped: () => stopped,
    /**
     * The latest time that is certain, ms since the epoch: the clock's, unless it has jumped since the last run, or
     * stored days contradict it. Before the first run no time is.
     */
    certainMs: () => Math.min(now(), certain.ms + ticks() - certain.ticks),
  };
}

export interface KeepProjectsOptions {
  readonly engine: Pick<Engine, 'inspect'>;
  readonly sources: () => readonly Source[];
  /** Project → days that its events are kept. */
  readonly days: () => ReadonlyMap<string, number>;
  /** See `createRetention`. */
  readonly certainMs: () => number;
  readonly deletions: Pick<Deletions, 'start'>;
}

/** Returns a task that deletes whole days (UTC) of projects that have a retention, one project after another. */
export function createKeepProjects({ engine, sources, days, certainMs, deletions }: KeepProjectsOptions) {
  return async (): Promise<void> => {
    if (days().size === 0) return;
    const keptFromMs = (keptDays: number) => Math.floor(certainMs() / DAY_MS - keptDays) * DAY_MS;
    const firstMs = new Map([...days()].map(([project, keptDays]) => [project, keptFromMs(keptDays)]));
    const found = new Map<string, Source[]>();
    for (const source of sources().filter(isOfProjects))
      for (const { project } of await engine.inspect(selectOld(source, firstMs)))
        found.set(String(project), [...(found.get(String(project)) ?? []), source]);
    for (const [project, own] of found) {
      const before = (firstMs.get(project) ?? 0) * MICROS_PER_MS;
      const deletion = { project, sources: own, isOfAll: false, leftOut: [], before };
      await (await deletions.start(deletion, { actor: 'retention', address: '' })).done;
    }
  };
}

/** Nothing is deleted from sources that are protected or that Tailrace writes. */
function isOfProjects(source: Source): boolean {
  return isManaged(source) && source.isProtected !== true && source.isInternal !== true;
}

/** Selects the projects that have events before their first instant. @param firstMs project → ms since the epoch */
function selectOld({ table }: Source, firstMs: ReadonlyMap<string, number>): Sql {
  const groups = Map.groupBy(firstMs, ([, ms]) => ms);
  const conditions = [...groups].map(([ms, group]) => {
    const projects = group.map(([project]) => project);
    return sql`project IN (${projects}) AND timestamp < fromUnixTimestamp64Milli(${ms}, 'UTC')`;
  });
  return sql`SELECT DISTINCT project FROM ${identifier(table)} WHERE ${join(conditions, ' OR ')}
      SETTINGS apply_mutations_on_fly = 1`;
}
