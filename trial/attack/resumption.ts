import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { QUERY_PATH } from '../http.ts';

/** Whose tails go on after an event. */
export interface ResumptionTarget {
  readonly url: string;
  readonly keys: { readonly attacker: string; readonly other: string };
}

/** What slow readers of one key's tails did to the tails of another key. */
export interface ResumptionResult {
  /** What the slow readers were answered. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From each request of the other key to its first row, ms. */
  readonly waitsMs: readonly number[];
  /** Requests of the other key without a row. */
  readonly failed: number;
}

const PROJECT = 'resumed';
const SOURCE_PATH = '/api/logs?source_name=cloudflare.logs.prod';
const TAIL_PATH = `${QUERY_PATH}/logs.all?project=${PROJECT}&project_tier=PRO`;
// Together more than the buffers of a connection take, and less than a tail sends: its reader is slow as soon as it reads nothing.
const EVENTS = 70;
const EVENT_BYTES = 100_000;
const ROW_MS_MAX = 20_000;
const SETTLE_MS = 500;
const ROUND_PAUSE_MS = 200;

/** One key opens so many tails after an early event and reads nothing, while another one does so and reads, `times` in a row. */
export async function tryResumptions(
  target: ResumptionTarget,
  { readers, times }: { readonly readers: number; readonly times: number },
): Promise<ResumptionResult> {
  const after = await storeEvents(target);
  const statuses: Record<string, number> = {};
  const open = Array.from({ length: readers }, () =>
    openTail(target.url, target.keys.attacker, after, (response) => {
      const status = response.statusCode ?? 0;
      statuses[status] = (statuses[status] ?? 0) + 1;
      response.pause();
    }),
  );
  await pause(SETTLE_MS);
  const waitsMs: number[] = [];
  let failed = 0;
  try {
    for (let time = 0; time < times; time++) {
      const waitMs = await untilFirstRow(target, after);
      if (waitMs === undefined) failed++;
      else waitsMs.push(waitMs);
      await pause(ROUND_PAUSE_MS);
    }
  } finally {
    for (const tail of open) tail.destroy();
  }
  return { statuses, waitsMs, failed };
}

/** @returns the id of an event from which on the others are read */
async function storeEvents({ url, keys }: ResumptionTarget): Promise<string> {
  const first = await followOne(url, keys.other, () => send(url, keys.other, [{ id: 'first' }]));
  const filler = 'x'.repeat(EVENT_BYTES);
  const ids = Array.from({ length: EVENTS }, (_, i) => `event-${i}`);
  await send(
    url,
    keys.other,
    ids.map((id) => ({ id, metadata: { filler } })),
  );
  return first;
}

async function send(url: string, key: string, events: readonly object[]): Promise<void> {
  const response = await fetch(url + SOURCE_PATH, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: events.map((event) => JSON.stringify({ ...event, project: PROJECT })).join('\n'),
  });
  if (response.status !== 200) throw new Error(`events were answered ${response.status}`);
}

/** Follows until the first row. @returns its id */
async function followOne(url: string, key: string, store: () => Promise<void>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const tail = openTail(url, key, undefined, (response) => {
    store().catch(reject);
    findRow(response, resolve);
  });
  const late = setTimeout(() => reject(new Error('no row came')), ROW_MS_MAX);
  return await promise.finally(() => {
    clearTimeout(late);
    tail.destroy();
  });
}

/** @returns ms; `undefined` if there was none */
async function untilFirstRow({ url, keys }: ResumptionTarget, after: string): Promise<number | undefined> {
  const startMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const tail = openTail(url, keys.other, after, (response) => {
    if (response.statusCode !== 200) resolve(undefined);
    findRow(response, () => resolve(performance.now() - startMs));
  });
  tail.on('close', () => resolve(undefined));
  const late = setTimeout(() => resolve(undefined), ROW_MS_MAX);
  return await promise.finally(() => {
    clearTimeout(late);
    tail.destroy();
  });
}

function openTail(
  url: string,
  key: string,
  after: string | undefined,
  onOpen: (response: IncomingMessage) => void,
) {
  const headers = {
    'x-api-key': key,
    accept: 'text/event-stream',
    ...(after !== undefined && { 'last-event-id': after }),
  };
  const tail = request(url + TAIL_PATH, { headers, agent: false }, (response) => {
    response.on('error', () => {}); // it is destroyed in the end
    onOpen(response);
  });
  tail.on('error', () => {});
  tail.end();
  return tail;
}

function findRow(response: IncomingMessage, onRow: (id: string) => void): void {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < EVENT_BYTES) text += chunk;
    const [, id] = /^event: row\nid: (\S+)$/m.exec(text) ?? [];
    if (id !== undefined) onRow(id);
  });
}
