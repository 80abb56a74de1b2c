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
} from '../load.ts';
import { type BenchOptions, type Row, say } from '../report.ts';

const MEASUREMENTS = {
  batches: measureBatches,
  single: measureSingle,
  callers: measureReads,
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

const RATE_ROUNDS = 5;

/** Rounds of requests with so many events, after one that warms up. */
async function measureRate(
  dataDir: string,
  eventsPerRequest: number,
  part: { connections: number; secondsMax: number },
) {
  const send = { eventsPerRequest };
  return await withServer({ dataDir }, async (server) => {
    await load(server, { ...part, send });
    const rates: number[] = [];
    const p99: number[] = [];
    for (let round = 1; round <= RATE_ROUNDS; round++) {
      const { requests, seconds, p99Ms } = await load(server, { ...part, send });
      rates.push((requests * eventsPerRequest) / seconds);
      p99.push(p99Ms);
      say(`ingest ${round}/${RATE_ROUNDS}: ${Math.round(rates.at(-1) ?? 0)} events/s`);
    }
    return { rates, p99 };
  });
}

/** Large requests on few connections. */
async function measureBatches(dataDir: string): Promise<Row[]> {
  const { rates, p99 } = await measureRate(dataDir, EVENTS_PER_BATCH, { connections: 8, secondsMax: 4 });
  const name = 'batches of 1,000 events, 8 connections';
  return [
    { name, unit: 'events/s', values: rates, goal: { atLeast: 25_000 } },
    { name: `${name}: p99`, unit: 'ms', values: p99 },
  ];
}

/** The smallest requests: the cost of each, and whether concurrent ones share a batch. */
async function measureSingle(dataDir: string): Promise<Row[]> {
  const { rates, p99 } = await measureRate(dataDir, 1, { connections: 64, secondsMax: 8 });
  const name = 'one event a request, 64 connections';
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
      say(`callers ${round + 1}/${READ_ROUNDS}: ${p99} beside ${Math.round(eventRate(batches))} events/s`);
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
