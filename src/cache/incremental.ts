import type { Bucket } from '../definitions/bucket.ts';
import { type Endpoint, isAdHoc } from '../definitions/endpoint.ts';
import { isManaged } from '../definitions/source.ts';
import type { WriteMarks, WriteVersion } from '../engine/write-marks.ts';
import { MICROS_PER_MS, MICROS_PER_SECOND, type Micros, parseInstant } from '../lib/instant.ts';
import { type Buckets, bucketStart, findBuckets, findHidden, type TimeRange } from '../query/bucket-range.ts';
import { type Framing, joinRows, rowAt } from '../query/format.ts';
import type { Question } from '../query/question.ts';
import type { Answer, Run, RunOptions } from '../query/run.ts';
import { planRefresh } from './bucket-plan.ts';

/** `incremental`: some time buckets were computed again; `full`: all of them. */
export type RefreshExtent = 'incremental' | 'full';

export interface IncrementalOptions {
  readonly run: Run;
  readonly writes: WriteMarks;
  /** See `Engine.seesEveryWrite`. */
  readonly seesEveryWrite: boolean;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The clock by which the engine hides old events from answers, ms since the epoch; tests set only `now`. */
  readonly engineNow: () => number;
  /** Called when a kept answer of an endpoint with time buckets was replaced. */
  readonly onExtent: (endpoint: Endpoint, extent: RefreshExtent) => void;
}

/** Computes the present answer, from as much of the kept answer as is still valid. Without one everything is computed. */
export type Refresh = (question: Question, kept: Answer | undefined, options: RunOptions) => Promise<Answer>;

/** The state at the time an answer was computed. */
interface Basis {
  /** Version of the store before the first of its queries. */
  readonly version: WriteVersion;
  /** Retention may have hidden events up to here. */
  readonly lostUntil: Micros;
}

/** A question and all that a refresh of its answer needs. */
interface Task {
  readonly question: Question;
  readonly bucket: Bucket;
  readonly kept: Answer;
  readonly basis: Basis;
  readonly instantMs: number;
  readonly buckets: Buckets;
  readonly options: RunOptions;
}

// Rows are parsed one by one, on the thread that serves requests.
const ROWS_MAX = 10_000;

/**
 * Computes only the time buckets of a kept answer that can have changed (docs/time-buckets.md states what an endpoint with buckets
 * guarantees). The result is byte for byte what one query of everything would have returned; of events that arrive meanwhile, each
 * range has those that were stored before its query, and the next refresh the rest.
 */
export function createRefresh(options: IncrementalOptions): Refresh {
  const { run, writes, now, onExtent } = options;
  const bases = new WeakMap<Answer, Basis>();

  async function runAll(question: Question, runOptions: RunOptions): Promise<Answer> {
    const { version } = writes;
    const answer = await run(question, runOptions);
    const { bucket } = question.endpoint;
    if (bucket !== undefined)
      bases.set(answer, { version, lostUntil: findHidden(bucket, options.engineNow()) });
    return answer;
  }

  /** `undefined` if the kept answer is of no use. */
  async function runParts(task: Task): Promise<Answer | undefined> {
    const { question, bucket, kept, basis, instantMs, buckets } = task;
    const { endpoint, format } = question;
    const { framing } = format;
    if (framing === undefined) return undefined; // rows cannot be taken out of a file
    const { version } = writes;
    const ranges = plan(task, options);
    const rules = { framing, column: bucket.column, buckets, rowsMax: Math.min(endpoint.maxRows, ROWS_MAX) };
    const keptRows = ranges && readRows(kept, rules);
    if (ranges === undefined || keptRows === undefined) return undefined;
    const rows = keptRows.filter(
      (row) => row.bucket >= buckets.first && !ranges.some((range) => isWithin(row, range)),
    );
    let engineMs = 0;
    for (const range of ranges) {
      const answer = await runPart(run, task, range);
      const partRows = readRows(answer, { ...rules, rowsMax: endpoint.maxRows });
      if (partRows?.every((row) => isWithin(row, range)) !== true) return undefined;
      rows.push(...partRows);
      engineMs += answer.engineMs;
    }
    if (rows.length > endpoint.maxRows) return undefined;
    rows.sort((a, b) => a.bucket - b.bucket); // stable: those of one bucket stay in their order
    const body = joinRows(
      framing,
      rows.map(({ row }) => row),
    );
    const answer = { ...body, format, instantMs, engineMs };
    bases.set(answer, {
      version,
      lostUntil: Math.max(basis.lostUntil, findHidden(bucket, options.engineNow())),
    });
    return answer;
  }

  return async (question, kept, runOptions) => {
    const { endpoint, values } = question;
    const { bucket } = endpoint;
    if (bucket === undefined || kept === undefined || isAdHoc(endpoint))
      return await runAll(question, runOptions);
    const basis = bases.get(kept);
    const instantMs = now();
    const buckets = findBuckets(bucket, values, instantMs);
    const task = { question, bucket, kept, instantMs, buckets, options: runOptions };
    const answer = basis && (await runParts({ ...task, basis }));
    const refreshed = answer ?? (await runAll(question, runOptions));
    onExtent(endpoint, answer === undefined ? 'full' : 'incremental');
    return refreshed;
  };
}

/** Returns the parts to compute again; `undefined` if that is everything. */
function plan(
  { bucket, kept, basis, instantMs, buckets }: Task,
  options: IncrementalOptions,
): TimeRange[] | undefined {
  const { writes } = options;
  const seesEveryWrite = options.seesEveryWrite && bucket.sources.every(isManaged);
  if (!seesEveryWrite && bucket.latenessSeconds === undefined) return undefined;
  const changed = bucket.sources.map(({ table }) => writes.changedMinutes(table, basis.version));
  if (changed.includes(undefined)) return undefined;
  const keptNow = kept.instantMs * MICROS_PER_MS;
  return planRefresh({
    buckets,
    now: instantMs * MICROS_PER_MS,
    keptNow,
    unseenFrom: seesEveryWrite ? keptNow : keptNow - (bucket.latenessSeconds ?? 0) * MICROS_PER_SECOND,
    lostUntil: Math.max(basis.lostUntil, findHidden(bucket, options.engineNow())),
    changed: changed.filter((set) => set !== undefined),
  });
}

/** Runs one query; its first time bucket is cut at the start of the answer's range. */
function runPart(run: Run, { question, instantMs, buckets, options }: Task, range: TimeRange) {
  const cut = { from: Math.max(range.from, buckets.from), until: range.until };
  return run(question, { ...options, part: { range: cut, instantMs } });
}

/** The text of a row and the start of its time bucket. */
interface BucketRow {
  readonly bucket: Micros;
  readonly row: Buffer;
}

/** The range in which the rows of an answer have to lie. */
interface RowRules {
  readonly framing: Framing;
  /** The column with the start of the row's time bucket. */
  readonly column: string;
  readonly buckets: Buckets;
  /** An answer with so many rows may have been cut. */
  readonly rowsMax: number;
}

/** Splits an answer into rows; `undefined` unless it has all, in the order of time buckets, each at the start of one. */
function readRows(answer: Answer, rules: RowRules): readonly BucketRow[] | undefined {
  const { framing, column, buckets, rowsMax } = rules;
  if (answer.rows >= rowsMax) return undefined;
  const rows: BucketRow[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < answer.rows; i++) {
    const row = rowAt(framing, answer, i);
    const bucket = readBucket((JSON.parse(row.toString()) as Record<string, unknown>)[column]);
    const isInOrder = bucket !== undefined && bucket >= last && bucketStart(bucket, buckets.width) === bucket;
    if (!isInOrder) return undefined;
    rows.push({ bucket, row });
    last = bucket;
  }
  return rows;
}

function isWithin({ bucket }: BucketRow, { from, until }: TimeRange): boolean {
  return bucket >= from && bucket < until;
}

function readBucket(value: unknown): Micros | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === 'string' ? parseInstant(value) : undefined;
}
