import { join } from 'node:path';
import { version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import type { DuckDbJob, DuckDbStarted } from '../duckdb-process.ts';
import { askText, openAgent } from '../http.ts';
import { startChild } from '../load.ts';
import { connectDuckDb, quote, SQL_ENDPOINT } from '../rival/duckdb-query.ts';
import { exportDays, openKept } from '../rival/kept.ts';
import { exportColumns, readSources, type SearchRival } from './rival.ts';
import { type SqlDialect, writeRivalSql } from './rival-sql.ts';

const FILE = 'data.duckdb';
/** In its file, and a day of the export. */
const BYTES_PER_EVENT = 550;

const DIALECT: SqlDialect = {
  micros: (timestamp) => `epoch_us(${timestamp})::DOUBLE`,
  bucket: (timestamp, width, from) =>
    `${from} + to_microseconds((epoch_us(${timestamp}) - epoch_us(${from})) // ${width} * ${width})`,
};

/** DuckDB behind a bare Fastify route, on rows sorted as ours are: by day, project and time. */
export async function openDuckDbSearch(data: BenchData, rows: number): Promise<SearchRival> {
  const kept = { name: `search-duckdb-${version()}`, bytes: rows * BYTES_PER_EVENT };
  const folder = await openKept(data, kept, (made) => load(data, join(made, FILE)));
  const { started, end } = await startChild<DuckDbJob, DuckDbStarted>('duckdb-process.ts', {
    file: join(folder, FILE),
  });
  const agent = openAgent();
  return {
    name: `DuckDB ${version()} behind Fastify`,
    async ask(question) {
      const sql = writeRivalSql(question, DIALECT);
      const { ms, text } = await askText(started.url, agent, { endpoint: SQL_ENDPOINT, parameters: { sql } });
      return { ms, rows: () => JSON.parse(text).result };
    },
    async close() {
      agent.destroy();
      end();
    },
  };
}

async function load(data: BenchData, file: string): Promise<void> {
  const { connection, close } = await connectDuckDb(file, 'read_write');
  try {
    for (const source of await readSources()) {
      const { table } = source;
      const columns = exportColumns(source, 'toUnixTimestamp64Micro(timestamp) AS micros');
      let made = false;
      const job = { table, columns, orderBy: 't.project, t.timestamp, t.id', format: 'Parquet' } as const;
      await exportDays(data, job, async (day) => {
        const begin = made ? `INSERT INTO ${table}` : `CREATE TABLE ${table} AS`;
        await connection.run(
          `${begin} SELECT make_timestamp(micros) AS timestamp, L AS level, * EXCLUDE (micros, L) FROM read_parquet(${quote(day)})`,
        );
        made = true;
      });
    }
    await connection.run('CHECKPOINT');
  } finally {
    close();
  }
}
