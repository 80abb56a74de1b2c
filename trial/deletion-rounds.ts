import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, type Random } from '../src/lib/random.ts';
import { QUERY_PATH, send } from './http.ts';
import { findChildren, type Server, startServer } from './server.ts';

interface DeletionRoundsOptions {
  readonly dataDir: string;
  readonly seed: number;
  /** Events sent in all. */
  readonly events: number;
  /** How often the engine process is killed meanwhile. */
  readonly kills: number;
}

interface SentRequest {
  readonly id: string;
  readonly project: string;
  readonly size: number;
  readonly sentMs: number;
  acknowledgedMs: number;
}

interface SentDeletion {
  readonly project: string;
  readonly sentMs: number;
  readonly acceptedMs: number;
  /** `undefined`: not accepted. */
  readonly rows: number | undefined;
}

const SENDERS = 8;
const DELETERS = 3;
const EVENTS_MAX = 100;
const LAST_SHARE = 0.25;
const PROJECTS = ['aurora', 'borealis', 'corona'];
const SOURCES = ['cloudflare.logs.prod', 'deno-relay-logs', 'postgres.logs'];
// The pause after a failed request, and between two polls of a deletion.
const PAUSE_MS = 20;
const KILL_AFTER_MS_MAX = 600;

/** Deletes projects, several at a time, while others send events to them, and compares what is stored then with the times of both. */
export async function deletionRounds(options: DeletionRoundsOptions) {
  const { dataDir, seed, events, kills } = options;
  const random = createRandom(String(seed));
  const endpoints = join(import.meta.dirname, 'endpoints');
  const server = await startServer({ dataDir, env: { TAILRACE_ENDPOINTS_DIR: endpoints } });
  const requests: SentRequest[] = [];
  const deletions: SentDeletion[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS + DELETERS });
  let left = events;
  let killed = 0;
  let isOver = false;
  // However slow the machine is, some events are acknowledged before a deletion, and some are sent after the last one.
  const acknowledged = new Set<string>();
  const lastEvents = events * LAST_SHARE;
  const deleted = Promise.all(Array.from({ length: DELETERS }, deleteEvents));
  deleted.catch(() => {}); // awaited below, too

  async function sendEvents(): Promise<void> {
    for (;;) {
      if (left <= lastEvents) await deleted;
      if (left <= 0) return;
      const size = random.whole(1, Math.min(left, EVENTS_MAX));
      left -= size;
      const sender = { url: server.url, agent, random };
      acknowledged.add(await sendRequest(sender, { id: `r${requests.length}`, size }, requests));
    }
  }

  async function deleteEvents(): Promise<void> {
    while (acknowledged.size === 0 && !isOver) await wait(PAUSE_MS);
    do {
      await wait(random.whole(0, 10 * PAUSE_MS));
      deletions.push(await deleteProject(server.url, agent, random.pick([...acknowledged])));
    } while (left > lastEvents);
  }

  async function killEngine(): Promise<void> {
    for (; left > 0 && killed < kills; killed++) {
      await wait(random.whole(0, KILL_AFTER_MS_MAX));
      const [pid] = findChildren(server.pid);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      await untilAnswered(server, agent);
    }
  }

  try {
    await Promise.all([...Array.from({ length: SENDERS }, sendEvents), deleted, killEngine()]);
    const stored = await readStored(server.url, agent);
    return compare(requests, deletions, stored);
  } finally {
    isOver = true;
    agent.destroy();
    await server.end('SIGTERM');
  }
}

/** Sends a request until it is acknowledged, so that nothing remains unknown. @returns its project */
async function sendRequest(
  { url, agent, random }: { url: string; agent: Agent; random: Random },
  { id, size }: { id: string; size: number },
  requests: SentRequest[],
): Promise<string> {
  const project = random.pick(PROJECTS);
  const path = `/api/logs?source_name=${random.pick(SOURCES)}`;
  const lines = Array.from({ length: size }, (_, i) => JSON.stringify({ id: `${id}.${i}`, project }));
  const body = Buffer.from(lines.join('\n'));
  const request = { id, project, size, sentMs: Date.now(), acknowledgedMs: 0 };
  requests.push(request);
  for (;;) {
    const { status, text } = await send(url, agent, { path, body, headers: { 'idempotency-key': id } });
    request.acknowledgedMs = Date.now();
    if (status === 200) return project;
    if (status < 500) throw new Error(`answered ${status}: ${text}`);
    await wait(PAUSE_MS);
  }
}

async function deleteProject(url: string, agent: Agent, project: string): Promise<SentDeletion> {
  const sentMs = Date.now();
  const headers = { 'content-type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ project }));
  let { status, text } = await send(url, agent, { path: '/api/deletions', body, headers });
  if (status >= 500) return { project, sentMs, acceptedMs: Date.now(), rows: undefined };
  for (;;) {
    const { id, state, rows, accepted_at } = JSON.parse(text) as Record<string, string>;
    if (status === 200 && state === 'done')
      return { project, sentMs, acceptedMs: Date.parse(accepted_at ?? ''), rows: Number(rows) };
    if (status !== 202) throw new Error(`answered ${status}: ${text}`);
    await wait(PAUSE_MS);
    ({ status, text } = await send(url, agent, { path: `/api/deletions/${id}` }));
  }
}

async function untilAnswered({ url }: Server, agent: Agent): Promise<void> {
  const path = `${QUERY_PATH}/bench.stored-requests?project=nothing`;
  while ((await send(url, agent, { path })).status !== 200) await wait(PAUSE_MS);
}

type StoredRequest = Readonly<{ request: string; rows: number; events: number }>;

async function readStored(url: string, agent: Agent): Promise<Map<string, StoredRequest>> {
  const stored = new Map<string, StoredRequest>();
  for (const project of PROJECTS) {
    const path = `${QUERY_PATH}/bench.stored-requests?project=${project}`;
    const { status, text } = await send(url, agent, { path });
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    const { result } = JSON.parse(text) as { result: StoredRequest[] };
    for (const row of result) stored.set(row.request, row);
  }
  return stored;
}

/** What was sent while a deletion was being accepted may be before or after it. */
function compare(
  requests: readonly SentRequest[],
  deletions: readonly SentDeletion[],
  stored: ReadonlyMap<string, StoredRequest>,
) {
  const accepted = deletions.filter(({ rows }) => rows !== undefined);
  const counts = {
    // Without kills none is rejected; unless one is, `rowsReported` must be `eventsGone`.
    rejected: deletions.length - accepted.length,
    rowsReported: accepted.reduce((sum, { rows = 0 }) => sum + rows, 0),
    eventsGone: 0,
    acknowledgedEvents: 0,
    // Sent after the last deletion of their project was accepted; none of them may be missing.
    ...{ eventsAfter: 0, lostEvents: 0 },
    // Acknowledged before a deletion of their project was sent; none of them may be stored.
    ...{ eventsBefore: 0, keptEvents: 0 },
    // Requests of which some events are stored and some are not, and rows stored twice: none.
    inPart: 0,
  };
  for (const { id, project, size, sentMs, acknowledgedMs } of requests) {
    const { rows = 0, events = 0 } = stored.get(id) ?? {};
    const own = deletions.filter((deletion) => deletion.project === project);
    counts.acknowledgedEvents += size;
    counts.eventsGone += size - events;
    if (rows !== events || (events > 0 && events < size)) counts.inPart++;
    if (own.every(({ acceptedMs }) => acceptedMs < sentMs)) {
      counts.eventsAfter += size;
      counts.lostEvents += size - events;
    }
    if (own.some((deletion) => deletion.rows !== undefined && acknowledgedMs < deletion.sentMs)) {
      counts.eventsBefore += size;
      counts.keptEvents += events;
    }
  }
  return counts;
}
