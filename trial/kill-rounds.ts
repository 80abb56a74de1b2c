import { rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, type Random } from '../src/lib/random.ts';
import { INGEST_PATH, QUERY_PATH, send } from './http.ts';
import { findChildren, type Server, startServer } from './server.ts';

/** What became of every request that was sent before, during and after the kills. */
export interface KillCounts {
  readonly kills: number;
  /** Requests that were answered 200, and the events in them. */
  readonly acknowledged: number;
  readonly acknowledgedEvents: number;
  /** Requests that a kill left without an answer. */
  readonly cutOff: number;
  /** Requests, cut off or answered, that were sent again with the same Idempotency-Key after the restart. */
  readonly sentAgain: number;
  /** Cut off and not sent again, and yet wholly stored: nobody was told, which is allowed. */
  readonly storedUnanswered: number;
  /** Events of acknowledged requests that are not in the store. Must be 0. */
  readonly lostEvents: number;
  /** Rows more than there are events, in any request. Must be 0. */
  readonly rowsTwice: number;
  /** Requests of which some events are in the store and some are not. Must be 0. */
  readonly storedInPart: number;
  /** From each kill of an engine process to the first answer of a new one, ms. */
  readonly answeredMs: readonly number[];
}

interface SentRequest {
  readonly id: string;
  readonly size: number;
  readonly key: string | undefined;
  readonly body: Buffer;
  acknowledged: boolean;
}

export interface KillOptions {
  readonly dataDir: string;
  /** More settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
  readonly times: number;
  readonly seed: number;
  /** What is killed: the service, with all that belongs to it, unless a signal for its engine process is given. */
  readonly engineSignal?: 'SIGKILL' | 'SIGSEGV';
  readonly onRound: (counts: KillCounts) => void;
}

const CONNECTIONS = 16;
const EVENTS_MAX = 200;
// Of a round's requests with a key, the last so many are sent again: all that were cut off, and some that were answered.
const REPEATS_MAX = 40;
const KILL_AFTER_MS_MAX = 1_200;
// Pause of a sender whose request failed.
const FAILED_MS = 5;
const PROJECT = 'killed';
const STORED_PATH = `${QUERY_PATH}/bench.stored-requests?project=${PROJECT}`;

/** Kills a server with SIGKILL at random moments under load, starts it again on the same data, and compares. */
export async function killRounds(options: KillOptions): Promise<KillCounts> {
  const { dataDir, env, times, seed, engineSignal, onRound } = options;
  const random = createRandom(String(seed));
  const requests: SentRequest[] = [];
  const state = { kills: 0, cutOff: 0, sentAgain: 0, answeredMs: [] as number[] };
  const start = () =>
    startServer({ dataDir, env: { ...env, TAILRACE_ENDPOINTS_DIR: join(import.meta.dirname, 'endpoints') } });
  let server = await start();
  try {
    for (let round = 0; round < times; round++) {
      const kill =
        engineSignal === undefined
          ? () => server.end('SIGKILL')
          : async () => void state.answeredMs.push(await killEngine(server, engineSignal));
      const sent = await loadUntilKilled(server, { random, round, kill });
      requests.push(...sent);
      if (engineSignal === undefined) {
        // As if it had died after the commit and before it noted the answer: the engine alone knows then.
        if (round % 2 === 0) forgetAnswers(dataDir);
        server = await start();
      }
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

function forgetAnswers(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(dataDir, `idempotency.sqlite${suffix}`), { force: true });
}

/** Kills the engine process of a server that runs on. Resolves with the time until a new query is answered, ms. */
async function killEngine(server: Server, signal: NodeJS.Signals): Promise<number> {
  const [pid, ...others] = findChildren(server.pid);
  if (pid === undefined || others.length > 0) throw new Error('a server has one engine process');
  const startedMs = performance.now();
  process.kill(pid, signal);
  for (;;) {
    const { status } = await send(server.url, new Agent(), { path: STORED_PATH });
    if (status === 200 && !findChildren(server.pid).includes(pid)) return performance.now() - startedMs;
  }
}

interface Strike {
  readonly random: Random;
  readonly round: number;
  readonly kill: () => Promise<void>;
}

/** Sends on several connections until the kill is over; from its beginning on requests may fail. */
async function loadUntilKilled(server: Server, { random, round, kill }: Strike): Promise<SentRequest[]> {
  const requests: SentRequest[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let isStruck = false;
  let gone = false;

  async function connection(): Promise<void> {
    while (!gone) {
      const request = createRequest(`${round}-${requests.length}`, random);
      requests.push(request);
      // No answer: the server was killed. Anything it does answer must be 200.
      await acknowledge(server.url, request, agent).catch(async (error) => {
        if (!isStruck) throw error;
        await wait(FAILED_MS);
      });
    }
  }

  const connections = Promise.all(Array.from({ length: CONNECTIONS }, connection));
  connections.catch(() => {}); // heard below, after the kill
  await wait(random.whole(0, KILL_AFTER_MS_MAX));
  isStruck = true;
  await kill();
  gone = true;
  await connections;
  agent.destroy();
  return requests;
}

function createRequest(id: string, random: Random): SentRequest {
  const size = random.whole(1, EVENTS_MAX);
  const event_message = 'x'.repeat(random.whole(10, 1000));
  const lines = Array.from({ length: size }, (_, i) =>
    JSON.stringify({ id: `${id}.${i}`, project: PROJECT, event_message, metadata: { request: id } }),
  );
  const key = random.chance(0.5) ? `key-${id}` : undefined;
  return { id, size, key, body: Buffer.from(lines.join('\n')), acknowledged: false };
}

/** Sends a request and notes its answer. @throws when there is none, or another than 200 */
async function acknowledge(url: string, request: SentRequest, agent = new Agent()): Promise<void> {
  const headers = request.key === undefined ? {} : { 'idempotency-key': request.key };
  const { status, text } = await send(url, agent, { path: INGEST_PATH, body: request.body, headers });
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  request.acknowledged = true;
}

/** Holds what was answered against what is stored. */
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
