import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { INGEST_PATH, QUERY_PATH, send } from '../../trial/http.ts';
import { KEY, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { type Row, say, timesRow } from '../report.ts';

const TAILS = 1_000;
const ROUNDS = 30;
const EVERY_MS = 500;
const LAST_MS = 3_000;
// Of src/service/service.ts.
const TICK_MS = 250;
const PATH = `${QUERY_PATH}/logs.all?project=tails`;

/** A thousand live tails of one question: queries, time from the commit to the reader, memory. */
export async function tailsSection(): Promise<Row[]> {
  const env = { TAILRACE_TAILS_PER_KEY_MAX: String(TAILS) };
  return await inTemporaryFolder((dataDir) =>
    withServer({ dataDir, env }, async (server) => {
      const coldKb = await warm(server);
      const beforeMb = server.rssMb();
      const received = new Map<string, number[]>();
      const tails = await Promise.all(Array.from({ length: TAILS }, () => openTail(server, received)));
      await wait(LAST_MS);
      const warmKb = perTail(server.rssMb() - beforeMb);
      try {
        return [...(await follow(server, received)), ...memoryRows(coldKb, warmKb)];
      } finally {
        for (const tail of tails) tail.destroy();
      }
    }),
  );
}

/** Opens and closes as many first. @returns what each takes, with code and pools that stay, kB */
async function warm(server: Server): Promise<number> {
  const beforeMb = server.rssMb();
  const tails = await Promise.all(Array.from({ length: TAILS }, () => openTail(server, new Map())));
  await wait(LAST_MS);
  const kb = perTail(server.rssMb() - beforeMb);
  for (const tail of tails) tail.destroy();
  await wait(LAST_MS);
  return kb;
}

function perTail(mb: number): number {
  return (mb * 1_000) / TAILS;
}

function memoryRows(coldKb: number, warmKb: number): Row[] {
  return [
    { name: 'memory of a tail, of the first thousand', unit: 'kB', values: [coldKb], goal: { below: 50 } },
    { name: 'memory of a tail, of the next thousand', unit: 'kB', values: [warmKb], goal: { below: 50 } },
  ];
}

/** @param received the times at which each row came, ms */
function openTail({ url }: Server, received: Map<string, number[]>): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': KEY, accept: 'text/event-stream' };
    const tail = request(`${url}${PATH}`, { headers, agent: false }, (response: IncomingMessage) => {
      if (response.statusCode !== 200) reject(new Error(`a tail was answered ${response.statusCode}`));
      response.setEncoding('utf8').on('data', (text: string) => {
        for (const [, id = ''] of text.matchAll(/"id":"(row-\d+)"/g))
          received.get(id)?.push(performance.now());
      });
      response.on('error', () => {}); // destroyed at the end
      resolve(tail);
    });
    tail.on('error', reject).end();
  });
}

async function follow(server: Server, received: Map<string, number[]>): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const committed = new Map<string, number>();
  const before = await countQueries(server, agent);
  const startMs = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    const id = `row-${round}`;
    received.set(id, []);
    const event = {
      id,
      project: 'tails',
      event_message: 'x'.repeat(300),
      timestamp: new Date().toISOString(),
    };
    await send(server.url, agent, { path: INGEST_PATH, body: Buffer.from(`${JSON.stringify(event)}\n`) });
    committed.set(id, performance.now());
    await wait(EVERY_MS);
  }
  await wait(LAST_MS);
  const ticks = (performance.now() - startMs) / TICK_MS;
  const queries = (await countQueries(server, agent)) - before;
  agent.destroy();
  const times = [...received].flatMap(([id, all]) =>
    all.map((ms) => Math.max(ms - (committed.get(id) ?? 0), 0)),
  );
  const lost = ROUNDS * TAILS - times.length;
  say(
    `tails: ${times.length} rows reached ${TAILS} tails by ${queries} queries in ${Math.round(ticks)} ticks`,
  );
  const { p99 = Number.NaN, ...commit } = timesRow('from the commit to the reader', times);
  return [
    { name: 'tails: rows lost', unit: 'rows', values: [lost], goal: { below: 1 } },
    {
      name: 'queries in a tick, of 1,000 tails',
      unit: 'queries',
      values: [queries / ticks],
      goal: { below: 1.01 },
    },
    commit,
    { name: 'from the commit to the reader: p99', unit: 'ms', values: [p99], goal: { below: 1_000 } },
  ];
}

async function countQueries({ url }: Server, agent: Agent): Promise<number> {
  const { text } = await send(url, agent, { path: '/metrics' });
  return Number(/^tailrace_engine_queries_total\{endpoint="logs\.all"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
