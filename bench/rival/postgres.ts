import { join } from 'node:path';
import type { BenchData } from '../data.ts';
import type { Question } from '../questions.ts';
import { exportDays, openKept } from './kept.ts';
import { findPrograms, initPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';
import type { AnswerRow, Rival } from './rival.ts';
import { type Window, windowOf } from './window.ts';

/** The whole event in one JSONB column, with the common columns and an index on the time. */
const TABLES = ['edge_logs', 'function_edge_logs'] as const;
const createTable = (name: string) =>
  `CREATE TABLE ${name} (id text, timestamp timestamp NOT NULL, event_message text, body jsonb NOT NULL)`;
const createIndex = (name: string) => `CREATE INDEX ON ${name} (timestamp)`;

/** The path of the project in the received event. */
const BODIES: Readonly<Record<(typeof TABLES)[number], string>> = {
  edge_logs: `concat('{"project":', toJSONString(project::String), ',"metadata":', metadata, '}')`,
  function_edge_logs: `concat('{"metadata":', metadata, '}')`,
};

/** PostgreSQL on rows inserted by time. @throws AbsentRival if it is not installed */
export async function openPostgres(data: BenchData): Promise<Rival> {
  const { bin, major } = findPrograms();
  const folder = await openKept(data, `postgresql-${major}`, (made) => load(data, bin, join(made, 'pgdata')));
  const server = await startPostgres(bin, join(folder, 'pgdata'));
  const { rows } = await server.client.query<{ server_version: string }>('SHOW server_version');
  const version = rows[0]?.server_version.split(' ')[0];
  return {
    name: `PostgreSQL ${version}, one JSONB column`,
    async ask(question, nowMs) {
      const query = QUERIES[question.endpoint];
      if (query === undefined) throw new Error(`PostgreSQL has no query for ${question.endpoint}`);
      const answer = await server.client.query<AnswerRow>(query(question, windowOf(question, nowMs)));
      return answer.rows;
    },
    close: server.close,
  };
}

async function load(data: BenchData, bin: string, dataDir: string): Promise<void> {
  initPostgres(bin, dataDir);
  const server = await startPostgres(bin, dataDir);
  try {
    for (const table of TABLES) await loadTable(data, server, table);
  } finally {
    await server.close();
  }
}

async function loadTable(
  data: BenchData,
  server: PostgresServer,
  table: (typeof TABLES)[number],
): Promise<void> {
  await server.client.query(createTable(table));
  const columns = `id, timestamp, event_message, ${BODIES[table]}`;
  // Both formats use the same escapes.
  const rows = { table, columns, orderBy: 'timestamp', format: 'TabSeparated' } as const;
  await exportDays(data, rows, (file) => server.copy(`COPY ${table} FROM STDIN`, file));
  await server.client.query(createIndex(table));
  await server.client.query(`VACUUM (ANALYZE, FREEZE) ${table}`); // so that no query has to set hint bits
}

type Query = (question: Question, window: Window) => { text: string; values: unknown[] };

/**
 * The same queries, written by hand. Numbers are cast to JavaScript numbers, times to microseconds. `since` is text
 * without a zone, so that no time zone shifts it.
 */
const QUERIES: Readonly<Record<string, Query>> = {
  'functions.invocation-stats': ({ parameters }, { since, bucketSeconds }) => ({
    text: `
      SELECT (extract(epoch FROM bucket) * 1000000)::float8 AS timestamp,
        min_execution_time, max_execution_time, avg_execution_time,
        percentiles[1] AS p95_execution_time, percentiles[2] AS p99_execution_time, count, error_count
      FROM (
        SELECT bucket, min(ms) AS min_execution_time, max(ms) AS max_execution_time, avg(ms) AS avg_execution_time,
          percentile_cont(ARRAY[0.95, 0.99]) WITHIN GROUP (ORDER BY ms) AS percentiles,
          count(*)::int AS count, (count(*) FILTER (WHERE status >= 400))::int AS error_count
        FROM (
          SELECT date_bin(make_interval(secs => $3), timestamp, TIMESTAMP '1970-01-01') AS bucket,
            (body -> 'metadata' ->> 'execution_time_ms')::float8 AS ms,
            (body -> 'metadata' -> 'response' ->> 'status_code')::int AS status
          FROM function_edge_logs
          WHERE body -> 'metadata' ->> 'project_ref' = $1 AND timestamp >= $2
            AND ($4 = '' OR body -> 'metadata' ->> 'function_id' = $4)
        ) AS invocations
        GROUP BY bucket
      ) AS buckets
      ORDER BY timestamp`,
    values: [parameters['project'], toTimestamp(since), bucketSeconds, parameters['function_id'] ?? ''],
  }),
  'logs.all': ({ parameters }, { since }) => ({
    text: `
      SELECT id, (extract(epoch FROM timestamp) * 1000000)::float8 AS timestamp, event_message,
        body -> 'metadata' AS metadata
      FROM edge_logs
      WHERE body ->> 'project' = $1 AND timestamp > $2
      ORDER BY edge_logs.timestamp DESC, id DESC
      LIMIT 100`,
    values: [parameters['project'], toTimestamp(since)],
  }),
  'usage.api-counts': ({ parameters }, { since, bucketSeconds }) => ({
    text: `
      SELECT to_char(bucket, 'YYYY-MM-DD"T"HH24:MI:SS') AS timestamp,
        (count(*) FILTER (WHERE path LIKE '%/rest%'))::int AS total_rest_requests,
        (count(*) FILTER (WHERE path LIKE '%/storage%'))::int AS total_storage_requests,
        (count(*) FILTER (WHERE path LIKE '%/auth%'))::int AS total_auth_requests,
        (count(*) FILTER (WHERE path LIKE '%/realtime%'))::int AS total_realtime_requests
      FROM (
        SELECT date_bin(make_interval(secs => $3), timestamp, TIMESTAMP '1970-01-01') AS bucket,
          body -> 'metadata' -> 'request' ->> 'path' AS path
        FROM edge_logs
        WHERE timestamp >= $2 AND coalesce(body -> 'metadata' -> 'request' ->> 'url', concat(body ->> 'project', body -> 'metadata' -> 'request' ->> 'path')) ~ $1
      ) AS requests
      GROUP BY bucket
      ORDER BY bucket`,
    values: [parameters['project'], toTimestamp(since), bucketSeconds],
  }),
};

function toTimestamp(instant: Date): string {
  return instant.toISOString().replace('Z', '');
}
