import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, INGEST_PATH, QUERY_PATH, send } from '../../trial/http.ts';
import { type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { median } from '../measure.ts';
import { type Row, say, timesRow } from '../report.ts';

const ROWS = 100_000;
const ROWS_PER_BATCH = 5_000;
// Many rows share each of these, and so do the events that come in meanwhile.
const INSTANTS = 20;
const NEW_PER_BATCH = 50;
const NEW_EVERY_MS = 100;
const FIRST_EVERY = 10;
const PATH = `${QUERY_PATH}/logs.all?project=pages`;

/** Paging through rows while 500 events a second come in: what is read, and what a page costs. */
export async function pagesSection(): Promise<Row[]> {
  return await inTemporaryFolder((dataDir) =>
    withServer({ dataDir }, async (server) => {
      const nowMs = Date.now();
      const agent = new Agent({ keepAlive: true });
      try {
        for (let from = 0; from < ROWS; from += ROWS_PER_BATCH)
          await post(server, agent, toLines('old', from, ROWS_PER_BATCH, nowMs));
        say(`pages: ${ROWS} events are stored`);
        return toRows(await readBesideIngest(server, agent, nowMs));
      } finally {
        agent.destroy();
      }
    }),
  );
}

interface Paging {
  readonly ids: ReadonlyMap<string, number>;
  readonly firstMs: readonly number[];
  readonly laterMs: readonly number[];
}

async function readBesideIngest(server: Server, agent: Agent, nowMs: number): Promise<Paging> {
  const done = new AbortController();
  const ingest = sendNew(server, nowMs, done.signal);
  try {
    return await readPages(server, agent);
  } finally {
    done.abort();
    say(`pages: ${await ingest} events came in meanwhile`);
  }
}

async function readPages({ url }: Server, agent: Agent): Promise<Paging> {
  const ids = new Map<string, number>();
  const firstMs: number[] = [];
  const laterMs: number[] = [];
  const ask = async (path: string, times: number[]) => {
    const startMs = performance.now();
    const answer = await send(url, agent, { path });
    times.push(performance.now() - startMs);
    return checked(answer);
  };
  let path: string | undefined = PATH;
  for (let page = 0; path !== undefined; page++) {
    const { text, headers } = await ask(path, page === 0 ? firstMs : laterMs);
    const { result } = JSON.parse(text) as { result: { id: string }[] };
    for (const { id } of result) ids.set(id, (ids.get(id) ?? 0) + 1);
    path = /<([^>]+)>/.exec(String(headers['link']))?.[1];
    if (page % FIRST_EVERY === 0) await ask(PATH, firstMs);
  }
  return { ids, firstMs, laterMs };
}

function toRows({ ids, firstMs, laterMs }: Paging): Row[] {
  const old = Array.from({ length: ROWS }, (_, i) => `old-${i}`);
  const missing = old.filter((id) => !ids.has(id)).length;
  const repeated = [...ids.values()].filter((times) => times > 1).length;
  say(`pages: ${laterMs.length} pages, ${missing} rows missing, ${repeated} twice`);
  return [
    { name: 'pages: rows missing or twice', unit: 'rows', values: [missing + repeated], goal: { below: 1 } },
    {
      name: 'a page / the first',
      unit: 'times',
      values: [median(laterMs) / median(firstMs)],
      goal: { below: 1.3 },
    },
    timesRow('the first page', firstMs),
    timesRow('a later page', laterMs),
  ];
}

/** @returns how many were sent */
async function sendNew(server: Server, nowMs: number, done: AbortSignal): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const startMs = performance.now();
  let sent = 0;
  while (!done.aborted) {
    await post(server, agent, toLines('new', sent, NEW_PER_BATCH, nowMs));
    sent += NEW_PER_BATCH;
    const dueMs = startMs + (sent / NEW_PER_BATCH) * NEW_EVERY_MS;
    await wait(Math.max(dueMs - performance.now(), 0));
  }
  agent.destroy();
  return sent;
}

function toLines(name: string, from: number, count: number, nowMs: number): Buffer {
  const lines = Array.from({ length: count }, (_, i) => {
    const timestamp = new Date(nowMs - 60_000 + ((from + i) % INSTANTS)).toISOString();
    const metadata = { request: { path: '/rest/v1/orders' }, response: { status_code: 200 } };
    const event_message = 'GET | 200 | /rest/v1/orders'.padEnd(300, '.');
    return JSON.stringify({
      id: `${name}-${from + i}`,
      timestamp,
      project: 'pages',
      event_message,
      metadata,
    });
  });
  return Buffer.from(`${lines.join('\n')}\n`);
}

async function post({ url }: Server, agent: Agent, body: Buffer): Promise<void> {
  checked(await send(url, agent, { path: INGEST_PATH, body }));
}

function checked(answer: Answer): Answer {
  if (answer.status === 200) return answer;
  throw new Error(`the service answered ${answer.status}: ${answer.text.slice(0, 500)}`);
}
