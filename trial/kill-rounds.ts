import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, type Random } from '../src/lib/random.ts';
import { INGEST_PATH, QUERY_PATH, send } from './http.ts';
import { type Server, startServer } from './server.ts';
import type { Wire } from './wire.ts';

/** The outcome of all requests sent before, during and after the kills. */
interface KillCounts {
  readonly kills: number;
  /** Requests answered as stored, and their events. */
  readonly acknowledged: number;
  readonly acknowledgedEvents: number;
  /** Requests that a kill cut off; sent again with their Idempotency-Key; neither, and yet stored completely, which is allowed. */
  readonly cutOff: number;
  readonly sentAgain: number;
  readonly storedUnanswered: number;
  /** Acknowledged events that are missing, surplus rows, and requests stored in part. Each must be 0. */
  readonly lostEvents: number;
  readonly rowsTwice: number;
  readonly storedInPart: number;
}

interface SentRequest {
  readonly id: string;
  readonly wire: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Status if all events are stored. */
  readonly ok: number;
  readonly size: number;
  readonly key: string | undefined;
  readonly body: Buffer;
  acknowledged: boolean;
}

export interface KillOptions {
  readonly dataDir: string;
  readonly times: number;
  readonly seed: number;
  /** The protocols by which events are sent, by turns; by default Logflare's, for requests at a gateway. */
  readonly wires?: Readonly<Record<string, Wire>>;
  readonly onRound: (counts: KillCounts) => void;
}

const CONNECTIONS = 16;
const EVENTS_MAX = 200;
// The last so many requests with a key are sent again: all that were cut off, and some that were answered.
const REPEATS_MAX = 40;
const KILL_AFTER_MS_MAX = 1_200;
// The pause of a sender after a failed request.
const FAILED_MS = 5;
// The machine may be too slow for the load of the moment: the service says so, and stores nothing.
const BUSY = 503;
const BUSY_MS = 100;
const PROJECT = 'killed';
const STORED_PATH = `${QUERY_PATH}/bench.stored-requests?project=${PROJECT}`;

/** Logflare's protocol, for requests at a gateway. */
const LOGFLARE: Wire = {
  ...{ path: INGEST_PATH, type: 'application/x-ndjson', format: 'ndjson', ok: 200 },
  write: (events) =>
    events
      .map(({ message: event_message, timeMs: _, ...event }) => JSON.stringify({ ...event, event_message }))
      .join('\n'),
};

/** Kills a server with SIGKILL at random moments under load, restarts it on the same data, and compares. */
export async function killRounds(options: KillOptions): Promise<KillCounts> {
  const { dataDir, times, seed, wires = { logflare: LOGFLARE }, onRound } = options;
  const random = createRandom(String(seed));
  const requests: SentRequest[] = [];
  const state = { kills: 0, cutOff: 0, sentAgain: 0 };
  const start = () =>
    startServer({ dataDir, env: { TAILRACE_ENDPOINTS_DIR: join(import.meta.dirname, 'endpoints') } });
  let server = await start();
  try {
    for (let round = 0; round < times; round++) {
      const sent = await loadUntilKilled(server, { random, round, wires });
      requests.push(...sent);
      server = await start();
      const cutOff = sent.filter((request) => !request.acknowledged);
      const again = sent.filter((request) => request.key !== undefined).slice(-REPEATS_MAX);
      await Promise.all(again.map((request) => acknowledge(server.url, request)));
      state.kills++;
      state.cutOff += cutOff.length;
      state.sentAgain += again.length;
      onRound({ ...state, ...(await compare(server.url, requests)) });
    }
    return { ...state, ...(await compare(server.url, requests)) };
  } finally {
    await server.end('SIGTERM');
  }
}

interface Strike {
  readonly random: Random;
  readonly round: number;
  readonly wires: Readonly<Record<string, Wire>>;
}

/** Sends on several connections until the kill is over; once it has started requests may fail. */
async function loadUntilKilled(server: Server, { random, round, wires }: Strike): Promise<SentRequest[]> {
  const requests: SentRequest[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const entries = Object.entries(wires);
  let isStruck = false;
  let gone = false;

  async function connection(): Promise<void> {
    while (!gone) {
      const id = `${round}-${requests.length}`;
      const entry = entries[requests.length % entries.length];
      if (entry === undefined) return;
      const request = createRequest(id, entry, random);
      requests.push(request);
      // No response: the server was killed. Every response must say that all is stored.
      await acknowledge(server.url, request, agent).catch(async (error) => {
        if (!isStruck) throw error;
        await wait(FAILED_MS);
      });
    }
  }

  const connections = Promise.all(Array.from({ length: CONNECTIONS }, connection));
  connections.catch(() => {}); // awaited below, after the kill
  await wait(random.whole(0, KILL_AFTER_MS_MAX));
  isStruck = true;
  await server.end('SIGKILL');
  gone = true;
  await connections;
  agent.destroy();
  return requests;
}

function createRequest(id: string, [name, wire]: readonly [string, Wire], random: Random): SentRequest {
  const size = random.whole(1, EVENTS_MAX);
  const message = 'x'.repeat(random.whole(10, 1000));
  const timeMs = Date.now();
  const events = Array.from({ length: size }, (_, i) => ({
    ...{ id: `${id}.${i}`, timeMs, project: PROJECT, message, metadata: { request: id } },
  }));
  const { path, type, ok, write } = wire;
  const key = random.chance(0.5) ? `key-${id}` : undefined;
  return {
    ...{ id, size, key, wire: name, path, ok, acknowledged: false },
    headers: {
      'content-type': type,
      'x-project': PROJECT,
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: Buffer.from(write(events)),
  };
}

/** Sends a request and records its response. @throws if there is none, or another than that all is stored */
async function acknowledge(url: string, request: SentRequest, agent = new Agent()): Promise<void> {
  const { status, text } = await send(url, agent, request);
  if (status === BUSY) {
    await wait(BUSY_MS);
    return await acknowledge(url, request, agent);
  }
  if (status !== request.ok) throw new Error(`${request.wire} answered ${status}: ${text}`);
  request.acknowledged = true;
}

/** Compares the responses with the stored rows. */
async function compare(url: string, requests: readonly SentRequest[]) {
  const { status, text } = await send(url, new Agent(), { path: STORED_PATH });
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  const { result } = JSON.parse(text) as { result: { request: string; rows: number; events: number }[] };
  const stored = new Map(result.map((row) => [row.request, row]));
  const counts = {
    acknowledged: 0,
    acknowledgedEvents: 0,
    storedUnanswered: 0,
    lostEvents: 0,
    rowsTwice: 0,
    storedInPart: 0,
  };
  for (const request of requests) {
    const { rows = 0, events = 0 } = stored.get(request.id) ?? {};
    counts.rowsTwice += rows - events;
    if (events > 0 && events < request.size) counts.storedInPart++;
    if (request.acknowledged) {
      counts.acknowledged++;
      counts.acknowledgedEvents += request.size;
      counts.lostEvents += request.size - events;
    } else if (events === request.size) counts.storedUnanswered++;
  }
  return counts;
}
