import { fillSample, type Server, withServer } from '../../trial/server.ts';
import { type Burst, type Turns, takeTurns } from '../cached-turns.ts';
import { inTemporaryFolder } from '../folder.ts';
import type { Row } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { CACHED_PATHS } from './ingest-load.ts';

const ROUNDS = 5;
const CONNECTIONS = [1, 32, 256];
const LENGTHS = { burst: { seconds: 5 }, warmUp: { seconds: 3 } };

/** A cached answer over HTTP, its key checked, beside a bare Fastify route that answers the same bytes; by turns. */
export async function cachedSection({ rows }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    await fillSample(dataDir, rows);
    return await withServer({ dataDir, env: { TAILRACE_LOG_LEVEL: 'warn' } }, measure);
  });
}

async function measure(server: Server): Promise<Row[]> {
  const measured: Row[] = [];
  for (const connections of CONNECTIONS) {
    const name = `cached GET, ${connections} connections`;
    const turns = { name, connections, rounds: ROUNDS, ...LENGTHS };
    measured.push(...(await compareCached(server, CACHED_PATHS[0] ?? '', turns)));
  }
  return measured;
}

/** One answer, cached by the service, beside a bare Fastify route with the same bytes and headers. */
export async function compareCached(
  server: Pick<Server, 'url' | 'pid'>,
  path: string,
  turns: Turns,
): Promise<Row[]> {
  const { ours, theirs } = await takeTurns(server, path, turns);
  return toRows(turns.name, ours, theirs);
}

function toRows(name: string, ours: readonly Burst[], theirs: readonly Burst[]): Row[] {
  const rate = (all: readonly Burst[]) => all.map((one) => one.requestsPerSecond);
  const p99 = (all: readonly Burst[]) => all.map((one) => one.p99Ms);
  const core = (all: readonly Burst[]) => all.map((one) => one.coreMicros);
  const ratios = (a: readonly number[], b: readonly number[]) =>
    a.map((value, i) => value / Math.max(b[i] ?? Number.NaN, 1));
  return [
    { name, unit: 'requests/s', values: rate(ours) },
    { name: 'bare Fastify, the same bytes', unit: 'requests/s', values: rate(theirs) },
    {
      name: `${name} / bare Fastify`,
      unit: 'ratio',
      values: ratios(rate(ours), rate(theirs)),
      goal: { atLeast: 0.95 },
    },
    { name: `${name}: main thread`, unit: 'core µs', values: core(ours) },
    { name: 'bare Fastify: main thread', unit: 'core µs', values: core(theirs) },
    { name: `bare Fastify's main thread / ${name}`, unit: 'ratio', values: ratios(core(theirs), core(ours)) },
    { name: `${name}: p99`, unit: 'ms', values: p99(ours) },
    { name: 'bare Fastify: p99', unit: 'ms', values: p99(theirs) },
    {
      name: `${name}: p99 / bare Fastify`,
      unit: 'ratio',
      values: ratios(p99(ours), p99(theirs)),
      goal: { below: 1.5 },
    },
  ];
}
