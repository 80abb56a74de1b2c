import type { Source } from '../../src/definitions/source.ts';
import type { BenchData } from '../data.ts';
import { say } from '../report.ts';
import { exportDays } from '../rival/kept.ts';
import { openKeptServer, type PostgresServer } from '../rival/postgres-server.ts';
import { type AnswerRow, timeRows } from '../rival/rival.ts';
import { exportColumns, readSources, type SearchRival } from './rival.ts';
import { RIVAL_COLUMNS, type SqlDialect, writeRivalSql } from './rival-sql.ts';

/** In its table with its indexes, and a day of the export. */
const BYTES_PER_EVENT = 2_750;

const DIALECT: SqlDialect = {
  micros: (timestamp) => `(extract(epoch FROM ${timestamp}) * 1000000)::float8`,
  bucket: (timestamp, width, from) =>
    `date_bin(make_interval(secs => ${width / 1_000_000}), ${timestamp}, ${from})`,
};

/** PostgreSQL with a table for each source, a trigram index on the message and an index on project and time. @throws as `openKeptServer` */
export async function openPostgresSearch(data: BenchData, rows: number): Promise<SearchRival> {
  const kept = { prefix: 'search-', bytes: rows * BYTES_PER_EVENT };
  const { server, version } = await openKeptServer(data, kept, async (filled) => {
    await filled.client.query('CREATE EXTENSION pg_trgm');
    for (const source of await readSources()) await loadTable(data, filled, source);
  });
  return {
    name: `PostgreSQL ${version}`,
    ask: (question) =>
      timeRows(async () => (await server.client.query<AnswerRow>(writeRivalSql(question, DIALECT))).rows),
    close: server.close,
  };
}

async function loadTable(data: BenchData, server: PostgresServer, source: Source): Promise<void> {
  const { table } = source;
  const columns = Object.entries(RIVAL_COLUMNS).map(([name, type]) => `${name} ${type}`);
  await server.client.query(`CREATE TABLE ${table} (${columns.join(', ')})`);
  // Both formats use the same escapes.
  const job = {
    table,
    columns: exportColumns(source),
    orderBy: 't.timestamp',
    format: 'TabSeparated',
  } as const;
  await exportDays(data, job, (file) => server.copy(`COPY ${table} FROM STDIN`, file));
  say(`PostgreSQL creates the indexes of ${table}`);
  await server.client.query(`CREATE INDEX ON ${table} (project, timestamp DESC, id DESC)`);
  await server.client.query(`CREATE INDEX ON ${table} USING gin (event_message gin_trgm_ops)`);
  await server.client.query(`VACUUM (ANALYZE, FREEZE) ${table}`); // so that no query has to set hint bits
}
