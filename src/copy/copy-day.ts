import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../engine/engine.ts';
import { columnNames, dropDay } from '../engine/table.ts';
import { InputError } from '../errors.ts';
import { findChunkEnd, isUpTo, type Place, readChunk } from './chunk.ts';
import { add, type Digest, isSame, NO_ROWS, readDigest } from './digest.ts';
import type { DayEntry, Journal } from './journal.ts';
import type { DayPlan } from './plan.ts';

export interface CopyJob {
  /** Where the events are, without read filters: rows that queries do not see any more are counted like the others. */
  readonly here: Engine;
  readonly there: Engine;
  readonly journal: Journal;
  /** Whether days may be copied to where others have stored events. */
  readonly mixes: boolean;
  readonly chunkRowsMax: number;
  /** Makes the name of a beginning, never the same twice. */
  readonly newId: () => string;
  /** Called between parts of the work; what it throws ends it, and the next run goes on from there. */
  readonly check: () => void;
  /** Rows that the target has acknowledged just now. */
  readonly onRows: (rows: number) => void;
}

/** The day of one source that is being copied. */
interface Day {
  readonly job: CopyJob;
  readonly plan: DayPlan;
}

// Of the rows in memory: small beside what an engine may take, and far below the size at which the server would part an insert.
const CHUNK_BYTES_MAX = 32 * 1024 * 1024;

// On a cluster a replica may answer that has not got the last rows from the others yet.
const REPLICA_WAIT_MS = 1_000;
const REPLICA_WAITS_MAX = 60;

/**
 * Copies one day, or what is left of it, and compares both sides.
 *
 * Whatever ends the process, the next run comes to the same rows: the journal knows the chunks that the target has
 * acknowledged, so one alone may be there without being in it. That one is found by comparing digests; should it arrive even
 * later, it has the token of the chunk that is then sent, and is not stored again.
 *
 * @throws InputError when others' events are in the way, or the sides differ in the end; the engines' errors
 */
export async function copyDay(job: CopyJob, plan: DayPlan): Promise<void> {
  const { source, day } = plan;
  const here = await digestOf({ job, plan }, job.here);
  const entry = plan.step === 'copy' ? await begin({ job, plan }, here) : job.journal.find(source.table, day);
  if (entry === undefined) throw new Error(`${source.name} ${day} is planned to go on, and was never begun`);
  if (!isSame(entry.here, here))
    throw new InputError([`${source.name} ${day}: it holds other events here than when it was copied`]);
  if (!entry.verified) await sendChunks({ job, plan }, await findEnd({ job, plan }, entry), entry);
  await compare({ job, plan }, entry);
  job.journal.verify(source.table, day);
}

async function begin({ job, plan }: Day, here: Digest): Promise<DayEntry> {
  const { source, day } = plan;
  const before = await digestOf({ job, plan }, job.there);
  // Looked at for the plan already, but hours may have passed.
  if (before.rows > 0 && !job.mixes)
    throw new InputError([`${source.name} ${day}: others have begun to store events of it at the target`]);
  const entry = { generation: job.newId(), here, before, chunkRowsMax: job.chunkRowsMax };
  job.journal.begin(source.table, day, entry);
  return { ...entry, verified: false, chunks: 0, end: undefined };
}

/** Where the chunks end that the target has, which may be one more than the journal knows. */
async function findEnd({ job, plan }: Day, entry: DayEntry): Promise<Position> {
  const { source, day } = plan;
  const known = { chunks: entry.chunks, end: entry.end };
  if (plan.step !== 'continue') return known;
  const upTo = (end: Place | undefined) =>
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
  readonly end: Place | undefined;
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

/** @throws InputError when the target does not hold exactly what it held before, and what is here */
async function compare({ job, plan }: Day, entry: DayEntry): Promise<void> {
  const { source, day } = plan;
  const expected = add(entry.before, entry.here);
  let found = await digestOf({ job, plan }, job.there);
  for (let i = 0; job.there.cluster !== '' && found.rows < expected.rows && i < REPLICA_WAITS_MAX; i++) {
    await wait(REPLICA_WAIT_MS);
    found = await digestOf({ job, plan }, job.there);
  }
  if (isSame(found, expected)) return;
  const what =
    found.rows === expected.rows
      ? 'some of them are others'
      : `it should hold ${expected.rows}, as counted here`;
  const how =
    entry.before.rows === 0
      ? `; to copy it anew, take it away there first: ${dropDay(source, day, job.there.cluster)}`
      : '; were others storing events of that day meanwhile?';
  throw new InputError([`${source.name} ${day}: the target holds ${found.rows} rows, and ${what}${how}`]);
}

async function digestOf({ job, plan }: Day, engine: Engine, where = 'true'): Promise<Digest> {
  const { source, day, rows, bytes } = plan;
  return await readDigest(engine, source, { day, where, rows, bytes, check: job.check });
}
