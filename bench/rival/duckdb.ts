import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, version } from '@duckdb/node-api';
import type { BenchData } from '../data.ts';
import type { Question } from '../questions.ts';
import { exportDays, openKept } from './kept.ts';
import type { Rival } from './rival.ts';
import { type Window, windowOf } from './window.ts';

/** The same typed columns as ours, with the metadata as text. */
const COLUMNS = {
  edge_logs: 'id, project, event_message, metadata, method, path, address, status_code',
  function_edge_logs: 'id, project, event_message, metadata, function_id, execution_time_ms, status_code',
} as const;

const FILE = 'data.duckdb';

/** DuckDB in this process, on rows sorted as ours are: by day, project and time. */
export async function openDuckDb(data: BenchData): Promise<Rival> {
  const folder = await openKept(data, `duckdb-${version()}`, (made) => load(data, join(made, FILE)));
  const { connection, close } = await connect(join(folder, FILE));
  return {
    name: `DuckDB ${version()}`,
    async ask(question, nowMs) {
      const query = QUERIES[question.endpoint];
      if (query === undefined) throw new Error(`DuckDB has no query for ${question.endpoint}`);
      const reader = await connection.runAndReadAll(query(question, windowOf(question, nowMs)));
      return reader.getRowObjectsJS();
    },
    close,
  };
}

async function connect(file: string) {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const close = async () => {
    connection.closeSync();
    instance.closeSync();
  };
  return { connection, close };
}

async function load(data: BenchData, file: string): Promise<void> {
  const { connection, close } = await connect(file);
  try {
    for (const table of ['edge_logs', 'function_edge_logs'] as const)
      await loadTable(data, connection, table);
    await connection.run('CHECKPOINT');
  } finally {
    await close();
  }
}

async function loadTable(
  data: BenchData,
  connection: DuckDBConnection,
  table: keyof typeof COLUMNS,
): Promise<void> {
  const columns = `toUnixTimestamp64Micro(timestamp) AS micros, ${COLUMNS[table]}`;
  const rows = { table, columns, orderBy: 'project, timestamp, id', format: 'Parquet' } as const;
  let made = false;
  await exportDays(data, rows, async (day) => {
    const begin = made ? `INSERT INTO ${table}` : `CREATE TABLE ${table} AS`;
    await connection.run(
      `${begin} SELECT make_timestamp(micros) AS timestamp, * EXCLUDE (micros) FROM read_parquet(${quote(day)})`,
    );
    made = true;
  });
}

type Query = (question: Question, window: Window) => string;

/** The same queries, written by hand. Values are literals, as in ours; numbers are cast to JavaScript numbers. */
const QUERIES: Readonly<Record<string, Query>> = {
  'functions.invocation-stats': ({ parameters }, { since, bucketSeconds }) => `
    SELECT bucket::DOUBLE AS timestamp, min_execution_time, max_execution_time, avg_execution_time,
      percentiles[1] AS p95_execution_time, percentiles[2] AS p99_execution_time, count, error_count
    FROM (
      SELECT epoch_us(timestamp) // ${bucketSeconds}000000 * ${bucketSeconds}000000 AS bucket,
        min(execution_time_ms) AS min_execution_time, max(execution_time_ms) AS max_execution_time,
        avg(execution_time_ms) AS avg_execution_time,
        approx_quantile(execution_time_ms, [0.95, 0.99]) AS percentiles,
        count(*)::INTEGER AS count, (count(*) FILTER (WHERE status_code >= 400))::INTEGER AS error_count
      FROM function_edge_logs
      WHERE project = ${quote(parameters['project'])} AND timestamp >= ${toTimestamp(since)}
        AND (${quote(parameters['function_id'])} = '' OR function_id = ${quote(parameters['function_id'])})
      GROUP BY bucket
    )
    ORDER BY timestamp`,
  'logs.all': ({ parameters }, { since }) => `
    SELECT id, epoch_us(timestamp)::DOUBLE AS timestamp, event_message, metadata
    FROM edge_logs
    WHERE project = ${quote(parameters['project'])} AND edge_logs.timestamp > ${toTimestamp(since)}
    ORDER BY edge_logs.timestamp DESC, id DESC
    LIMIT 100`,
  'usage.api-counts': ({ parameters }, { since, bucketSeconds }) => `
    SELECT strftime(make_timestamp(bucket), '%Y-%m-%dT%H:%M:%S') AS timestamp,
      total_rest_requests, total_storage_requests, total_auth_requests, total_realtime_requests
    FROM (
      SELECT epoch_us(timestamp) // ${bucketSeconds}000000 * ${bucketSeconds}000000 AS bucket,
        (count(*) FILTER (WHERE contains(path, '/rest')))::INTEGER AS total_rest_requests,
        (count(*) FILTER (WHERE contains(path, '/storage')))::INTEGER AS total_storage_requests,
        (count(*) FILTER (WHERE contains(path, '/auth')))::INTEGER AS total_auth_requests,
        (count(*) FILTER (WHERE contains(path, '/realtime')))::INTEGER AS total_realtime_requests
      FROM edge_logs
      WHERE timestamp >= ${toTimestamp(since)}
        AND regexp_matches(address, ${quote(parameters['project'])})
      GROUP BY bucket
    )
    ORDER BY bucket`,
};

function quote(value = ''): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function toTimestamp(instant: Date): string {
  return `TIMESTAMP '${instant.toISOString().replace('T', ' ').replace('Z', '')}'`;
}
