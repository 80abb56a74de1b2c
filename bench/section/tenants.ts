import { pino } from 'pino';
import { parseConfig } from '../../src/config/config.ts';
import { createService } from '../../src/service/service.ts';
import { TENANT_BOUNDS, tenantEnv, tenantRounds } from '../../trial/tenants/rounds.ts';
import { inTemporaryFolder } from '../data.ts';
import { type BenchOptions, type Row, say } from '../report.ts';

const NONE = { below: 1 };

/** Whether any key or person ever sees rows that are not its own, over many random requests. */
export async function tenantsSection({ requests }: BenchOptions): Promise<Row[]> {
  const nowMs = Date.now();
  const so = await inTemporaryFolder(async (folder) => {
    const env = { ...(await tenantEnv(folder)), TAILRACE_DATA_DIR: folder };
    const config = { ...parseConfig(env), ...TENANT_BOUNDS };
    const service = await createService(config, {
      logger: pino({ level: 'silent' }),
      owner: 'the benchmark',
      now: () => nowMs,
    });
    const onProgress = (done: number) => say(`tenants: ${done} of ${requests} requests`);
    try {
      return await tenantRounds({ service, dataDir: folder, nowMs, requests, seed: 1, onProgress });
    } finally {
      await service.close();
    }
  });
  if (so.firstFault !== '') say(`the first fault: ${so.firstFault}`);
  return [
    { name: 'requests of 20 tenants', unit: 'requests', values: [so.requests] },
    { name: 'of them answered with rows', unit: 'requests', values: [so.answers] },
    { name: 'of them from the cache', unit: 'requests', values: [so.hits] },
    { name: 'rows in these answers', unit: 'rows', values: [so.rows] },
    { name: 'of them read by people', unit: 'rows', values: [so.rowsOfPeople] },
    { name: 'answers with foreign or wrong rows', unit: 'answers', values: [so.wrongRows], goal: NONE },
    { name: 'wrong statuses', unit: 'answers', values: [so.wrongStatuses], goal: NONE },
  ];
}
