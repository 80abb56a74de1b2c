import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseFront } from './clickhouse-front.ts';
import { startClickHouseFront } from './clickhouse-front.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { type Server, startServer } from './server.ts';

/** Two replicas over one ClickHouse, one PostgreSQL and one Redis, and the front between them and ClickHouse. */
export interface Replicas {
  /** Records all requests to ClickHouse. */
  readonly front: ClickHouseFront;
  /** Between the replicas and ClickHouse. */
  readonly network: FaultyProxy;
  /** Both replicas. */
  readonly servers: [Server, Server];
  /** Restarts one of them, by default the second. */
  restart(at?: 0 | 1): Promise<void>;
  /** Runs a statement in their control store. */
  readonly control: (sql: string) => Promise<Record<string, unknown>[]>;
  /** Queries of an endpoint sent to ClickHouse since `front.requests.length` had a value. */
  countQueries(endpoint: string, since: number): number;
}

const SECRET = 'of-the-benchmark-alone-0123456789-0123456789';
/** How long a cached answer of `bench.warm`, fresh for seconds, is served while ClickHouse is unavailable. */
const STALE_SECONDS = 300;

/** The names of the replicas: of their data directories, and of their accounts in PostgreSQL. */
export const REPLICAS = ['first', 'second'] as const;

export interface ReplicaOptions {
  /** Additional settings of a replica. */
  readonly env?: (name: string) => Readonly<Record<string, string>>;
}

/** Runs `work` beside two replicas and ends them, also after a failure. ClickHouse is its protocol in front of the embedded engine. */
export async function withReplicas<T>(
  folder: string,
  work: (replicas: Replicas) => Promise<T>,
  options: ReplicaOptions = {},
): Promise<T> {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const front = await startClickHouseFront(join(folder, 'clickhouse'));
    closing.push(front.close);
    const network = await startFaultyProxy(front.port);
    closing.push(network.close);
    const postgres = await startPostgres();
    closing.push(postgres.close);
    const redis = await startRedis();
    closing.push(redis.remove);
    const endpoints = join(folder, 'endpoints');
    for (const from of ['../endpoints', 'endpoints'])
      cpSync(join(import.meta.dirname, from), endpoints, { recursive: true });
    const controlUrl = await postgres.createDatabase();
    // Each has its own account, so that its sessions can be told from the other's.
    const controlUrls = new Map(
      REPLICAS.map((name) => [name, Object.assign(new URL(controlUrl), { username: name })]),
    );
    for (const [name, { password }] of controlUrls)
      await postgres.run(
        controlUrl,
        `CREATE ROLE ${name} LOGIN SUPERUSER PASSWORD '${decodeURIComponent(password)}'`,
      );
    const env = {
      CLICKHOUSE_URL: network.url,
      TAILRACE_REDIS_URL: redis.url,
      TAILRACE_TOKEN_SECRET: SECRET,
      TAILRACE_ENDPOINTS_DIR: endpoints,
      TAILRACE_STALE_IF_ERROR_SECONDS: String(STALE_SECONDS),
    };
    const start = async (name: (typeof REPLICAS)[number]) => {
      const dataDir = join(folder, name);
      mkdirSync(dataDir, { recursive: true });
      const own = { TAILRACE_CONTROL_URL: String(controlUrls.get(name)), ...options.env?.(name) };
      return await startServer({ dataDir, env: { ...env, ...own } });
    };
    // Concurrently, as in a deployment: both create the tables of an empty server and an empty control store.
    const servers = await Promise.all([start(REPLICAS[0]), start(REPLICAS[1])]);
    closing.push(() => Promise.all(servers.map((server) => server.end('SIGTERM'))));
    return await work({
      front,
      network,
      servers,
      async restart(at = 1) {
        servers[at] = await start(REPLICAS[at]);
      },
      control: (sql) => postgres.run(controlUrl, sql),
      countQueries: (endpoint, since) =>
        front.requests
          .slice(since)
          .filter(({ settings }) => settings.get('log_comment')?.split(' ')[0] === endpoint).length,
    });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
