import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { hasPostgres, startPostgres } from '../../trial/postgres.ts';
import type { BenchData } from '../data.ts';
import type { Question } from '../questions.ts';
import { say, Unmeasured } from '../report.ts';
import { type AnswerRow, exportDays, type Rival, windowOf } from './rival.ts';

/**
 * For a machine with some gigabytes to spare: a cache for the queried data, memory for sorting, an SSD. No default,
 * such as two workers per query, is turned off; the data can be loaded again, so loading does not wait for the disk.
 */
const SETTINGS = {
  shared_buffers: '2GB',
  effective_cache_size: '12GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  random_page_cost: '1.1',
  max_wal_size: '2GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
} as const;

/** The whole event in one JSONB column, with the common columns; the project by its path in the received event. */
const TABLES = {
  edge_logs: {
    body: `concat('{"project":', toJSONString(project::String), ',"metadata":', metadata, '}')`,
    index: "(body #>> '{project}'), timestamp DESC",
  },
  function_edge_logs: {
    body: `concat('{"metadata":', metadata, '}')`,
    index: "(body #>> '{metadata,project_ref}'), timestamp",
  },
} as const;

/** PostgreSQL with an index on the time, and one on project and time. @throws Unmeasured if it is not installed */
export async function openPostgres(data: BenchData): Promise<Rival> {
  if (!hasPostgres) throw new Unmeasured('PostgreSQL is not installed');
  const server = await startPostgres(SETTINGS);
  const client = new Client(await server.createDatabase());
  await client.connect();
  for (const [table, { body, index }] of Object.entries(TABLES)) {
    await client.query(
      `CREATE TABLE ${table} (id text, timestamp timestamp NOT NULL, event_message text, body jsonb NOT NULL)`,
    );
    const columns = `id, timestamp, event_message, ${body}`;
    // Both formats use the same escapes.
    const job = { table, columns, orderBy: 'timestamp', format: 'TabSeparated' } as const;
    await exportDays(data, job, async (file) => {
      chmodSync(dirname(file), 0o755); // the server reads it, from its own account
      await client.query(`COPY ${table} FROM '${file}'`);
    });
    say(`PostgreSQL creates the indexes of ${table}`);
    await client.query(`CREATE INDEX ON ${table} (timestamp)`);
    await client.query(`CREATE INDEX ON ${table} (${index})`);
    await client.query(`VACUUM (ANALYZE, FREEZE) ${table}`); // so that no query has to set hint bits
  }
  const shown = await client.query<{ server_version: string }>('SHOW server_version');
  return {
    name: `PostgreSQL ${shown.rows[0]?.server_version.split(' ')[0]}`,
    async ask(question, nowMs) {
      const { text, values } = writeQuery(question, nowMs);
      const startMs = performance.now();
      const { rows } = await client.query<AnswerRow>(text, [...values]);
      return { ms: performance.now() - startMs, rows: () => rows };
    },
    async close() {
      await client.end();
      await server.close();
    },
  };
}

/**
 * The same queries, written by hand. Numbers are cast to JavaScript numbers, times to microseconds. The start is text without a zone, so
 * that no time zone shifts it. Usage counts the project's own requests, the easier question: no such index finds a pattern.
 */
const QUERIES: Readonly<Record<string, string>> = {
  'functions.invocation-stats': `
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
        WHERE body #>> '{metadata,project_ref}' = $1 AND timestamp >= $2
      ) AS invocations
      GROUP BY bucket
    ) AS buckets
    ORDER BY timestamp`,
  'logs.all': `
    SELECT id, (extract(epoch FROM timestamp) * 1000000)::float8 AS timestamp, event_message,
      body -> 'metadata' AS metadata
    FROM edge_logs
    WHERE body #>> '{project}' = $1 AND timestamp > $2
    ORDER BY edge_logs.timestamp DESC, id DESC
    LIMIT 100`,
  'usage.api-counts': `
    SELECT to_char(bucket, 'YYYY-MM-DD"T"HH24:MI:SS') AS timestamp,
      (count(*) FILTER (WHERE path LIKE '%/rest%'))::int AS total_rest_requests,
      (count(*) FILTER (WHERE path LIKE '%/storage%'))::int AS total_storage_requests,
      (count(*) FILTER (WHERE path LIKE '%/auth%'))::int AS total_auth_requests,
      (count(*) FILTER (WHERE path LIKE '%/realtime%'))::int AS total_realtime_requests
    FROM (
      SELECT date_bin(make_interval(secs => $3), timestamp, TIMESTAMP '1970-01-01') AS bucket,
        body -> 'metadata' -> 'request' ->> 'path' AS path
      FROM edge_logs
      WHERE timestamp >= $2 AND body #>> '{project}' = $1
        AND coalesce(body -> 'metadata' -> 'request' ->> 'url', concat(body ->> 'project', body -> 'metadata' -> 'request' ->> 'path')) ~ $1
    ) AS requests
    GROUP BY bucket
    ORDER BY bucket`,
};

function writeQuery(question: Question, nowMs: number): { text: string; values: readonly unknown[] } {
  const { since, bucketSeconds } = windowOf(question, nowMs);
  const text = QUERIES[question.endpoint] ?? '';
  const values = [question.parameters['project'], since, bucketSeconds];
  return { text, values: text.includes('$3') ? values : values.slice(0, 2) };
}
