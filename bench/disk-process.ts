import { parseConfig } from '../src/config/config.ts';
import { openCore } from '../src/service/open-core.ts';
import { trusted } from '../src/sql/sql.ts';

export interface DiskJob {
  readonly dataDir: string;
}

/** A table with rows. */
export interface DiskUse {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  /** Average length of an event as JSON, from a sample. */
  readonly jsonBytes: number;
}

// Enough for an average without reading all of them from the disk.
const SAMPLED = 100_000;
// {"id":"…","timestamp":"…","project":"…","event_message":"…","metadata":…}
const MEMBERS_BYTES = 69;
const TIMESTAMP_BYTES = '2026-11-20T14:26:00.000000Z'.length;

process.once('message', async (job: DiskJob) => {
  process.send?.(await measure(job), () => process.disconnect());
});

async function measure({ dataDir }: DiskJob): Promise<DiskUse[]> {
  const { engine, close } = await openCore(parseConfig({ TAILRACE_DATA_DIR: dataDir }), 'the benchmark');
  const parts = await engine.inspect(`
    SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
    FROM system.parts WHERE active AND database = 'tailrace'
    GROUP BY table ORDER BY bytes DESC`);
  const used: DiskUse[] = [];
  for (const { table, rows, bytes } of parts) {
    const [average] = await engine.inspect(
      trusted(`
      SELECT avg(length(id) + length(project) + length(event_message) + length(metadata)) AS bytes
      FROM (SELECT id, project, event_message, metadata FROM tailrace.\`${table}\` LIMIT ${SAMPLED})`),
    );
    const jsonBytes = Number(average?.['bytes']) + MEMBERS_BYTES + TIMESTAMP_BYTES;
    used.push({ table: String(table), rows: Number(rows), bytes: Number(bytes), jsonBytes });
  }
  await close();
  return used;
}
