import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, type Random } from '../src/lib/random.ts';
import type { Fault } from './faulty-proxy.ts';
import { type Answer, INGEST_PATH, QUERY_PATH, send } from './http.ts';
import type { Replicas } from './replicas.ts';
import type { Server } from './server.ts';

/** Identical concurrent requests to both replicas, of an uncached question. */
export async function askAtOnce(replicas: Replicas, requests: number) {
  const { servers, front, countQueries } = replicas;
  const since = front.requests.length;
  const path = `${QUERY_PATH}/functions.invocation-stats?project=cold-${since}`;
  const agents = servers.map(() => new Agent({ keepAlive: true, maxSockets: 200 }));
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, i) => {
      const at = i % servers.length;
      return send((servers[at] as Server).url, agents[at] as Agent, { path });
    }),
  );
  for (const agent of agents) agent.destroy();
  return {
    answered: answers.filter(({ status }) => status === 200).length,
    texts: new Set(answers.map(({ text }) => text)).size,
    queries: countQueries('functions.invocation-stats', since),
  };
}

// trial/endpoints/bench.warm
const WARM_PATH = `${QUERY_PATH}/bench.warm?project=`;
const WARM_INTERVAL_MS = 2_000;
const ASK_EVERY_MS = 100;

/** Counts the refreshes of an answer that both replicas keep warm, over so many intervals. */
export async function keepWarm({ servers, front, countQueries }: Replicas, intervals: number) {
  const agent = new Agent({ keepAlive: true });
  const askAll = async () => {
    const answers = await Promise.all(
      servers.map(({ url }) => send(url, agent, { path: `${WARM_PATH}warm` })),
    );
    return answers.every(({ status }) => status === 200);
  };
  let ok = await askAll();
  const since = front.requests.length;
  const startMs = performance.now();
  while (performance.now() - startMs < intervals * WARM_INTERVAL_MS) {
    ok = (await askAll()) && ok;
    await wait(ASK_EVERY_MS);
  }
  const elapsed = (performance.now() - startMs) / WARM_INTERVAL_MS;
  agent.destroy();
  return { allAnswered: ok, intervals: elapsed, refreshes: countQueries('bench.warm', since) };
}

interface Sent {
  readonly id: string;
  readonly project: string;
  readonly size: number;
  readonly body: Buffer;
  acknowledged: boolean;
}

const PROJECTS = ['north', 'east', 'south', 'west'];
const EVENTS_MAX = 50;
const WRITERS_EACH = 6;
const READERS_EACH = 3;
const KILL_AFTER_MS = [400, 1_500] as const;
const ON_MS = 1_000;

/**
 * Both replicas serve events and queries, then one is killed with SIGKILL, and the other serves all. A request that the killed one
 * did not answer is sent to the other with the same Idempotency-Key, as a sender or a proxy would do.
 */
export async function killOne(replicas: Replicas, seed: number) {
  const random = createRandom(String(seed));
  const [first, second] = replicas.servers;
  const sent: Sent[] = [];
  const reads = { answered: 0, foreignRows: 0, failed: 0 };
  const agent = new Agent({ keepAlive: true });
  const run = randomUUID(); // the same seed may be tried again on the same stores
  let killed = false;
  let over = false;

  async function write(server: Server): Promise<void> {
    while (!over && !(killed && server === second)) {
      const request = createRequest(`${run}-${sent.length}`, random);
      sent.push(request);
      try {
        await store(server, request, agent);
      } catch (error) {
        if (server === first || !killed) throw error;
        await store(first, request, agent);
      }
    }
  }

  async function read(server: Server): Promise<void> {
    while (!over && !(killed && server === second)) {
      const project = random.pick(PROJECTS);
      const path = `${QUERY_PATH}/bench.stored-requests?project=${project}`;
      const answer = await send(server.url, agent, { path }).catch(() => undefined);
      if (answer?.status === 200) {
        reads.answered++;
        reads.foreignRows += readStored(answer).filter((row) => !row.request.startsWith(project)).length;
      } else if (server === first || !killed) reads.failed++;
    }
  }

  const work = [first, second].flatMap((server) => [
    ...Array.from({ length: WRITERS_EACH }, () => write(server)),
    ...Array.from({ length: READERS_EACH }, () => read(server)),
  ]);
  const all = Promise.all(work);
  all.catch(() => {}); // awaited below
  try {
    await wait(random.whole(...KILL_AFTER_MS));
    killed = true;
    await second.end('SIGKILL');
    await wait(ON_MS);
    over = true;
    await all;
    return { ...reads, ...(await compare(first, sent, agent)) };
  } finally {
    over = true;
    agent.destroy();
    if (killed) await replicas.restart();
  }
}

function createRequest(number: string, random: Random): Sent {
  const size = random.whole(1, EVENTS_MAX);
  const project = random.pick(PROJECTS);
  const id = `${project}-${number}`;
  const lines = Array.from({ length: size }, (_, i) =>
    JSON.stringify({ id: `${id}.${i}`, project, event_message: 'x', metadata: { request: id } }),
  );
  return { id, project, size, body: Buffer.from(lines.join('\n')), acknowledged: false };
}

async function store({ url }: Server, request: Sent, agent: Agent): Promise<void> {
  const headers = { 'idempotency-key': request.id };
  const { status, text } = await send(url, agent, { path: INGEST_PATH, body: request.body, headers });
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  request.acknowledged = true;
}

interface Stored {
  readonly request: string;
  readonly rows: number;
  readonly events: number;
}

const readStored = ({ text }: Answer) => (JSON.parse(text) as { result: Stored[] }).result;

/** Compares the responses with the stored rows. */
async function compare({ url }: Server, sent: readonly Sent[], agent: Agent) {
  const stored = new Map<string, Stored>();
  for (const project of PROJECTS) {
    const answer = await send(url, agent, { path: `${QUERY_PATH}/bench.stored-requests?project=${project}` });
    for (const row of readStored(answer)) stored.set(row.request, row);
  }
  const counts = { acknowledgedEvents: 0, lostEvents: 0, rowsTwice: 0 };
  for (const { id, size, acknowledged } of sent) {
    const { rows = 0, events = 0 } = stored.get(id) ?? {};
    counts.rowsTwice += rows - events;
    if (!acknowledged) continue;
    counts.acknowledgedEvents += size;
    counts.lostEvents += size - events;
  }
  return counts;
}

// Cached for a quarter of an hour, for seconds, and not at all.
const LONG_PATH = `${QUERY_PATH}/usage.api-counts?interval=daily&project=`;
const PLAIN_PATH = `${QUERY_PATH}/bench.stored-requests?project=`;
const RECOVERED_MS_MAX = 60_000;

/** ClickHouse is unreachable for a while. */
export async function loseEngine({ servers, network }: Replicas, kind: 'refuse' | 'silent', awayMs: number) {
  const agent = new Agent({ keepAlive: true });
  const project = `away-${kind}`;
  const ask = ({ url }: Server, path: string) => send(url, agent, { path: path + project });
  for (const server of servers) for (const path of [LONG_PATH, WARM_PATH]) await ask(server, path);
  const counts = { kept: 0, keptFailed: 0, stale: 0, refused: 0, refusedWrongly: 0, slowestRefusalMs: 0 };
  let away = true;

  async function askKept(server: Server): Promise<void> {
    while (away) {
      for (const path of [LONG_PATH, WARM_PATH]) {
        const { status, headers } = await ask(server, path);
        if (status === 200) counts.kept++;
        else counts.keptFailed++;
        if (String(headers['cache-status']).includes('stale')) counts.stale++;
      }
      await wait(ASK_EVERY_MS);
    }
  }

  async function askPlain(server: Server): Promise<void> {
    while (away) {
      const startMs = performance.now();
      const { status, headers } = await ask(server, PLAIN_PATH);
      counts.slowestRefusalMs = Math.max(counts.slowestRefusalMs, performance.now() - startMs);
      if (status === 503 && Number(headers['retry-after']) > 0) counts.refused++;
      else counts.refusedWrongly++;
      await wait(ASK_EVERY_MS);
    }
  }

  network.fault = { kind } satisfies Fault;
  if (kind === 'refuse') network.reset();
  const all = Promise.all(servers.flatMap((server) => [askKept(server), askPlain(server)]));
  all.catch(() => {}); // awaited below
  await wait(awayMs);
  away = false;
  await all;
  network.fault = { kind: 'none' };
  const backMs = performance.now();
  for (const server of servers) {
    while ((await ask(server, PLAIN_PATH)).status !== 200) {
      if (performance.now() - backMs > RECOVERED_MS_MAX)
        throw new Error('ClickHouse is back, and not in use');
      await wait(20);
    }
  }
  const recoveredMs = performance.now() - backMs;
  // What a silent network has swallowed never arrives: the services would wait for it when they are stopped.
  network.reset();
  agent.destroy();
  return { ...counts, recoveredMs };
}
