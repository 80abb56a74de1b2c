import { rmSync } from 'node:fs';
import { type BenchData, inTemporaryFolder, withLinkedCopy } from '../data.ts';
import type { ExportJob } from '../export-process.ts';
import { runChild } from '../load.ts';
import type { Question } from '../questions.ts';
import { say } from '../report.ts';

/** A row of an answer; numbers are numbers, `metadata` is in the rival's format. */
export type AnswerRow = Readonly<Record<string, unknown>>;

export interface RivalAnswer {
  /** Until the whole answer was there. */
  readonly ms: number;
  /** Its rows, decoded only when they are read, as ours are. */
  rows(): readonly AnswerRow[];
}

/** Another engine with the same events, for the same questions. */
export interface Rival {
  /** With its version. */
  readonly name: string;
  /** Queries at an instant, ms. */
  ask(question: Question, nowMs: number): Promise<RivalAnswer>;
  close(): Promise<void>;
}

/** Loads the events, into a folder if it has no other. @throws Unmeasured if the engine is not available */
export type OpenRival = (data: BenchData, folder: string) => Promise<Rival>;

const EXPORT_MS_MAX = 3_600_000;

/** Exports the rows of a table to `load`, a file for each day, oldest first; one day is on the disk at a time. */
export async function exportDays(
  data: BenchData,
  what: Omit<ExportJob, 'dataDir' | 'folder' | 'nth'>,
  load: (file: string) => Promise<unknown>,
): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    await withLinkedCopy(data, async ({ dataDir }) => {
      for (let nth = 0; ; nth++) {
        const job = { ...what, dataDir, folder, nth };
        const file = await runChild<ExportJob, string>('export-process.ts', job, EXPORT_MS_MAX);
        if (file === '') return;
        await load(file);
        rmSync(file);
        say(`${what.table}: day ${nth + 1} is loaded`);
      }
    });
  });
}

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

// Endpoint and interval or tier → [bucket, range] in seconds, as the benchmark uses them.
const WINDOWS: Readonly<Record<string, readonly [number, number]>> = {
  'functions.invocation-stats 1day': [HOUR_S, DAY_S],
  'functions.invocation-stats 7day': [DAY_S, 7 * DAY_S],
  'logs.all PRO': [0, 7 * DAY_S],
  'usage.api-counts hourly': [HOUR_S, HOUR_S],
  'usage.api-counts daily': [DAY_S, 7 * DAY_S],
};

/** The range as the endpoint defines it: whole buckets for statistics (spec 4.1 rule 2), the instant itself for the others. */
export function windowOf({ endpoint, parameters }: Question, nowMs: number) {
  const selected = parameters['interval'] ?? parameters['project_tier'] ?? '';
  const [bucketSeconds = 0, rangeSeconds = 0] = WINDOWS[`${endpoint} ${selected}`] ?? [];
  const sinceMs = nowMs - rangeSeconds * 1_000;
  const cut = endpoint === 'functions.invocation-stats' ? sinceMs % (bucketSeconds * 1_000) : 0;
  return { since: new Date(sinceMs - cut).toISOString().replace('Z', ''), bucketSeconds };
}

// An approximate percentile is off by ranks, not by a share of its value: of 1,000 values with a long tail ten lie above the p99,
// of 10,000 a hundred do.
const PERCENTILE_ROWS_MIN = 10_000;
const PERCENTILE_BOUND = 0.1;
const MEAN_BOUND = 1e-9;

/**
 * The difference of a rival's answer to the same question; `undefined` if there is none. All columns of all rows are
 * compared except `metadata`, which JSONB reorders. Means may differ by rounding. Percentiles are approximate in
 * some engines: of ten thousand values or more they may differ by a tenth.
 */
export function findDifference(ours: readonly AnswerRow[], theirs: readonly AnswerRow[]): string | undefined {
  if (ours.length !== theirs.length) return `${ours.length} rows, the other has ${theirs.length}`;
  for (const [i, row] of ours.entries()) {
    for (const [column, value] of Object.entries(row)) {
      const other = theirs[i]?.[column];
      if (!isSame(value, other, boundOf(column, row)))
        return `row ${i + 1}, ${column}: ${JSON.stringify(value)}, the other has ${JSON.stringify(other)}`;
    }
  }
  return undefined;
}

function isSame(value: unknown, other: unknown, bound: number): boolean {
  if (bound === Number.POSITIVE_INFINITY) return true;
  if (bound === 0 || typeof value !== 'number' || typeof other !== 'number') return value === other;
  return Math.abs(value - other) <= bound * Math.abs(value);
}

function boundOf(column: string, row: AnswerRow): number {
  if (column === 'metadata') return Number.POSITIVE_INFINITY;
  if (column.startsWith('avg_')) return MEAN_BOUND;
  if (!/^p\d\d_/.test(column)) return 0;
  return Number(row['count']) < PERCENTILE_ROWS_MIN ? Number.POSITIVE_INFINITY : PERCENTILE_BOUND;
}
