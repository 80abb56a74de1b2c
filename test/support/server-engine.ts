import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { findServerAddress, type ServerAddress } from '../../src/config/clickhouse.ts';
import { parseConfig } from '../../src/config/config.ts';
import { readSandboxStatements } from './sandbox-user.ts';

/** A server that lets everyone in. */
export function addressOf(url: string, database = 'tailrace'): ServerAddress {
  const account = { user: 'default', password: '', readUser: 'default', readPassword: '' };
  return { url, database, ...account, sandbox: undefined, cluster: '', tls: undefined };
}

/** The engine that tests are run on: settings that lead to an empty store of their own. */
export interface TestEngine {
  readonly env: Readonly<Record<string, string>>;
  /** To be called when nothing uses the store any more. */
  remove(): Promise<void>;
}

/**
 * What `TEST_ENGINE` says (vitest.config.ts): without it the embedded engine; `front`: a server whose engine is the embedded one;
 * `clickhouse`: that of `CLICKHOUSE_URL`.
 *
 * @param dir an empty folder of the test
 */
export async function openTestEngine(dir: string): Promise<TestEngine> {
  const kind = process.env['TEST_ENGINE'];
  if (kind === 'front') return await openFront(join(dir, 'clickhouse'));
  if (kind === 'clickhouse') return await openDatabase(process.env['CLICKHOUSE_URL'] ?? '');
  return { env: {}, remove: async () => {} };
}

async function openFront(dir: string): Promise<TestEngine> {
  const { startClickHouseFront } = await import('../../trial/clickhouse-front.ts'); // loads the engine
  const front = await startClickHouseFront(dir);
  return { env: { CLICKHOUSE_URL: front.url }, remove: front.close };
}

/** A database of its own on a real server, with users that may only read it, as docs/scaling.md has them. */
async function openDatabase(serverUrl: string): Promise<TestEngine> {
  const name = `tailrace_test_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(16).toString('hex');
  const address = findServerAddress(parseConfig({ CLICKHOUSE_URL: serverUrl }));
  if (address === undefined) throw new Error('CLICKHOUSE_URL must be the address of a ClickHouse server');
  const { url, user: username, password: ownPassword } = address;
  const client = createClient({ url, username, password: ownPassword, database: 'system' });
  const run = async (query: string) => void (await client.command({ query }));
  await run(`CREATE DATABASE ${name}`);
  await run(`CREATE USER ${name} IDENTIFIED BY '${password}'`);
  await run(`GRANT SELECT ON ${name}.* TO ${name}`);
  const sandbox = `${name}_sandbox`;
  for (const statement of await readSandboxStatements(name, password)) await run(statement);
  const own = new URL(serverUrl);
  own.pathname = `/${name}`;
  return {
    env: {
      CLICKHOUSE_URL: own.href,
      CLICKHOUSE_READ_USER: `${name}:${password}`,
      CLICKHOUSE_SANDBOX_USER: `${sandbox}:${password}`,
    },
    async remove() {
      await run(`DROP ROW POLICY ${sandbox}, ${name}_others ON ${name}.*`);
      await run(`DROP DATABASE ${name} SYNC`);
      await run(`DROP USER ${name}, ${sandbox}`);
      await run(`DROP QUOTA ${sandbox}`);
      await run(`DROP SETTINGS PROFILE ${sandbox}`);
      await client.close();
    },
  };
}
