import { afterAll, expect, test } from 'vitest';
import { findChunkEnd, isUpTo, readChunk, type SortPosition } from '../../src/copy/chunk.ts';
import { add, NO_ROWS, readDigest } from '../../src/copy/digest.ts';
import { openJournal } from '../../src/copy/journal.ts';
import { planCopy } from '../../src/copy/plan.ts';
import { InputError } from '../../src/errors.ts';
import { sql, trusted } from '../../src/sql/sql.ts';
import { openTestStore, temporaryFolder } from '../support/service.ts';

const { core, close } = await openTestStore();
const folder = await temporaryFolder();
const journal = openJournal(folder.path, 'http://127.0.0.1:8123/tailrace');
afterAll(async () => {
  journal.close();
  await close();
  await folder.remove();
});
const { engine } = core;
const source = core.registry.getSource('cloudflare.logs.prod');
await engine.setReadFilters(new Map());

const DAY_MS = 86_400_000;
/** Days that are kept: the engine drops others whenever it likes. */
const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
const check = () => {};
const digestOf = (day: string, where = sql`true`, rows = 1) =>
  readDigest(engine, source, { day, where, rows, bytes: 1, check });

async function insert(day: string, values: string): Promise<void> {
  await engine.command(
    trusted(`INSERT INTO tailrace.edge_logs (timestamp, id, project, event_message, method) SELECT
       toDateTime64('${day} 12:00:00', 6, 'UTC') + toIntervalSecond(n), id, project, message, method
     FROM values('n Int32, id String, project String, message String, method Nullable(String)', ${values})`),
  );
}

test('a digest does not depend on the order of rows, and on everything else', async () => {
  const A = "(1, 'a', 'p', 'x', 'GET')";
  const B = "(2, 'b', 'p', 'x', NULL)";
  const sets = {
    set1: [A, B],
    set2: [B, A],
    set3: [A, A, B],
    set4: [A, A, A, A, B],
    set5: [A, "(2, 'b', 'p', 'x', '')"],
    set6: [A, "(2, 'bp', '', 'x', NULL)"],
    set7: [A, "(2, 'b', 'p', 'y', NULL)"],
  };
  const day = dayOf(20);
  const sums: Record<string, bigint> = {};
  for (const [name, rows] of Object.entries(sets)) {
    await engine.command(trusted(`ALTER TABLE tailrace.edge_logs DROP PARTITION '${day}'`));
    await insert(day, rows.join(', '));
    const { rows: count, sum } = await digestOf(day);
    expect(count).toBe(rows.length);
    sums[name] = sum;
  }
  expect(sums['set1']).toBe(sums['set2']);
  expect(new Set(Object.values(sums)).size).toBe(Object.keys(sets).length - 1);
});

test('a digest is the sum of those of its parts, however many slices it is read in', async () => {
  await insert(
    dayOf(30),
    Array.from({ length: 50 }, (_, i) => `(${i * 800 - 40000}, 'i${i}', 'p', 'x', 'GET')`).join(', '),
  );
  for (const at of [dayOf(30), dayOf(31)]) {
    const whole = await digestOf(at);
    expect(await digestOf(at, sql`true`, 100_000_000)).toEqual(whole);
    expect(add(await digestOf(at, sql`id < ${'i3'}`), await digestOf(at, sql`id >= ${'i3'}`))).toEqual(whole);
    expect(add(whole, NO_ROWS)).toEqual(whole);
  }
  const stop = () => {
    throw new Error('stopped');
  };
  await expect(
    readDigest(engine, source, { day: dayOf(30), rows: 1, bytes: 1, check: stop }),
  ).rejects.toThrow('stopped');
});

test('chunks hold every row once, within their bounds but for rows that nothing tells apart', async () => {
  const day = dayOf(40);
  const rows = Array.from(
    { length: 60 },
    (_, i) => `(${i % 2}, 'i\\'\\\\${i % 5}', 'p${i % 3}', '${'m'.repeat(i % 50)}', NULL)`,
  );
  await insert(day, rows.join(', '));
  for (const bounds of [
    { rowsMax: 1, bytesMax: 1e9 },
    { rowsMax: 7, bytesMax: 1e9 },
    { rowsMax: 1000, bytesMax: 1_500 },
    { rowsMax: 1000, bytesMax: 1 },
    { rowsMax: 1000, bytesMax: 1e9 },
  ]) {
    let after: SortPosition | undefined;
    let lines: string[] = [];
    let chunks = 0;
    for (;;) {
      const upTo = await findChunkEnd(engine, source, { day, after, bounds });
      if (upTo === undefined) break;
      const chunk = await readChunk(engine, source, { day, after, upTo });
      expect(chunk.rows).toBeGreaterThan(0);
      if (bounds.bytesMax === 1_500) expect(chunk.rows).toBeLessThan(40);
      lines = lines.concat(chunk.bytes.toString().trimEnd().split('\n'));
      expect((await digestOf(day, isUpTo(upTo))).rows).toBe(lines.length);
      after = upTo;
      chunks++;
    }
    expect(lines.length).toBe(60);
    const { bytes } = await engine.query(
      `SELECT count() FROM edge_logs WHERE toDate(timestamp) = '${day}'`,
      {},
      { format: 'TSVRaw' },
    );
    expect(bytes.toString()).toBe('60\n');
    if (bounds.rowsMax === 1 || bounds.bytesMax === 1) expect(chunks).toBe(3 * 2 * 5);
    if (bounds.bytesMax === 1e9 && bounds.rowsMax === 1000) expect(chunks).toBe(1);
  }
});

test('a plan leaves out the days that begin before what is kept, and knows what was begun', async () => {
  const target = { engine: undefined, cluster: '', journal };
  const [first, second, third] = [dayOf(10), dayOf(9), dayOf(8)] as const;
  const now = Date.parse(first) + 90 * DAY_MS + DAY_MS / 2; // no more than half of the first day is kept
  await insert(first, "(1, 'a', 'p', 'x', NULL)");
  await insert(second, "(1, 'a', 'p', 'x', NULL)");
  await insert(third, "(1, 'a', 'p', 'x', NULL)");
  const digest = { rows: 1, sum: 2n ** 64n - 1n };
  const entry = { generation: 'g', here: digest, before: NO_ROWS, chunkRowsMax: 10 };
  journal.begin('edge_logs', third, entry);
  journal.advance('edge_logs', third, 3, { project: '', timestamp: '-1', id: '00' });
  expect(journal.find('edge_logs', third)).toEqual({
    ...{ ...entry, verified: false, chunks: 3 },
    end: { project: '', timestamp: '-1', id: '00' },
  });
  const options = { sources: [source], fromDay: first, untilDay: undefined, mixes: false, now };
  const steps = async () =>
    (await planCopy(engine, target, options)).map(({ day, step }) => `${day} ${step}`);
  expect(await steps()).toEqual([`${first} old`, `${second} copy`, `${third} continue`]);
  journal.verify('edge_logs', third);
  expect((await steps()).at(-1)).toBe(`${third} check`);
  await insert(third, "(1, 'b', 'p', 'x', NULL)");
  await expect(steps()).rejects.toThrow(InputError);
});
