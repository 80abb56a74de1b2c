import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Session } from 'chdb';

/** Work to measure: events parsed, events inserted in batches of 1,000, or counts of the events of a project. */
export interface ReferenceJob {
  readonly work: 'parse' | 'insert' | 'count';
  readonly times: number;
}

/** The mean core time of one of them, of all threads, ms; in the first message that of the start. */
export interface ReferenceCost {
  readonly coreMs: number;
}

const EVENTS = 20_000;
const EVENTS_PER_INSERT = 1_000;
const MICROS_PER_MS = 1_000;
const COLUMNS = ['id', 'timestamp', 'project', 'event_message', 'metadata'] as const;
const COUNT = "SELECT count() FROM bare.events WHERE project = 'aurora'";

const folder = mkdtempSync(join(tmpdir(), 'tailrace-bench-reference-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const session = new Session(folder);
session.query('SELECT 1');
process.send?.({ coreMs: toMs(process.cpuUsage()) } satisfies ReferenceCost);

let events: ReturnType<typeof createEvents> | undefined;

/** The engine's library and `JSON.parse`, without the code and the tables of Tailrace. */
process.on('message', async ({ work, times }: ReferenceJob) => {
  events ??= createEvents();
  const { lines, payloads } = await events;
  const before = process.cpuUsage();
  if (work === 'parse') for (let i = 0; i < times; i++) JSON.parse(lines[i % EVENTS] ?? '');
  if (work === 'insert')
    for (let i = 0; i < times; i += EVENTS_PER_INSERT) {
      const payload = payloads[(i / EVENTS_PER_INSERT) % payloads.length];
      if (payload !== undefined) await insert('bare.inserted', payload);
    }
  if (work === 'count') for (let i = 0; i < times; i++) await session.queryAsync(COUNT);
  process.send?.({ coreMs: toMs(process.cpuUsage(before)) / times } satisfies ReferenceCost);
});
process.once('disconnect', () => process.exit());

/** Creates the events as text and as rows in batches, and a table of them to be counted. */
async function createEvents() {
  const { makeLines, toBatches } = await import('./events.ts'); // not part of the start
  const lines = await makeLines(EVENTS, 1);
  const columns = COLUMNS.map((name) => `${name} String`).join(', ');
  session.query('CREATE DATABASE bare');
  for (const table of ['events', 'inserted'])
    session.query(`CREATE TABLE bare.${table} (${columns}) ENGINE = MergeTree ORDER BY tuple()`);
  session.query('SYSTEM STOP MERGES'); // a merge would count for whatever runs beside it
  const rows = lines.map((line) => {
    const event = JSON.parse(line);
    return JSON.stringify({ ...event, metadata: JSON.stringify(event.metadata) });
  });
  const payloads = toBatches(rows, EVENTS_PER_INSERT);
  for (const payload of payloads) await insert('bare.events', payload);
  return { lines, payloads };
}

async function insert(table: string, values: Buffer): Promise<void> {
  await session.insert({ table, columns: [...COLUMNS], format: 'JSONEachRow', values });
}

function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / MICROS_PER_MS;
}
