import type { Question } from '../questions.ts';
import { type Window, windowOf } from './window.ts';

/** The SQL of the project in the body of an event. */
export interface ProjectPaths {
  readonly edge: string;
  readonly invocation: string;
  /** Usage counts the project's own requests, which an index can find; otherwise all whose address matches. */
  readonly countsOwn: boolean;
}

export interface PostgresQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** @throws Error for an endpoint without a query */
export function queryPostgres(paths: ProjectPaths, question: Question, nowMs: number): PostgresQuery {
  const query = QUERIES[question.endpoint];
  if (query === undefined) throw new Error(`PostgreSQL has no query for ${question.endpoint}`);
  return query(question, windowOf(question, nowMs), paths);
}

type Query = (question: Question, window: Window, paths: ProjectPaths) => PostgresQuery;

/**
 * The same queries, written by hand. Numbers are cast to JavaScript numbers, times to microseconds. `since` is text
 * without a zone, so that no time zone shifts it.
 */
const QUERIES: Readonly<Record<string, Query>> = {
  'functions.invocation-stats': ({ parameters }, { since, bucketSeconds }, paths) => ({
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
          WHERE ${paths.invocation} = $1 AND timestamp >= $2
            AND ($4 = '' OR body -> 'metadata' ->> 'function_id' = $4)
        ) AS invocations
        GROUP BY bucket
      ) AS buckets
      ORDER BY timestamp`,
    values: [parameters['project'], toTimestamp(since), bucketSeconds, parameters['function_id'] ?? ''],
  }),
  'logs.all': ({ parameters }, { since }, paths) => ({
    text: `
      SELECT id, (extract(epoch FROM timestamp) * 1000000)::float8 AS timestamp, event_message,
        body -> 'metadata' AS metadata
      FROM edge_logs
      WHERE ${paths.edge} = $1 AND timestamp > $2
      ORDER BY edge_logs.timestamp DESC, id DESC
      LIMIT 100`,
    values: [parameters['project'], toTimestamp(since)],
  }),
  'usage.api-counts': ({ parameters }, { since, bucketSeconds }, paths) => ({
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
        WHERE timestamp >= $2 ${paths.countsOwn ? `AND ${paths.edge} = $1` : ''}
          AND coalesce(body -> 'metadata' -> 'request' ->> 'url', concat(body ->> 'project', body -> 'metadata' -> 'request' ->> 'path')) ~ $1
      ) AS requests
      GROUP BY bucket
      ORDER BY bucket`,
    values: [parameters['project'], toTimestamp(since), bucketSeconds],
  }),
};

function toTimestamp(instant: Date): string {
  return instant.toISOString().replace('Z', '');
}
