import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import type { DroppedDay } from '../../src/retention/retention.ts';
import { trusted } from '../../src/sql/sql.ts';
import { createTestRetention } from '../support/retention.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const { engine } = core;
const DAY_MS = 86_400_000;
const TODAY = Date.UTC(2026, 10, 20);
const NOON = TODAY + DAY_MS / 2;
const DEFAULT_DAYS = 90;

beforeEach(async () => {
  for (const { table } of core.registry.sources)
    await engine.command(trusted(`TRUNCATE TABLE tailrace.${table}`));
});

const dayOf = (daysAgo: number) => new Date(TODAY - daysAgo * DAY_MS).toISOString().slice(0, 10);

/** One event at the end of a day, with a text that no codec makes small. */
async function insert(table: string, daysAgo: number, bytes = 10): Promise<void> {
  await engine.command(
    trusted(`INSERT INTO tailrace.${table} (id, timestamp, event_message)
     SELECT 'e', toDateTime64('${dayOf(daysAgo)} 23:59:59.999999', 6, 'UTC'), randomPrintableASCII(${bytes})`),
  );
}

async function daysLeft(): Promise<string[]> {
  const rows = await engine.inspect(
    `SELECT DISTINCT table, partition FROM system.parts WHERE database = 'tailrace' AND active ORDER BY partition, table`,
  );
  return rows.map((row) => `${row['table']} ${row['partition']}`);
}

/** @param days retention of sources by their table, where it is not the default */
async function enforce(
  options: { now?: number; storeBytesMax?: number; days?: Record<string, number> } = {},
) {
  const { now = NOON, storeBytesMax = 0, days = {} } = options;
  const dropped: DroppedDay[] = [];
  const calls: string[] = [];
  const { retention } = createTestRetention({
    engine,
    sources: () => withRetention(days),
    now,
    storeBytesMax,
    makeRoom: async () => void calls.push('room'),
    onDropped(day) {
      calls.push('day');
      dropped.push(day);
    },
  });
  await retention.run();
  // On a full disk the engine cannot even remove a day.
  expect(calls.slice(0, 2)).toEqual(dropped.length === 0 ? [] : ['room', 'day']);
  return dropped.map(({ table, day, reason }) => `${table} ${day} ${reason}`);
}

const withRetention = (days: Record<string, number>): Source[] =>
  core.registry.sources.map((source) => ({
    ...source,
    retentionDays: days[source.table] ?? source.retentionDays,
  }));

describe('by age', () => {
  test('a day goes when all of it is older than its source keeps, and not before', async () => {
    await insert('edge_logs', 3);
    await insert('edge_logs', 4);
    const midnight = TODAY - 3 * DAY_MS + 3 * DAY_MS; // the day of three days ago ended two days ago
    const days = { edge_logs: 2 };
    expect(await enforce({ now: midnight - 1, days })).toEqual([`edge_logs ${dayOf(4)} age`]);
    expect(await enforce({ now: midnight, days })).toEqual([`edge_logs ${dayOf(3)} age`]);
    expect(await daysLeft()).toEqual([]);
  });
});

describe('by size', () => {
  test('the oldest days of all go until the store fits', async () => {
    await insert('edge_logs', 1, 100_000);
    await insert('edge_logs', 3, 100_000);
    await insert('postgres_logs', 2, 100_000);
    await insert('postgres_logs', 4, 100_000);
    expect(await enforce({ storeBytesMax: 250_000 })).toEqual([
      `postgres_logs ${dayOf(4)} size`,
      `edge_logs ${dayOf(3)} size`,
    ]);
    expect(await enforce({ storeBytesMax: 250_000 })).toEqual([]);
    expect(await daysLeft()).toEqual([`postgres_logs ${dayOf(2)}`, `edge_logs ${dayOf(1)}`]);
  });
});

test('tables that belong to no source are left alone, and do not count', async () => {
  await engine.command(
    `CREATE TABLE tailrace.stranger (timestamp DateTime64(6, 'UTC'), id String, event_message String)
     ENGINE = MergeTree PARTITION BY toDate(timestamp) ORDER BY id`,
  );
  await insert('stranger', DEFAULT_DAYS + 100, 300_000);
  await insert('edge_logs', 1, 50_000);
  const dropped = await enforce({ storeBytesMax: 100_000, days: { edge_logs: 2 } });
  const left = await daysLeft();
  await engine.command('DROP TABLE tailrace.stranger');
  expect([dropped, left]).toEqual([[], [`stranger ${dayOf(DEFAULT_DAYS + 100)}`, `edge_logs ${dayOf(1)}`]]);
});
