import { withServer } from '../../trial/server.ts';
import { type Row, say } from '../report.ts';
import { load } from './ingest-load.ts';

const ROUNDS = 5;
const SECONDS = 8;
const CONNECTIONS = 64;

/** The smallest requests: the cost of each, and whether concurrent ones share a batch. */
export async function measureSingle(dataDir: string): Promise<Row[]> {
  const rates: number[] = [];
  const p99: number[] = [];
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round < ROUNDS; round++) {
      const send = { eventsPerRequest: 1 };
      const done = await load(server, { connections: CONNECTIONS, secondsMax: SECONDS, send });
      rates.push(done.requests / done.seconds);
      p99.push(done.p99Ms);
      const rate = Math.round(done.requests / done.seconds);
      say(`single ${round + 1}/${ROUNDS}: ${rate} requests/s, p99 ${Math.round(done.p99Ms)} ms`);
    }
  });
  const name = `one event a request, ${CONNECTIONS} connections`;
  return [
    { name, unit: 'requests/s', values: rates, goal: { atLeast: 2_000 } },
    { name: `${name}: p99`, unit: 'ms', values: p99, goal: { below: 250 } },
  ];
}
