import { totalmem } from 'node:os';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Question } from '../questions.ts';
import type { AnswerRow } from './rival.ts';
import { type Window, windowOf } from './window.ts';

/** The instant of a question behind HTTP, ms since the epoch. */
export const NOW_PARAMETER = 'now_ms';

/** Takes its SQL as the parameter `sql`. */
export const SQL_ENDPOINT = 'sql';

/** Its default is most of the machine's memory; two rivals, ours and the page cache share it. */
const MEMORY_SHARE = 1 / 4;

/** Opens a file. Several processes can read it while none writes. */
export async function connectDuckDb(file: string, mode: 'read_only' | 'read_write') {
  const instance = await DuckDBInstance.create(file, {
    access_mode: mode,
    memory_limit: `${Math.floor((totalmem() * MEMORY_SHARE) / 1e6)}MB`,
  });
  const connection = await instance.connect();
  const close = () => {
    connection.closeSync();
    instance.closeSync();
  };
  return { connection, close };
}

/** @throws Error for an endpoint without a query */
export async function askDuckDb(
  connection: DuckDBConnection,
  question: Question,
  nowMs: number,
): Promise<readonly AnswerRow[]> {
  const reader = await connection.runAndReadAll(writeSql(question, nowMs));
  return reader.getRowObjectsJS();
}

function writeSql(question: Question, nowMs: number): string {
  if (question.endpoint === SQL_ENDPOINT) return question.parameters['sql'] ?? '';
  const query = QUERIES[question.endpoint];
  if (query === undefined) throw new Error(`DuckDB has no query for ${question.endpoint}`);
  return query(question, windowOf(question, nowMs));
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

export function quote(value = ''): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function toTimestamp(instant: Date): string {
  return `TIMESTAMP '${instant.toISOString().replace('T', ' ').replace('Z', '')}'`;
}
