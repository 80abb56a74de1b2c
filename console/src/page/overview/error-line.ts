import type { Row } from '../../api/answer.ts';
import { type Search, searchPath } from '../explore/search/search.ts';

/** Events with at least the level error. */
export const ERRORS = 'level:>=error';

const HOUR_MS = 3_600_000;
/** As many series as a histogram has at most. */
const SOURCES_MAX = '50';
const SHOWN_MAX = 10;

export interface ErrorLine {
  readonly source: string;
  /** Of the last hour. */
  readonly errors: number;
  readonly events: number;
  /** Errors of the hour before. */
  readonly before: number;
}

/** The path of the events by source, of the last hour and the one before. @param q which events count */
export function countsPath(q: string, nowMs: number): string {
  const search: Pick<Search, 'q' | 'source' | 'project'> = { q, source: [], project: '' };
  const range = { fromMs: nowMs - 2 * HOUR_MS, untilMs: nowMs };
  return searchPath(search, range, { part: 'histogram', by: 'source', buckets: '2', top: SOURCES_MAX });
}

/** Returns the sources with errors, most errors first. @param nowMs that of the paths whose rows these are */
export function toErrorLines(all: readonly Row[], errors: readonly Row[], nowMs: number): ErrorLine[] {
  const startOfHour = (nowMs - HOUR_MS) * 1_000;
  const count = (rows: readonly Row[], source: unknown, isLast: boolean) =>
    rows
      .filter((row) => row['source'] === source && Number(row['timestamp']) >= startOfHour === isLast)
      .reduce((sum, row) => sum + Number(row['count']), 0);
  const sources = new Set(errors.filter(({ other }) => other !== true).map((row) => row['source']));
  return [...sources]
    .map((source) => ({
      source: String(source),
      errors: count(errors, source, true),
      events: count(all, source, true),
      before: count(errors, source, false),
    }))
    .filter((line) => line.errors > 0)
    .sort((a, b) => b.errors - a.errors || (a.source < b.source ? -1 : 1))
    .slice(0, SHOWN_MAX);
}
