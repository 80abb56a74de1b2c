import { fillSample, KEY, type Server, withServer } from '../../trial/server.ts';
import type { BareJob, BareStarted } from '../bare-process.ts';
import type { CannonJob, CannonResult } from '../cannon-process.ts';
import { inTemporaryFolder } from '../folder.ts';
import { runChild, startChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { CACHED_PATHS } from './ingest-load.ts';

const ROUNDS = 5;
const CONNECTIONS = 32;
const SECONDS = 5;
const WARM_UP_SECONDS = 3;
const GRACE_MS = 30_000;

/** A cached answer over HTTP, its key checked, beside a bare Fastify route that answers the same bytes; by turns. */
export async function cachedSection({ rows }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    await fillSample(dataDir, rows);
    return await withServer({ dataDir, env: { TAILRACE_LOG_LEVEL: 'warn' } }, measure);
  });
}

async function measure(server: Server): Promise<Row[]> {
  const name = `cached GET, ${CONNECTIONS} connections`;
  const turns = { name, rounds: ROUNDS, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS };
  return await compareCached(server, CACHED_PATHS[0] ?? '', turns);
}

export interface Turns {
  /** Of the rows. */
  readonly name: string;
  readonly rounds: number;
  /** Of each round, on each side. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

/** One answer, cached by the service, beside a bare Fastify route with the same bytes and headers. */
export async function compareCached(server: Server, path: string, turns: Turns): Promise<Row[]> {
  const { name, rounds, seconds, warmUpSeconds } = turns;
  const job = await fetchAnswer(`${server.url}${path}`);
  const bare = await startChild<BareJob, BareStarted>('bare-process.ts', job);
  const ours: CannonResult[] = [];
  const theirs: CannonResult[] = [];
  try {
    for (const url of [server.url, bare.started.url]) await fire(`${url}${path}`, warmUpSeconds);
    for (let round = 1; round <= rounds; round++) {
      ours.push(await fire(`${server.url}${path}`, seconds));
      theirs.push(await fire(`${bare.started.url}${path}`, seconds));
      const rates = [ours, theirs].map((all) => Math.round(all.at(-1)?.requestsPerSecond ?? 0));
      say(`${name} ${round}/${rounds}: ${rates[0]} requests/s, bare Fastify ${rates[1]}`);
    }
  } finally {
    bare.end();
  }
  return toRows(name, ours, theirs);
}

function toRows(name: string, ours: readonly CannonResult[], theirs: readonly CannonResult[]): Row[] {
  const rate = (all: readonly CannonResult[]) => all.map((one) => one.requestsPerSecond);
  const p99 = (all: readonly CannonResult[]) => all.map((one) => one.p99Ms);
  const ratios = (a: readonly number[], b: readonly number[]) =>
    a.map((value, i) => value / Math.max(b[i] ?? Number.NaN, 1));
  return [
    { name, unit: 'requests/s', values: rate(ours) },
    { name: 'bare Fastify, the same bytes', unit: 'requests/s', values: rate(theirs) },
    {
      name: `${name} / bare Fastify`,
      unit: 'ratio',
      values: ratios(rate(ours), rate(theirs)),
      goal: { atLeast: 0.85 },
    },
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

async function fire(url: string, seconds: number): Promise<CannonResult> {
  const job: CannonJob = { url, headers: { 'x-api-key': KEY }, connections: CONNECTIONS, seconds };
  const result = await runChild<CannonJob, CannonResult>('cannon-process.ts', job, seconds * 1000 + GRACE_MS);
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${url} failed`);
  return result;
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
