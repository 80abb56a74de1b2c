import { join } from 'node:path';
import { withServer } from '../../trial/server.ts';
import type { EngineJob, EngineResult } from '../engine-process.ts';
import { runChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import { EVENTS_PER_BATCH, eventRate, sendBatches } from './ingest-load.ts';

const ROUNDS = 5;
const BATCHES = 120;
const WARM_UP_BATCHES = 20;
const ENGINE_MS_MAX = 120_000;

/** Large requests on few connections, compared with the engine alone for the same rows; in turn, in the same run. */
export async function measureBatches(dataDir: string): Promise<Row[]> {
  const http: number[] = [];
  const engine: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const done = await withServer({ dataDir: join(dataDir, `http-${round}`) }, async (server) => {
      await sendBatches(server, { requestsMax: WARM_UP_BATCHES });
      return await sendBatches(server, { requestsMax: BATCHES });
    });
    http.push(eventRate(done));
    p99.push(done.p99Ms);
    const rows = BATCHES * EVENTS_PER_BATCH;
    const job = { dataDir: join(dataDir, `engine-${round}`), rows };
    const alone = await runChild<EngineJob, EngineResult>('engine-process.ts', job, ENGINE_MS_MAX);
    engine.push(rows / alone.seconds);
    const rates = `${Math.round(eventRate(done))} events/s, the engine alone ${Math.round(rows / alone.seconds)}`;
    say(`batches ${round + 1}/${ROUNDS}: ${rates}, ${Math.round(alone.bytes / rows)} bytes a row`);
  }
  const ratios = http.map((rate, i) => rate / (engine[i] ?? Number.NaN));
  const name = 'batches of 1,000 events, 8 connections';
  return [
    { name, unit: 'events/s', values: http, goal: { atLeast: 25_000 } },
    { name: 'the same rows, engine alone, one INSERT', unit: 'events/s', values: engine },
    { name: `${name} / engine alone`, unit: 'ratio', values: ratios, goal: { atLeast: 0.4 } },
    { name: `${name}: p99`, unit: 'ms', values: p99 },
  ];
}
