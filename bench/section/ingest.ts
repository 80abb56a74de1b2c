import { join } from 'node:path';
import { fillSample, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../data.ts';
import {
  CACHED_PATH,
  EVENTS_PER_BATCH,
  eventRate,
  LOGS_PATHS,
  type LoadResult,
  load,
  sendBatches,
  tryLoad,
} from '../load.ts';
import { type BenchOptions, type Goal, type Row, say } from '../report.ts';

const MEASUREMENTS = {
  batches: measureBatches,
  single: measureSingle,
  reads: measureReads,
  load: measureLoad,
};

export const INGEST_PARTS = Object.keys(MEASUREMENTS);

/** The cost of ingest over HTTP. */
export async function ingestSection(options: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    await inTemporaryFolder(async (dataDir) => {
      rows.push(...(await measure(dataDir, options)));
    });
  }
  return rows;
}

const BATCH_ROUNDS = 5;
const BATCHES = 120;
const WARM_UP_BATCHES = 20;

/** Large requests on few connections. */
async function measureBatches(dataDir: string): Promise<Row[]> {
  const rates: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round < BATCH_ROUNDS; round++) {
    const done = await withServer({ dataDir: join(dataDir, String(round)) }, async (server) => {
      await sendBatches(server, { requestsMax: WARM_UP_BATCHES });
      return await sendBatches(server, { requestsMax: BATCHES });
    });
    rates.push(eventRate(done));
    p99.push(done.p99Ms);
    say(`batches ${round + 1}/${BATCH_ROUNDS}: ${Math.round(eventRate(done))} events/s`);
  }
  const name = 'batches of 1,000 events, 8 connections';
  return [
    { name, unit: 'events/s', values: rates, goal: { atLeast: 25_000 } },
    { name: `${name}: p99`, unit: 'ms', values: p99 },
  ];
}

const SINGLE_ROUNDS = 5;
const SINGLE_SECONDS = 8;
const SINGLE_CONNECTIONS = 64;

/** The smallest requests: the cost of each, and whether concurrent ones share a batch. */
async function measureSingle(dataDir: string): Promise<Row[]> {
  const rates: number[] = [];
  const p99: number[] = [];
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round < SINGLE_ROUNDS; round++) {
      const bounds = { connections: SINGLE_CONNECTIONS, secondsMax: SINGLE_SECONDS };
      const done = await load(server, { ...bounds, send: { eventsPerRequest: 1 } });
      rates.push(done.requests / done.seconds);
      p99.push(done.p99Ms);
      say(`single ${round + 1}/${SINGLE_ROUNDS}: ${Math.round(done.requests / done.seconds)} requests/s`);
    }
  });
  const name = `one event a request, ${SINGLE_CONNECTIONS} connections`;
  return [
    { name, unit: 'requests/s', values: rates, goal: { atLeast: 2_000 } },
    { name: `${name}: p99`, unit: 'ms', values: p99, goal: { below: 250 } },
  ];
}

const READ_ROUNDS = 3;
const READ_SECONDS = 12;
// Callers, not a load by themselves.
const CACHED_PAUSE_MS = 5;
const LOGS_PAUSE_MS = 50;

interface Reads {
  readonly cached: LoadResult;
  readonly logs: LoadResult;
}

/** Latencies of callers during maximum ingest and without ingest, in turn. */
async function measureReads(dataDir: string, { rows }: BenchOptions): Promise<Row[]> {
  await fillSample(dataDir, rows);
  const idle: Reads[] = [];
  const busy: Reads[] = [];
  const rates: number[] = [];
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round < READ_ROUNDS; round++) {
      idle.push(await read(server));
      const beside = sendBatches(server, { secondsMax: READ_SECONDS + 1 });
      const [reads, batches] = await Promise.all([read(server), beside]);
      busy.push(reads);
      rates.push(eventRate(batches));
      const p99 = `cached p99 ${reads.cached.p99Ms.toFixed(1)} ms, logs.all p99 ${reads.logs.p99Ms.toFixed(1)} ms`;
      say(`reads ${round + 1}/${READ_ROUNDS}: ${p99} beside ${Math.round(eventRate(batches))} events/s`);
    }
  });
  const p99Row = (name: string, all: readonly Reads[], which: keyof Reads): Row => ({
    ...{ name, unit: 'ms', values: all.map((reads) => reads[which].p99Ms) },
  });
  return [
    { ...p99Row('cached GET beside batches: p99', busy, 'cached'), goal: { below: 20 } },
    p99Row('cached GET alone: p99', idle, 'cached'),
    { ...p99Row('logs.all beside batches: p99', busy, 'logs'), goal: { below: 150 } },
    p99Row('logs.all alone: p99', idle, 'logs'),
    { name: 'batches beside these GETs', unit: 'events/s', values: rates },
  ];
}

async function read(server: Server): Promise<Reads> {
  const secondsMax = READ_SECONDS;
  const [cached, logs] = await Promise.all([
    load(server, { secondsMax, pauseMs: CACHED_PAUSE_MS, send: { paths: [CACHED_PATH] } }),
    load(server, { secondsMax, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } }),
  ]);
  return { cached, logs };
}

const LOAD_ROUNDS = 3;
const LOAD_WARM_UP_SECONDS = 5;
const LOAD_SECONDS = 10;

interface LoadRound {
  /** Batches a second that the service stores if each sender waits for its response. */
  readonly fullRate: number;
  readonly half: LoadResult;
  readonly twice: LoadResult;
}

/** Batches that arrive at half of the rate that the service reached just before, and at twice that rate. */
async function measureLoad(dataDir: string): Promise<Row[]> {
  const rounds: LoadRound[] = [];
  await withServer({ dataDir }, async (server) => {
    const batches = (bounds: { secondsMax: number; perSecond?: number }) =>
      tryLoad(server, { connections: 8, send: { eventsPerRequest: EVENTS_PER_BATCH }, ...bounds });
    await batches({ secondsMax: LOAD_WARM_UP_SECONDS });
    for (let round = 0; round < LOAD_ROUNDS; round++) {
      const full = await batches({ secondsMax: LOAD_SECONDS });
      const fullRate = full.accepted.requests / full.seconds;
      const half = await batches({ secondsMax: LOAD_SECONDS, perSecond: fullRate / 2 });
      const twice = await batches({ secondsMax: LOAD_SECONDS, perSecond: fullRate * 2 });
      rounds.push({ fullRate, half, twice });
      say(`load ${round + 1}/${LOAD_ROUNDS}: full ${Math.round(fullRate * EVENTS_PER_BATCH)} events/s`);
    }
  });
  const row = (name: string, unit: string, value: (round: LoadRound) => number, goal?: Goal): Row => ({
    ...{ name, unit, values: rounds.map(value).filter((one) => !Number.isNaN(one)) },
    ...(goal !== undefined && { goal }),
  });
  const goodput = ({ twice, fullRate }: LoadRound) => twice.accepted.requests / twice.seconds / fullRate;
  return [
    row('batches of 1,000 events, full load', 'events/s', ({ fullRate }) => fullRate * EVENTS_PER_BATCH),
    row('a batch at half the load: p50', 'ms', ({ half }) => half.accepted.p50Ms),
    row('a batch at half the load: p99', 'ms', ({ half }) => half.accepted.p99Ms, { below: 150 }),
    row('twice the load: share rejected', 'ratio', ({ twice }) => twice.refused.requests / twice.requests),
    // A machine that became faster meanwhile rejects nothing.
    row('twice the load: a rejection, p99', 'ms', ({ twice }) => twice.refused.p99Ms, { below: 50 }),
    row('twice the load: an accepted batch, p99', 'ms', ({ twice }) => twice.accepted.p99Ms),
    row('twice the load: stored / full load', 'ratio', goodput, { atLeast: 0.9 }),
  ];
}
