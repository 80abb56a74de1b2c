import { fillSample, type Server, withServer } from '../../trial/server.ts';
import type { LoadResult } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { CACHED_PATHS, eventRate, LOGS_PATHS, load, sendBatches } from './ingest-load.ts';

const ROUNDS = 3;
const SECONDS = 12;
// Callers, not a load by themselves.
const CACHED_PAUSE_MS = 5;
const LOGS_PAUSE_MS = 50;

interface Reads {
  readonly cached: LoadResult;
  readonly logs: LoadResult;
}

/** Latencies of callers during maximum ingest and without ingest, in turn. */
export async function measureReads(dataDir: string, { rows }: BenchOptions): Promise<Row[]> {
  await fillSample(dataDir, rows);
  const idle: Reads[] = [];
  const busy: Reads[] = [];
  const rates: number[] = [];
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round < ROUNDS; round++) {
      idle.push(await read(server));
      const [reads, batches] = await Promise.all([
        read(server),
        sendBatches(server, { secondsMax: SECONDS + 1 }),
      ]);
      busy.push(reads);
      rates.push(eventRate(batches));
      const p99 = `cached p99 ${reads.cached.p99Ms.toFixed(1)} ms, logs.all p99 ${reads.logs.p99Ms.toFixed(1)} ms`;
      say(`reads ${round + 1}/${ROUNDS}: ${p99} beside ${Math.round(eventRate(batches))} events/s`);
    }
  });
  const p99Of = (all: readonly Reads[], which: keyof Reads) => all.map((reads) => reads[which].p99Ms);
  const unit = 'ms';
  return [
    { name: 'cached GET beside batches: p99', unit, values: p99Of(busy, 'cached'), goal: { below: 20 } },
    { name: 'cached GET alone: p99', unit, values: p99Of(idle, 'cached') },
    { name: 'logs.all beside batches: p99', unit, values: p99Of(busy, 'logs'), goal: { below: 150 } },
    { name: 'logs.all alone: p99', unit, values: p99Of(idle, 'logs') },
    { name: 'batches beside these GETs', unit: 'events/s', values: rates },
  ];
}

async function read(server: Server): Promise<Reads> {
  const [cached, logs] = await Promise.all([
    load(server, { secondsMax: SECONDS, pauseMs: CACHED_PAUSE_MS, send: { paths: CACHED_PATHS } }),
    load(server, { secondsMax: SECONDS, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } }),
  ]);
  return { cached, logs };
}
