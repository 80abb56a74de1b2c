import pino from 'pino';
import { parseConfig } from '../src/config/config.ts';
import { JSON_FORMAT } from '../src/query/format.ts';
import { parseParameters } from '../src/query/parameters.ts';
import { serviceValues } from '../src/query/position.ts';
import { createStatement } from '../src/query/statement.ts';
import { createService } from '../src/service/service.ts';
import { KEY } from '../trial/server.ts';
import type { DirectAnswer, DirectQuestion, PastJob, PastStarted } from './past-server.ts';

/**
 * A service with its clock at the end of its data, and direct access to its engine: in one process, so that both use the same
 * caches.
 */
process.once('message', async ({ dataDir, endMs, endpointsDir, alertsDir, clock }: PastJob) => {
  let steps = 0;
  const begunMs = Date.now();
  const now = () => endMs + (clock === 'steps' ? steps++ : Date.now() - begunMs);
  const config = parseConfig({
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_PRIVATE_KEY: KEY,
    ...(endpointsDir !== undefined && { TAILRACE_ENDPOINTS_DIR: endpointsDir }),
    ...(alertsDir !== undefined && { TAILRACE_ALERTS_DIR: alertsDir }),
  });
  const logger = pino({ level: 'silent' });
  const { app, core } = await createService(config, { logger, owner: 'the benchmark', now });
  const url = await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  const { engine, registry } = core;

  process.on('message', async ({ endpoint: name, parameters, nowMs }: DirectQuestion) => {
    const endpoint = registry.getEndpoint(name);
    const values = parseParameters(endpoint, parameters, 1_000);
    const { sql, format } = createStatement(endpoint, JSON_FORMAT, values);
    const bound = { ...values, ...serviceValues(endpoint, values, { instantMs: nowMs ?? now() }) };
    const startMs = performance.now();
    const { bytes } = await engine.query(sql, bound, { format });
    const ms = performance.now() - startMs;
    process.send?.({ ms, lines: bytes.toString() } satisfies DirectAnswer);
  });
  const rows = await engine.inspect(
    'SELECT project FROM tailrace.edge_logs GROUP BY project ORDER BY count() DESC, project',
  );
  const projects = rows.map((row) => String(row['project']));
  process.send?.({ url, projects } satisfies PastStarted);
});
// All writes are on the disk, so nothing has to be closed.
process.once('disconnect', () => process.exit());
