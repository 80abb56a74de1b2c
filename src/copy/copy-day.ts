import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../engine/engine.ts';
import { columnNames, dropDay } from '../engine/table.ts';
import { InputError } from '../errors.ts';
import { sql } from '../sql/sql.ts';
import { findChunkEnd, isUpTo, readChunk, type SortPosition } from './chunk.ts';
import { add, type Digest, isSame, NO_ROWS, readDigest } from './digest.ts';
import type { DayEntry, Journal } from './journal.ts';
import { copyAgain, type DayPlan } from './plan.ts';

export interface CopyJob {
  /** The source. */
  readonly here: Engine;
  /** The target. */
  readonly there: Engine;
  readonly journal: Journal;
  /** Whether a day may be copied although the target has events of it from elsewhere. */
  readonly mixes: boolean;
  readonly chunkRowsMax: number;
  /** A unique name for each attempt to copy a day. */
  readonly newId: () => string;
  /** Called between chunks; an error that it throws ends the copy, and the next run continues there. */
  readonly check: () => void;
  /** Called with the number of rows that the target has just acknowledged. */
  readonly onRows: (rows: number) => void;
}

/** The day of one source that is being copied. */
interface Day {
  readonly job: CopyJob;
  readonly plan: DayPlan;
}

// Bytes in memory: few for an engine, and far below the size at which the server would split an insert.
const CHUNK_BYTES_MAX = 32 * 1024 * 1024;

// On a cluster, the responding replica may not have replicated the last rows yet.
const REPLICA_WAIT_MS = 1_000;
const REPLICA_WAITS_MAX = 60;

/**
 * Copies one day, or the rest of it, and compares both sides.
 *
 * A run that is killed can be repeated: the journal has the chunks that the target acknowledged, so at most one more is stored.
 * That one is found by comparing digests; if it arrives even later, it has the deduplication token of the chunk that is then
 * sent again, and is not stored twice.
 *
 * @throws InputError if events from elsewhere prevent it, or the sides differ in the end; errors of the engines
 */
export async function copyDay(job: CopyJob, plan: DayPlan): Promise<void> {
  const { source, day } = plan;
  const here = await digestOf({ job, plan }, job.here);
  const entry = plan.step === 'copy' ? await begin({ job, plan }, here) : job.journal.find(source.table, day);
  if (entry === undefined) throw new Error(`${source.name} ${day} should continue, but was never begun`);
  if (!isSame(entry.here, here))
    throw new InputError([`${source.name} ${day}: its events here have changed since it was copied`]);
  if (!entry.verified) await sendChunks({ job, plan }, await findEnd({ job, plan }, entry), entry);
  await compare({ job, plan }, entry);
  job.journal.verify(source.table, day);
}

async function begin({ job, plan }: Day, here: Digest): Promise<DayEntry> {
  const { source, day } = plan;
  const before = await digestOf({ job, plan }, job.there);
  // The plan checked it, but hours may have passed.
  if (before.rows > 0 && !job.mixes)
    throw new InputError([
      `${source.name} ${day}: the target has received events of it from elsewhere meanwhile`,
    ]);
  const entry = { generation: job.newId(), here, before, chunkRowsMax: job.chunkRowsMax };
  job.journal.begin(source.table, day, entry);
  return { ...entry, verified: false, chunks: 0, end: undefined };
}

/** Finds the end of the target's chunks, which may be one more than in the journal. */
async function findEnd({ job, plan }: Day, entry: DayEntry): Promise<Position> {
  const { source, day } = plan;
  const known = { chunks: entry.chunks, end: entry.end };
  if (plan.step !== 'continue') return known;
  const upTo = (end: SortPosition | undefined) =>
    end === undefined ? NO_ROWS : digestOf({ job, plan }, job.here, isUpTo(end));
  const sent = await upTo(entry.end);
  job.onRows(sent.rows);
  const bounds = { rowsMax: entry.chunkRowsMax, bytesMax: CHUNK_BYTES_MAX };
  const end = await findChunkEnd(job.here, source, { day, after: entry.end, bounds });
  if (end === undefined) return known;
  const next = await upTo(end);
  const found = await digestOf({ job, plan }, job.there);
  if (!isSame(found, add(entry.before, next))) return known;
  job.onRows(next.rows - sent.rows);
  job.journal.advance(source.table, day, entry.chunks + 1, end);
  return { chunks: entry.chunks + 1, end };
}

interface Position {
  readonly chunks: number;
  readonly end: SortPosition | undefined;
}

async function sendChunks({ job, plan }: Day, from: Position, entry: DayEntry): Promise<void> {
  const { here, there, journal } = job;
  const { source, day } = plan;
  const bounds = { rowsMax: entry.chunkRowsMax, bytesMax: CHUNK_BYTES_MAX };
  let { chunks, end } = from;
  for (;;) {
    job.check();
    const next = await findChunkEnd(here, source, { day, after: end, bounds });
    if (next === undefined) return;
    const { rows, bytes } = await readChunk(here, source, { day, after: end, upTo: next });
    await there.insert({
      table: source.table,
      columns: columnNames(source),
      format: 'TabSeparated',
      bytes,
      token: `copy ${entry.generation} ${chunks}`,
    });
    chunks++;
    end = next;
    journal.advance(source.table, day, chunks, end);
    job.onRows(rows);
  }
}

/** @throws InputError if the target does not hold exactly its earlier rows and those of the source */
async function compare({ job, plan }: Day, entry: DayEntry): Promise<void> {
  const { source, day } = plan;
  const expected = add(entry.before, entry.here);
  let found = await digestOf({ job, plan }, job.there);
  for (let i = 0; job.there.cluster !== '' && found.rows < expected.rows && i < REPLICA_WAITS_MAX; i++) {
    await wait(REPLICA_WAIT_MS);
    found = await digestOf({ job, plan }, job.there);
  }
  if (isSame(found, expected)) return;
  const { rows } = expected;
  const what = found.rows === rows ? 'some of them differ' : `it should hold ${rows}, as counted here`;
  const remedy =
    entry.before.rows === 0
      ? copyAgain(dropDay(source, day, job.there.cluster))
      : '; did it receive events of that day from elsewhere meanwhile?';
  throw new InputError([`${source.name} ${day}: the target holds ${found.rows} rows, and ${what}${remedy}`]);
}

async function digestOf({ job, plan }: Day, engine: Engine, where = sql`true`): Promise<Digest> {
  const { source, day, rows, bytes } = plan;
  return await readDigest(engine, source, { day, where, rows, bytes, check: job.check });
}
