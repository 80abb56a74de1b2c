import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Server, withServer } from '../../trial/server.ts';
import { perItem, readServiceTime, type ServiceTime } from '../machine/process-time.ts';
import { type Row, say } from '../report.ts';
import { EVENTS_PER_BATCH, eventRate, sendBatches } from './ingest-load.ts';

const ROUNDS = 3;
const BATCHES = 150;
const WARM_UP_BATCHES = 30;
// Merges follow the last batch by some seconds; a busy machine takes longer.
const QUIET_MS = 3_000;
const SETTLED_MS_MAX = 60_000;
/** Engine time within `QUIET_MS` that is no merge. */
const IDLE_MS = 60;

/** The core time of an event by where it is spent, µs: under load, and of the merges that follow it. */
interface Costs extends ServiceTime {
  readonly merges: number;
  readonly rate: number;
}

/** Core time of an event over HTTP, in batches, with all merges of its parts until the engine rests. */
export async function measureCore(dataDir: string): Promise<Row[]> {
  const costs: Costs[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const one = await withServer({ dataDir: join(dataDir, `core-${round}`) }, measureOnce);
    costs.push(one);
    const parts = (['loop', 'threads', 'engine', 'merges'] as const).map(
      (part) => `${part} ${one[part].toFixed(1)}`,
    );
    say(`core ${round + 1}/${ROUNDS}: ${parts.join(', ')} µs an event at ${Math.round(one.rate)} events/s`);
  }
  const row = (name: string, value: (one: Costs) => number) => ({
    ...{ name: `an event in batches, ${name}`, unit: 'core µs', values: costs.map(value) },
  });
  return [
    { ...row('service and engine', sum), goal: { below: 35 } },
    row('event loop', ({ loop }) => loop),
    row('other threads of the service', ({ threads }) => threads),
    row('engine under load', ({ engine }) => engine),
    row('merges after the load', ({ merges }) => merges),
  ];
}

function sum({ loop, threads, engine, merges }: Costs): number {
  return loop + threads + engine + merges;
}

async function measureOnce(server: Server): Promise<Costs> {
  await sendBatches(server, { requestsMax: WARM_UP_BATCHES });
  await settle(server);
  const before = readServiceTime(server.pid);
  const sent = await sendBatches(server, { requestsMax: BATCHES });
  const after = readServiceTime(server.pid);
  await settle(server);
  const count = sent.requests * EVENTS_PER_BATCH;
  const merges = perItem(after, readServiceTime(server.pid), count).engine;
  return { ...perItem(before, after, count), merges, rate: eventRate(sent) };
}

/** Resolves when the engine rests. */
async function settle({ pid }: Server): Promise<void> {
  const endMs = performance.now() + SETTLED_MS_MAX;
  for (let before = readServiceTime(pid).engine; performance.now() < endMs; ) {
    await wait(QUIET_MS);
    const now = readServiceTime(pid).engine;
    if (now - before < IDLE_MS) return;
    before = now;
  }
}
