import { fillSample, KEY, withServer } from '../../trial/server.ts';
import type { BareJob, BareStarted } from '../bare-process.ts';
import type { CannonJob, CannonResult } from '../cannon-process.ts';
import { mainThreadMs } from '../core-time.ts';
import { inTemporaryFolder } from '../data.ts';
import { CACHED_PATH, runChild, startChild } from '../load.ts';
import { type BenchOptions, type Row, say } from '../report.ts';

interface Turns {
  /** Of the rows. */
  readonly name: string;
  readonly connections: number;
  readonly rounds: number;
  /** Of each round, on each side. */
  readonly burst: BurstLength;
  readonly warmUp: BurstLength;
}

/** The length of a burst: a time, or a number of requests. */
type BurstLength = Pick<CannonJob, 'seconds' | 'amount'>;

interface Burst extends CannonResult {
  /** Core time of the server's main thread for a request, µs. */
  readonly coreMicros: number;
}

interface Side {
  readonly url: string;
  readonly pid: number;
}

const ROUNDS = 5;
const CONNECTIONS = [1, 32, 256];
const LENGTHS = { burst: { seconds: 5 }, warmUp: { seconds: 3 } };
const GRACE_MS = 60_000;
const MICROS_PER_MS = 1_000;

/** A cached answer over HTTP, its key checked, beside a bare Fastify route that answers the same bytes; by turns. */
export async function cachedSection(_options: BenchOptions): Promise<Row[]> {
  return (await measureCached()).flatMap((one) => toRows(`cached GET, ${one.connections} connections`, one));
}

interface Bursts {
  readonly ours: readonly Burst[];
  readonly theirs: readonly Burst[];
}

// An answer from the cache is the same work whatever the store has.
const ROWS = 20_000;

/** By the number of connections. */
export async function measureCached(): Promise<(Bursts & { connections: number })[]> {
  return await inTemporaryFolder(async (dataDir) => {
    await fillSample(dataDir, ROWS);
    return await withServer({ dataDir, env: { TAILRACE_LOG_LEVEL: 'warn' } }, async (server) => {
      const measured: (Bursts & { connections: number })[] = [];
      for (const connections of CONNECTIONS) {
        const turns = {
          name: `cached GET, ${connections} connections`,
          connections,
          rounds: ROUNDS,
          ...LENGTHS,
        };
        measured.push({ connections, ...(await takeTurns(server, CACHED_PATH, turns)) });
      }
      return measured;
    });
  });
}

/** Sends bursts of one GET in turn to the service, which has its answer cached, and to a bare Fastify route with the same bytes and headers. */
async function takeTurns(
  server: Side,
  path: string,
  { name, connections, rounds, burst, warmUp }: Turns,
): Promise<Bursts> {
  const bare = await startChild<BareJob, BareStarted>(
    'bare-process.ts',
    await fetchAnswer(`${server.url}${path}`),
  );
  const route = { url: bare.started.url, pid: bare.pid };
  const ours: Burst[] = [];
  const theirs: Burst[] = [];
  try {
    for (const side of [server, route]) await fire(side, path, { ...warmUp, connections });
    for (let round = 1; round <= rounds; round++) {
      ours.push(await fire(server, path, { ...burst, connections }));
      theirs.push(await fire(route, path, { ...burst, connections }));
      const [own, bareBurst] = [ours, theirs].map((all) => describeBurst(all.at(-1)));
      say(`${name} ${round}/${rounds}: ${own}, bare Fastify ${bareBurst}`);
    }
  } finally {
    bare.end();
  }
  return { ours, theirs };
}

function describeBurst(burst: Burst | undefined): string {
  return `${Math.round(burst?.requestsPerSecond ?? 0)} requests/s, ${burst?.coreMicros.toFixed(1)} core µs`;
}

/** Sends one burst of a GET. @throws if a request fails */
export async function fire(
  { url, pid }: Side,
  path: string,
  load: BurstLength & Pick<CannonJob, 'connections'>,
): Promise<Burst> {
  const job: CannonJob = { url: `${url}${path}`, headers: { 'x-api-key': KEY }, ...load };
  const beforeMs = mainThreadMs(pid);
  const timeoutMs = (load.seconds ?? 0) * 1000 + GRACE_MS;
  const result = await runChild<CannonJob, CannonResult>('cannon-process.ts', job, timeoutMs);
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${job.url} failed`);
  return { ...result, coreMicros: ((mainThreadMs(pid) - beforeMs) * MICROS_PER_MS) / result.requests };
}

/** Headers that every HTTP server writes by itself. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive']);

async function fetchAnswer(url: string): Promise<BareJob> {
  const answer = await fetch(url, { headers: { 'x-api-key': KEY, 'accept-encoding': 'identity' } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const headers = [...answer.headers].filter(([name]) => !OWN_HEADERS.has(name));
  const body = Buffer.from(await answer.arrayBuffer()).toString('base64');
  return { body, headers: Object.fromEntries(headers) };
}

function toRows(name: string, { ours, theirs }: Bursts): Row[] {
  const ratios = (a: readonly Burst[], b: readonly Burst[], of: keyof Burst) =>
    a.map((burst, i) => burst[of] / (b[i]?.[of] ?? Number.NaN));
  const rate = 'requestsPerSecond';
  return [
    { name, unit: 'requests/s', values: ours.map((one) => one[rate]) },
    { name: 'bare Fastify, the same bytes', unit: 'requests/s', values: theirs.map((one) => one[rate]) },
    {
      name: `${name} / bare Fastify`,
      unit: 'ratio',
      values: ratios(ours, theirs, rate),
      goal: { atLeast: 0.95 },
    },
    { name: `${name}: main thread`, unit: 'core µs', values: ours.map((one) => one.coreMicros) },
    {
      name: `bare Fastify's main thread / ${name}`,
      unit: 'ratio',
      values: ratios(theirs, ours, 'coreMicros'),
    },
    { name: `${name}: p99`, unit: 'ms', values: ours.map((one) => one.p99Ms) },
  ];
}
