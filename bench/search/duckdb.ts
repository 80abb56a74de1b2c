import { join } from 'node:path';
import { version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import { BYTES_PER_EVENT, FILE, loadTables, openBehindHttp } from '../rival/duckdb.ts';
import { SQL_ENDPOINT } from '../rival/duckdb-query.ts';
import { openKept } from '../rival/kept.ts';
import { exportColumns, readSources, type SearchRival } from './rival.ts';
import { type SqlDialect, writeRivalSql } from './rival-sql.ts';

const DIALECT: SqlDialect = {
  micros: (timestamp) => `epoch_us(${timestamp})::DOUBLE`,
  bucket: (timestamp, width, from) =>
    `${from} + to_microseconds((epoch_us(${timestamp}) - epoch_us(${from})) // ${width} * ${width})`,
};

/** DuckDB behind a bare Fastify route, on rows sorted as ours are: by day, project and time. */
export async function openDuckDbSearch(data: BenchData, rows: number): Promise<SearchRival> {
  const kept = { name: `search-duckdb-${version()}`, bytes: rows * BYTES_PER_EVENT };
  const folder = await openKept(data, kept, (made) => load(data, join(made, FILE)));
  const { name, ask, close } = await openBehindHttp(join(folder, FILE));
  return {
    name,
    ask: (question) => ask({ endpoint: SQL_ENDPOINT, parameters: { sql: writeRivalSql(question, DIALECT) } }),
    close: async () => close(),
  };
}

async function load(data: BenchData, file: string): Promise<void> {
  const sources = await readSources();
  const tables = sources.map((source) => ({
    ...{ table: source.table, columns: exportColumns(source, 'toUnixTimestamp64Micro(timestamp) AS micros') },
    ...{ orderBy: 't.project, t.timestamp, t.id', select: 'L AS level, * EXCLUDE (micros, L)' },
  }));
  await loadTables(data, file, tables);
}
