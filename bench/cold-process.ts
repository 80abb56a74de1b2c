import pino from 'pino';
import { parseConfig } from '../src/config/config.ts';
import { serviceValues } from '../src/query/bucket-range.ts';
import { parseParameters } from '../src/query/parameters.ts';
import { createStatement } from '../src/query/statement.ts';
import { createService } from '../src/service.ts';
import type { BenchData } from './data.ts';
import { KEY } from './server.ts';

/** What an endpoint is asked. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface ColdStarted {
  readonly url: string;
  /** Projects, those with most gateway requests first. */
  readonly projects: readonly string[];
}

/** Answers to a question asked of the engine itself. */
export interface DirectAnswer {
  readonly ms: number;
}

/**
 * A service whose clock stands where its data ends, and its engine beside it: the same process, so that both have the same
 * caches. Each look at the clock is a millisecond later than the one before: the instant is in every query's conditions, so
 * the engine's own cache of conditions never has the answer.
 */
process.once('message', async ({ dataDir, endMs }: BenchData) => {
  let nowMs = endMs;
  const config = parseConfig({
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_PRIVATE_KEY: KEY,
    TAILRACE_READERS: '2',
  });
  const { app, store } = await createService(config, {
    logger: pino({ level: 'silent' }),
    owner: 'the benchmark',
    now: () => nowMs++,
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { engine, registry } = store;

  process.on('message', async ({ endpoint: name, parameters }: Question) => {
    const endpoint = registry.getEndpoint(name);
    const { sql, format } = createStatement(endpoint);
    const values = parseParameters(endpoint, parameters, 1_000);
    const bound = { ...values, ...serviceValues(endpoint, values, { instantMs: nowMs++ }) };
    const startMs = performance.now();
    await engine.query(sql, bound, { format });
    process.send?.({ ms: performance.now() - startMs } satisfies DirectAnswer);
  });
  const rows = await engine.inspect(
    'SELECT project FROM tailrace.edge_logs GROUP BY project ORDER BY count() DESC, project',
  );
  const projects = rows.map((row) => String(row['project']));
  process.send?.({ url, projects } satisfies ColdStarted);
});
// Nothing is written, so nothing has to be ended.
process.once('disconnect', () => process.exit());
