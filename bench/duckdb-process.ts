import Fastify from 'fastify';
import { askDuckDb, connectDuckDb, NOW_PARAMETER } from './rival/duckdb-query.ts';

export interface DuckDbJob {
  readonly file: string;
}

export interface DuckDbStarted {
  readonly url: string;
}

interface Route {
  readonly Params: { readonly endpoint: string };
  readonly Querystring: Readonly<Record<string, string>>;
}

/** DuckDB behind a bare Fastify route, as someone would build it: no key, no checks, no cache. It ends with its parent. */
process.once('message', async ({ file }: DuckDbJob) => {
  const { connection } = await connectDuckDb(file, 'read_only');
  const app = Fastify();
  app.get<Route>('/api/endpoints/query/:endpoint', async ({ params, query }) => {
    const rows = await askDuckDb(
      connection,
      { endpoint: params.endpoint, parameters: query },
      Number(query[NOW_PARAMETER]),
    );
    return { result: rows.map(withMetadata) };
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.({ url } satisfies DuckDbStarted);
});
process.once('disconnect', () => process.exit());

/** Metadata is an object in our answers, too. */
function withMetadata(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { metadata } = row;
  return typeof metadata === 'string' ? { ...row, metadata: JSON.parse(metadata) } : row;
}
