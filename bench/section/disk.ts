import { openBenchData } from '../data.ts';
import type { DiskJob, DiskUse } from '../disk-process.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { runChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const MINUTES_MAX = 10;
/** The events of about 1 KB. */
const LARGE_TABLE = 'edge_logs';

/** What an event takes on the disk, beside its length as JSON. */
export async function diskSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withLinkedCopy(await openBenchData(rows), async ({ dataDir }) => {
    const tables = await runChild<DiskJob, DiskUse[]>('disk-process.ts', { dataDir }, MINUTES_MAX * 60_000);
    const sum = (what: 'rows' | 'bytes') => tables.reduce((total, table) => total + table[what], 0);
    const all = sum('bytes') / sum('rows');
    say(`disk: ${(sum('bytes') / 1e6).toFixed(0)} MB for ${sum('rows').toLocaleString('en')} events`);
    return [
      { name: 'disk, all events', unit: 'bytes/event', values: [all], goal: { below: 110 } },
      ...tables.map(({ table, rows: count, bytes, jsonBytes }) => ({
        name: `disk, ${table}, of ${Math.round(jsonBytes)} bytes of JSON each`,
        unit: 'bytes/event',
        values: [bytes / count],
        ...(table === LARGE_TABLE && { goal: { below: 110 } }),
      })),
    ];
  });
}
