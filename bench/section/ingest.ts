import { fillSample, type Server, withServer } from '../../trial/server.ts';
import { settle, takeService } from '../core-time.ts';
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
  batches: (dataDir: string) => rateRows(dataDir, RATES.batches),
  single: (dataDir: string) => rateRows(dataDir, RATES.single),
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

/** A kind of load. */
interface Rate {
  readonly name: string;
  readonly connections: number;
  readonly eventsPerRequest: number;
  readonly secondsMax: number;
  readonly atLeast: number;
}

/** Large requests on few connections, and the smallest ones, which share batches. */
export const RATES = {
  batches: {
    ...{
      name: 'requests of 1,000 events, 8 connections',
      connections: 8,
      eventsPerRequest: EVENTS_PER_BATCH,
    },
    ...{ secondsMax: 4, atLeast: 25_000 },
  },
  single: {
    ...{ name: 'one event a request, 64 connections', connections: 64, eventsPerRequest: 1 },
    ...{ secondsMax: 8, atLeast: 2_000 },
  },
} as const satisfies Record<string, Rate>;

/** What was measured, a value a round. */
export interface RateResult {
  readonly eventsPerSecond: readonly number[];
  readonly p99Ms: readonly number[];
  /** Of service and engine, for an event, merges included. */
  readonly coreMicros: readonly number[];
  /** Of service and engine at the end. */
  readonly rssMb: number;
}

/** Rounds of load, after one that warms up. */
export async function measureRate(dataDir: string, rate: Rate): Promise<RateResult> {
  const { name, connections, eventsPerRequest, secondsMax } = rate;
  const part = { connections, secondsMax, send: { eventsPerRequest } };
  return await withServer({ dataDir }, async (server) => {
    await load(server, part);
    const result = { eventsPerSecond: [] as number[], p99Ms: [] as number[], coreMicros: [] as number[] };
    for (let round = 1; round <= RATE_ROUNDS; round++) {
      let events = 0;
      const { serviceMs, engineMs } = await takeService(server.pid, async () => {
        const { requests, seconds, p99Ms } = await load(server, part);
        events = requests * eventsPerRequest;
        result.eventsPerSecond.push(events / seconds);
        result.p99Ms.push(p99Ms);
        await settle(server.pid);
      });
      result.coreMicros.push(((serviceMs + engineMs) * 1_000) / events);
      say(`${name}, ${round}/${RATE_ROUNDS}: ${Math.round(result.eventsPerSecond.at(-1) ?? 0)} events/s`);
    }
    return { ...result, rssMb: server.rssMb() };
  });
}

async function rateRows(dataDir: string, rate: Rate): Promise<Row[]> {
  const { eventsPerSecond, p99Ms, coreMicros, rssMb } = await measureRate(dataDir, rate);
  return [
    { name: rate.name, unit: 'events/s', values: eventsPerSecond, goal: { atLeast: rate.atLeast } },
    { name: `${rate.name}: p99`, unit: 'ms', values: p99Ms },
    { name: `${rate.name}: an event`, unit: 'core µs', values: coreMicros },
    { name: `${rate.name}: service and engine`, unit: 'MB', values: [rssMb] },
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
