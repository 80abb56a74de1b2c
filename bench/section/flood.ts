import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { withKeyring } from '../../src/cli/environment.ts';
import { parseConfig } from '../../src/config/config.ts';
import { fillSample, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import type { LoadJob, LoadResult } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { LOGS_PATHS, tryLoad } from './ingest-load.ts';

const QUERIES = '/api/endpoints/query';
const SLOW_PATHS = Array.from({ length: 1000 }, (_, i) => `${QUERIES}/bench.slow?project=p${i}`);
const ALONE_SECONDS = 20;
const AFTER_SECONDS = 10;
const SETTLE_MS = 2_000;
// A caller's dashboard, not a load by itself.
const OTHER_PAUSE_MS = 50;
// Many more than the queue takes, each retrying soon: far more than ten times the engine's capacity.
const FLOOD_CONNECTIONS = 150;
const FLOOD_PAUSE_MS = 3_000;
// Above the engine's capacity, so that the queue is tested too, and below the flood.
const RATE = { TAILRACE_RATE_PER_SECOND: '20', TAILRACE_RATE_BURST: '40' };

interface Keys {
  readonly flooder: string;
  readonly other: string;
}

/** Latencies of a key while another one floods the service with slow queries that are never cached. */
export async function floodSection({ rows, seconds }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const endpoints = join(dataDir, 'endpoints');
    for (const from of ['endpoints', 'bench/endpoints']) cpSync(from, endpoints, { recursive: true });
    await fillSample(dataDir, rows);
    const keys = await createKeys(dataDir);
    const env = { TAILRACE_ENDPOINTS_DIR: endpoints, ...RATE };
    return await withServer({ dataDir, env }, (server) => measure(server, keys, seconds));
  });
}

async function measure(server: Server, keys: Keys, seconds: number): Promise<Row[]> {
  const flood = (part: Partial<LoadJob>) =>
    tryLoad(server, { key: keys.flooder, send: { paths: SLOW_PATHS }, ...part });
  const ask = (secondsMax: number) =>
    tryLoad(server, {
      key: keys.other,
      secondsMax,
      pauseMs: OTHER_PAUSE_MS,
      send: { paths: LOGS_PATHS },
    });
  await ask(2); // warms up
  const capacity = rateOf(await flood({ secondsMax: ALONE_SECONDS / 2 }));
  say(`the engine answers ${capacity.toFixed(1)} of the slow queries a second`);
  const alone = await ask(ALONE_SECONDS);
  say(`alone: p50 ${alone.p50Ms.toFixed(1)} ms, p99 ${alone.p99Ms.toFixed(1)} ms`);
  const rssBefore = server.rssMb();
  const rss: number[] = [];
  const watch = setInterval(() => rss.push(server.rssMb()), 500);
  const [flooding, beside] = await Promise.all([
    flood({ connections: FLOOD_CONNECTIONS, pauseMs: FLOOD_PAUSE_MS, secondsMax: seconds + 1 }),
    ask(seconds),
  ]).finally(() => clearInterval(watch));
  say(`the flooder saw ${JSON.stringify(flooding.statuses)}, the other ${JSON.stringify(beside.statuses)}`);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = await ask(AFTER_SECONDS);
  const offered = rateOf(flooding);
  const allowed = new Set(['200', '429', '503']);
  const odd = Object.keys(flooding.statuses).filter((status) => !allowed.has(status));
  const count = (status: number) => [flooding.statuses[status] ?? 0];
  return [
    {
      name: 'requests of the flooder',
      unit: '× capacity',
      values: [offered / capacity],
      goal: { atLeast: 10 },
    },
    { name: 'the flooder: 200', unit: 'answers', values: count(200) },
    { name: 'the flooder: 429', unit: 'answers', values: count(429) },
    { name: 'the flooder: 503', unit: 'answers', values: count(503) },
    { name: 'the flooder: other statuses', unit: 'statuses', values: [odd.length], goal: { below: 1 } },
    { name: 'the other: requests', unit: 'requests', values: [beside.requests] },
    { name: 'the other: failed', unit: 'requests', values: [beside.failures], goal: { below: 1 } },
    { name: 'the other alone: p50', unit: 'ms', values: [alone.p50Ms] },
    { name: 'the other alone: p99', unit: 'ms', values: [alone.p99Ms] },
    { name: 'the other beside the flood: p50', unit: 'ms', values: [beside.p50Ms] },
    { name: 'the other beside the flood: p99', unit: 'ms', values: [beside.p99Ms] },
    {
      name: 'its p99 divided by that alone',
      unit: '×',
      values: [beside.p99Ms / alone.p99Ms],
      goal: { below: 4 },
    },
    { name: 'the other 2 s after the flood: p99', unit: 'ms', values: [after.p99Ms] },
    { name: 'the same: failed', unit: 'requests', values: [after.failures], goal: { below: 1 } },
    { name: 'RSS before the flood', unit: 'MB', values: [rssBefore] },
    { name: 'RSS in it: most', unit: 'MB', values: [Math.max(...rss)] },
    { name: 'RSS after it', unit: 'MB', values: [server.rssMb()] },
  ];
}

async function createKeys(dataDir: string): Promise<Keys> {
  return await withKeyring(parseConfig({ TAILRACE_DATA_DIR: dataDir }), async (keyring) => {
    const create = async (name: string) => (await keyring.create({ name, scopes: ['query'] })).key;
    return { flooder: await create('flooder'), other: await create('other') };
  });
}

function rateOf({ requests, seconds }: LoadResult): number {
  return requests / seconds;
}
