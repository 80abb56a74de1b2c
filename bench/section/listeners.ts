import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fillSample, KEY, type Server, withServer } from '../../trial/server.ts';
import type { CannonJob, CannonResult } from '../cannon-process.ts';
import { inTemporaryFolder } from '../folder.ts';
import { runChild } from '../load.ts';
import { mainThreadMs, processMs } from '../machine/core-time.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { CACHED_PATHS } from './ingest-load.ts';

const TLS_FOLDER = join(import.meta.dirname, '../../trial/tls');
const TLS = {
  TAILRACE_TLS_CERT_FILE: join(TLS_FOLDER, 'one.cert.pem'),
  TAILRACE_TLS_KEY_FILE: join(TLS_FOLDER, 'one.key.pem'),
};
const ROUNDS = 5;
const CONNECTIONS = 32;
const MS_MAX = 300_000;

/** What is requested, how often, and whether each request opens a connection. */
const KINDS = [
  { name: 'cached GET over HTTP', env: {}, amount: 4_000, isNew: false },
  { name: 'cached GET over HTTPS', env: TLS, amount: 4_000, isNew: false },
  { name: 'cached GET over HTTPS, each on a new connection', env: TLS, amount: 400, isNew: true },
] as const;

/** What listener processes cost, and what they take from the service's event loop: a service without and one with two, by turns. */
export async function listenersSection({ rows }: BenchOptions): Promise<Row[]> {
  const measured: Row[] = [];
  await inTemporaryFolder(async (folder) => {
    const dataDirs = [join(folder, 'one'), join(folder, 'two')] as const;
    for (const dataDir of dataDirs) {
      mkdirSync(dataDir);
      await fillSample(dataDir, rows);
    }
    for (const env of [{}, TLS]) {
      const quiet = { ...env, TAILRACE_LOG_LEVEL: 'warn' };
      await withServer({ dataDir: dataDirs[0], env: { ...quiet, TAILRACE_LISTENERS: '1' } }, (one) =>
        withServer({ dataDir: dataDirs[1], env: { ...quiet, TAILRACE_LISTENERS: '2' } }, async (two) => {
          for (const kind of KINDS.filter(
            (each) => 'TAILRACE_TLS_CERT_FILE' in each.env === 'TAILRACE_TLS_CERT_FILE' in env,
          ))
            measured.push(...(await measure(one, two, kind)));
        }),
      );
    }
  });
  return measured;
}

interface Cost {
  /** Of the service's main thread for a request, core µs. */
  readonly loop: number;
  /** Of all threads of service and listener processes, without the engine. */
  readonly all: number;
}

async function measure(one: Server, two: Server, kind: (typeof KINDS)[number]): Promise<Row[]> {
  const { name } = kind;
  const costs: Record<'one' | 'two', Cost[]> = { one: [], two: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const both = { one: await fire(one, kind), two: await fire(two, kind) };
    if (round === 0) continue; // until their code is compiled
    costs.one.push(both.one);
    costs.two.push(both.two);
    const [first, second] = [both.one, both.two].map(
      ({ loop, all }) => `${loop.toFixed(1)} of ${all.toFixed(1)}`,
    );
    say(`${name} ${round}/${ROUNDS}: main thread ${first} core µs, with listeners ${second}`);
  }
  return (['loop', 'all'] as const).flatMap((part) => {
    const what = part === 'loop' ? 'the main thread of the service' : 'service and listener processes';
    const [ones, twos] = [costs.one, costs.two].map((all) => all.map((cost) => cost[part]));
    return [
      { name: `${name}: ${what}`, unit: 'core µs', values: ones ?? [] },
      { name: `${name}, 2 listeners: ${what}`, unit: 'core µs', values: twos ?? [] },
      {
        name: `${name}: ${what}, 2 listeners / none`,
        unit: 'ratio',
        values: (twos ?? []).map((value, i) => value / (ones?.[i] ?? Number.NaN)),
      },
    ];
  });
}

async function fire(server: Server, { amount, isNew }: (typeof KINDS)[number]): Promise<Cost> {
  const url = `${server.url}${CACHED_PATHS[0] ?? ''}`;
  const pids = [server.pid, ...server.listeners()];
  const read = (): Cost => ({
    loop: mainThreadMs(server.pid),
    all: pids.reduce((sum, pid) => sum + processMs(pid), 0),
  });
  const before = read();
  const job: CannonJob = {
    ...{ url, headers: { 'x-api-key': KEY }, connections: CONNECTIONS, amount },
    ...(isNew && { reconnectRate: 1 }),
  };
  const result = await runChild<CannonJob, CannonResult>('cannon-process.ts', job, MS_MAX);
  const { failures, timeouts } = result;
  if (failures > 0) throw new Error(`${failures} requests to ${url} failed, ${timeouts} of them by timeout`);
  const after = read();
  const micros = (part: keyof Cost) => ((after[part] - before[part]) * 1_000) / amount;
  return { loop: micros('loop'), all: micros('all') };
}
