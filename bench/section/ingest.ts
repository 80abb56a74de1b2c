import { readDefinitions } from '../../src/definitions/read.ts';
import { decodeBatch } from '../../src/ingest/decode-batch.ts';
import { MICROS_PER_MS } from '../../src/lib/instant.ts';
import { fillSample, type Server, withServer } from '../../trial/server.ts';
import type { Wire } from '../../trial/wire.ts';
import { settle, takeThreads } from '../core-time.ts';
import { inTemporaryFolder } from '../data.ts';
import { ALL_WIRES, makeTrialEvents, type WireName } from '../events.ts';
import {
  CACHED_PATH,
  EVENTS_PER_BATCH,
  eventRate,
  LOGS_PATHS,
  type LoadResult,
  load,
  runLoad,
  sendBatches,
} from '../load.ts';
import { type BenchOptions, median, type Row, say } from '../report.ts';

const MEASUREMENTS = {
  batches: (dataDir: string) => rateRows(dataDir, RATES.batches),
  single: (dataDir: string) => rateRows(dataDir, RATES.single),
  callers: measureReads,
  decode: measureDecoding,
  protocols: measureProtocols,
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
  /** The parts of `coreMicros` over all rounds, the largest first. */
  readonly threads: readonly { readonly name: string; readonly coreMicros: number }[];
  /** Of service and engine at the end. */
  readonly rssMb: number;
}

/** What the threads of these names do; the others are few and small. */
const THREADS: Readonly<Record<string, string>> = {
  'service main': 'service: requests, keys, batches',
  'service WorkerThread': 'service: decoding',
  'service V8Worker': 'service: garbage collection',
  'engine main': 'engine: taking blocks, answers',
  'engine libuv-worker': 'engine: inserts',
  'engine ThreadPool': 'engine: inserts and merges, columns in parallel',
  'engine MergeMutate': 'engine: merges',
};

/** Rounds of load, after one that warms up. */
export async function measureRate(dataDir: string, rate: Rate): Promise<RateResult> {
  const { name, connections, eventsPerRequest, secondsMax } = rate;
  const part = { connections, secondsMax, send: { eventsPerRequest } };
  return await withServer({ dataDir }, async (server) => {
    await load(server, part);
    const result = { eventsPerSecond: [] as number[], p99Ms: [] as number[], coreMicros: [] as number[] };
    const msOf = new Map<string, number>();
    let total = 0;
    for (let round = 1; round <= RATE_ROUNDS; round++) {
      let events = 0;
      const threads = await takeThreads(server.pid, async () => {
        const { requests, seconds, p99Ms } = await load(server, part);
        events = requests * eventsPerRequest;
        result.eventsPerSecond.push(events / seconds);
        result.p99Ms.push(p99Ms);
        await settle(server.pid);
      });
      total += events;
      result.coreMicros.push((threads.reduce((sum, { ms }) => sum + ms, 0) * 1_000) / events);
      for (const { process, name: thread, ms } of threads) {
        const does = THREADS[`${process} ${thread}`] ?? `${process}: other threads`;
        msOf.set(does, (msOf.get(does) ?? 0) + ms);
      }
      say(`${name}, ${round}/${RATE_ROUNDS}: ${Math.round(result.eventsPerSecond.at(-1) ?? 0)} events/s`);
    }
    const threads = [...msOf]
      .map(([thread, ms]) => ({ name: thread, coreMicros: (ms * 1_000) / total }))
      .toSorted((a, b) => b.coreMicros - a.coreMicros);
    return { ...result, threads, rssMb: server.rssMb() };
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

const PACED_SECONDS = 15;
const PACED_CONNECTIONS = 128;

/** What a sender and a caller get at a share of the load that the machine can do. */
export interface PacedResult {
  readonly accepted: LoadResult;
  /** New answers, p50 beside this load and without it. */
  readonly asked: { readonly besideMs: number; readonly aloneMs: number };
}

/** Sends batches at a fixed rate, rejected or not, and asks for new answers beside them. */
export async function measurePaced(dataDir: string, eventsPerSecond: number): Promise<PacedResult> {
  return await withServer({ dataDir }, async (server) => {
    await sendBatches(server, { secondsMax: 3 });
    await settle(server.pid);
    const ask = () =>
      load(server, { secondsMax: PACED_SECONDS, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } });
    const alone = await ask();
    const job = {
      ...{ url: server.url, connections: PACED_CONNECTIONS, secondsMax: PACED_SECONDS, pauseMs: 0 },
      ...{ requestsMax: Number.MAX_SAFE_INTEGER, requestsPerSecond: eventsPerSecond / EVENTS_PER_BATCH },
      send: { eventsPerRequest: EVENTS_PER_BATCH },
    };
    const [accepted, beside] = await Promise.all([runLoad(job), ask()]);
    return { accepted, asked: { besideMs: beside.p50Ms, aloneMs: alone.p50Ms } };
  });
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

const PROTOCOL_ROUNDS = 5;

/** Events a second over HTTP until they are durable, and their core time, by each protocol with the same content, by turns. */
async function measureProtocols(dataDir: string): Promise<Row[]> {
  const wires = Object.keys(ALL_WIRES) as WireName[]; // the keys of a constant
  const [rates, costs] = [new Map<WireName, number[]>(), new Map<WireName, number[]>()];
  const add = (to: typeof rates, wire: WireName, value: number) =>
    to.set(wire, [...(to.get(wire) ?? []), value]);
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round <= PROTOCOL_ROUNDS; round++)
      for (const wire of wires) {
        const part = { connections: 4, secondsMax: 3, send: { eventsPerRequest: EVENTS_PER_BATCH, wire } };
        let events = 0;
        let rate = 0;
        const threads = await takeThreads(server.pid, async () => {
          const result = await load(server, part);
          events = result.requests * EVENTS_PER_BATCH;
          rate = eventRate(result);
          await settle(server.pid);
        });
        if (round === 0) continue; // the first one compiles the code
        add(rates, wire, rate);
        add(costs, wire, (threads.reduce((sum, { ms }) => sum + ms, 0) * 1_000) / events);
      }
  });
  const beside = (own: readonly number[], base: readonly number[] = []) =>
    own.map((value, i) => value / (base[i] ?? Number.NaN));
  return wires.flatMap((wire): Row[] => [
    { name: `${wire}: an event`, unit: 'core µs', values: costs.get(wire) ?? [] },
    {
      ...{ name: `${wire}: events/s beside NDJSON`, unit: '×', goal: { atLeast: 0.8 } },
      values: beside(rates.get(wire) ?? [], rates.get('ndjson')),
    },
    {
      ...{ name: `${wire}: events a core second beside NDJSON`, unit: '×', goal: { atLeast: 0.8 } },
      values: beside(costs.get('ndjson') ?? [], costs.get(wire)),
    },
  ]);
}

const DECODE_ROUNDS = 15;
const DECODED_AT = Date.UTC(2026, 10, 20, 12);

/** Core time of decoding a request of each protocol, by turns in this process, with the same content. */
async function measureDecoding(): Promise<Row[]> {
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  const events = makeTrialEvents(EVENTS_PER_BATCH, DECODED_AT);
  const rules = { now: DECODED_AT * MICROS_PER_MS, project: '' };
  const source = definitions.sources.find(({ name }) => name === 'logs');
  const decode = ({ format, write }: Wire): number => {
    const bytes = Buffer.from(write(events));
    const before = process.cpuUsage();
    decodeBatch({ bytes, format, source, candidates: definitions.sources, blockRowsMin: 500, rules });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / events.length;
  };
  const wires = Object.entries(ALL_WIRES);
  const rounds = Array.from({ length: DECODE_ROUNDS }, () => wires.map(([, wire]) => decode(wire)));
  const kept = rounds.slice(DECODE_ROUNDS / 3); // the first compile the code
  const [base = 0] = wires.map((_, i) => median(kept.map((round) => round[i] ?? 0)));
  return wires.flatMap(([name], i): Row[] => {
    const values = kept.map((round) => round[i] ?? 0);
    const beside = values.map((value) => base / value);
    return [
      { name: `${name}: decoding an event`, unit: 'core µs', values },
      { name: `${name}: events/s beside NDJSON`, unit: '×', values: beside, goal: { atLeast: 0.8 } },
    ];
  });
}
