import { KEY } from '../trial/server.ts';
import type { BareJob, BareStarted } from './bare-process.ts';
import type { CannonJob, CannonResult } from './cannon-process.ts';
import { runChild, startChild } from './load.ts';
import { mainThreadMs } from './machine/core-time.ts';
import { say } from './report.ts';

export interface Turns {
  /** Of the rows. */
  readonly name: string;
  readonly connections: number;
  readonly rounds: number;
  /** Of each round, on each side. */
  readonly burst: BurstLength;
  readonly warmUp: BurstLength;
}

/** The length of a burst: a time, or a number of requests. */
export type BurstLength = Pick<CannonJob, 'seconds' | 'amount'>;

export interface Burst extends CannonResult {
  /** Core time of the server's main thread for a request, µs. */
  readonly coreMicros: number;
}

export interface Bursts {
  readonly ours: readonly Burst[];
  readonly theirs: readonly Burst[];
}

const GRACE_MS = 60_000;
const MICROS_PER_MS = 1_000;

export interface Side {
  readonly url: string;
  readonly pid: number;
  /** Of each request; by default those of the key with every scope. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends bursts of one GET in turn to the service, which has its answer cached, and to a bare Fastify route with the same bytes and headers. */
export async function takeTurns(server: Side, path: string, turns: Turns): Promise<Bursts> {
  const { name, connections, rounds, burst, warmUp } = turns;
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
      const rates = [ours, theirs].map((all) => describeBurst(all.at(-1)));
      say(`${name} ${round}/${rounds}: ${rates[0]}, bare Fastify ${rates[1]}`);
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
  { url, pid, headers = { 'x-api-key': KEY } }: Side,
  path: string,
  load: BurstLength & Pick<CannonJob, 'connections'>,
): Promise<Burst> {
  const job: CannonJob = { url: `${url}${path}`, headers, ...load };
  const beforeMs = mainThreadMs(pid);
  const result = await runChild<CannonJob, CannonResult>(
    'cannon-process.ts',
    job,
    (load.seconds ?? 0) * 1000 + GRACE_MS,
  );
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
