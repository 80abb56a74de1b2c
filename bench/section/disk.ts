import { openBenchData } from '../data.ts';
import type { DiskJob, DiskUse } from '../disk-process.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { runChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const MINUTES_MAX = 10;

/** Disk space per event, compared with its length as JSON. */
export async function diskSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withLinkedCopy(await openBenchData(rows), async ({ dataDir }) => {
    const tables = await runChild<DiskJob, DiskUse[]>('disk-process.ts', { dataDir }, MINUTES_MAX * 60_000);
    const sum = (of: (table: DiskUse) => number) => tables.reduce((total, table) => total + of(table), 0);
    const events = sum((table) => table.rows);
    const bytes = sum((table) => table.bytes);
    const jsonBytes = sum((table) => table.jsonBytes * table.rows) / events;
    say(`disk: ${(bytes / 1e6).toFixed(0)} MB for ${events.toLocaleString('en')} events`);
    return [
      { ...toRow({ table: 'all events', rows: events, bytes, jsonBytes }), goal: { below: 110 } },
      ...tables.map(toRow),
    ];
  });
}

function toRow({ table, rows, bytes, jsonBytes }: DiskUse): Row {
  const name = `disk, ${table}, of ${Math.round(jsonBytes)} bytes of JSON each`;
  return { name, unit: 'bytes/event', values: [bytes / rows] };
}
