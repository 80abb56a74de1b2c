import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseFront } from './clickhouse-front.ts';
import { startClickHouseFront } from './clickhouse-front.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { type Server, startServer } from './server.ts';

/** Two services over one ClickHouse, one PostgreSQL and one Redis, and what stands between. */
export interface Replicas {
  /** All that ClickHouse is asked. */
  readonly front: ClickHouseFront;
  /** Between the services and ClickHouse. */
  readonly network: FaultyProxy;
  /** The two that run. */
  readonly servers: [Server, Server];
  /** Starts the second anew. */
  restart(): Promise<void>;
  /** Queries of an endpoint that ClickHouse was asked since a look at `front.requests.length`. */
  countQueries(endpoint: string, since: number): number;
}

const SECRET = 'of-the-benchmark-alone-0123456789-0123456789';
/** For how long an answer of `bench.warm`, which is good for seconds, is served while ClickHouse is away. */
const STALE_SECONDS = 300;

/** Runs `work` beside two replicas, and ends all after it, whatever comes of it. ClickHouse is its protocol before the embedded engine. */
export async function withReplicas<T>(folder: string, work: (replicas: Replicas) => Promise<T>): Promise<T> {
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
    const env = {
      CLICKHOUSE_URL: network.url,
      TAILRACE_CONTROL_URL: await postgres.createDatabase(),
      TAILRACE_REDIS_URL: redis.url,
      TAILRACE_TOKEN_SECRET: SECRET,
      TAILRACE_ENDPOINTS_DIR: endpoints,
      TAILRACE_STALE_IF_ERROR_SECONDS: String(STALE_SECONDS),
    };
    const start = async (name: string) => {
      const dataDir = join(folder, name);
      mkdirSync(dataDir, { recursive: true });
      return await startServer({ dataDir, env });
    };
    // At once, as a deployment does: they make the tables of one empty server and one empty control store together.
    const servers = await Promise.all([start('first'), start('second')]);
    closing.push(() => Promise.all(servers.map((server) => server.end('SIGTERM'))));
    return await work({
      front,
      network,
      servers,
      async restart() {
        servers[1] = await start('second');
      },
      countQueries: (endpoint, since) =>
        front.requests
          .slice(since)
          .filter(({ settings }) => settings.get('log_comment')?.split(' ')[0] === endpoint).length,
    });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
