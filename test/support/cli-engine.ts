import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';

/** Whether the commands of a test use a server: what is said of the embedded store's files does not hold then. */
export const ON_SERVER = process.env['TEST_ENGINE'] !== undefined;

/** Where commands in processes of their own keep their events: `TEST_ENGINE`, as in server-engine.ts. */
export interface CliEngine {
  /** Settings for a command on this data directory: a database for each. */
  envOf(dataDir: string | undefined): Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function openCliEngine(): Promise<CliEngine> {
  if (!ON_SERVER) return { envOf: () => ({}), remove: async () => {} };
  if (process.env['TEST_ENGINE'] !== 'front') return onServer(process.env['CLICKHOUSE_URL'] ?? '');
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-test-'));
  const { startClickHouseFront } = await import('../../trial/clickhouse-front.ts'); // loads the engine
  const front = await startClickHouseFront(folder);
  return {
    ...onServer(front.url),
    async remove() {
      await front.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function onServer(serverUrl: string): CliEngine {
  const databases = new Set<string>();
  return {
    envOf(dataDir = '') {
      const url = new URL(serverUrl);
      const database = `tailrace_test_${hash('sha256', `${process.pid} ${dataDir}`).slice(0, 12)}`;
      databases.add(database);
      url.pathname = database;
      return { CLICKHOUSE_URL: url.href };
    },
    async remove() {
      const client = createClient({ url: serverUrl, database: 'system' });
      for (const name of databases) await client.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` });
      await client.close();
    },
  };
}
