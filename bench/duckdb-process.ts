import Fastify from 'fastify';
import type { Question } from './questions.ts';
import { connectDuckDb, type DuckDbJob, type DuckDbStarted, NOW_PARAMETER } from './rival/duckdb.ts';
import { windowOf } from './rival/rival.ts';

interface Route {
  readonly Params: { readonly endpoint: string };
  readonly Querystring: Readonly<Record<string, string>>;
}

/** DuckDB behind a bare Fastify route, as someone would build it: no key, no checks, no cache. It ends with its parent. */
process.once('message', async ({ file }: DuckDbJob) => {
  const { connection } = await connectDuckDb(file, 'read_only');
  const app = Fastify();
  app.get<Route>('/api/endpoints/query/:endpoint', async ({ params, query }) => {
    const question = { endpoint: params.endpoint, parameters: query };
    const reader = await connection.runAndReadAll(writeQuery(question, Number(query[NOW_PARAMETER])));
    return { result: reader.getRowObjectsJS().map(withMetadata) };
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.({ url } satisfies DuckDbStarted);
});
process.once('disconnect', () => process.exit());

/** Metadata is also an object in our answers. */
function withMetadata(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { metadata } = row;
  return typeof metadata === 'string' ? { ...row, metadata: JSON.parse(metadata) } : row;
}

/** The same queries, written by hand. Values are literals, as in ours; numbers are cast to JavaScript numbers. */
function writeQuery(question: Question, nowMs: number): string {
  const window = windowOf(question, nowMs);
  const since = `TIMESTAMP '${window.since.replace('T', ' ')}'`;
  const project = `'${(question.parameters['project'] ?? '').replaceAll("'", "''")}'`;
  const width = window.bucketSeconds * 1_000_000;
  if (question.endpoint === 'functions.invocation-stats')
    return `
    SELECT bucket::DOUBLE AS timestamp, min_execution_time, max_execution_time, avg_execution_time,
      percentiles[1] AS p95_execution_time, percentiles[2] AS p99_execution_time, count, error_count
    FROM (
      SELECT epoch_us(timestamp) // ${width} * ${width} AS bucket,
        min(execution_time_ms) AS min_execution_time, max(execution_time_ms) AS max_execution_time,
        avg(execution_time_ms) AS avg_execution_time,
        approx_quantile(execution_time_ms, [0.95, 0.99]) AS percentiles,
        count(*)::INTEGER AS count, (count(*) FILTER (WHERE status_code >= 400))::INTEGER AS error_count
      FROM function_edge_logs
      WHERE project = ${project} AND timestamp >= ${since}
      GROUP BY bucket
    )
    ORDER BY timestamp`;
  if (question.endpoint === 'logs.all')
    return `
    SELECT id, epoch_us(timestamp)::DOUBLE AS timestamp, event_message, metadata
    FROM edge_logs
    WHERE project = ${project} AND edge_logs.timestamp > ${since}
    ORDER BY edge_logs.timestamp DESC, id DESC
    LIMIT 100`;
  return `
    SELECT strftime(make_timestamp(bucket), '%Y-%m-%dT%H:%M:%S') AS timestamp,
      total_rest_requests, total_storage_requests, total_auth_requests, total_realtime_requests
    FROM (
      SELECT epoch_us(timestamp) // ${width} * ${width} AS bucket,
        (count(*) FILTER (WHERE contains(path, '/rest')))::INTEGER AS total_rest_requests,
        (count(*) FILTER (WHERE contains(path, '/storage')))::INTEGER AS total_storage_requests,
        (count(*) FILTER (WHERE contains(path, '/auth')))::INTEGER AS total_auth_requests,
        (count(*) FILTER (WHERE contains(path, '/realtime')))::INTEGER AS total_realtime_requests
      FROM edge_logs
      WHERE timestamp >= ${since} AND regexp_matches(address, ${project})
      GROUP BY bucket
    )
    ORDER BY bucket`;
}
