import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCursors } from '../../src/query/cursor.ts';
import { NDJSON_FORMAT } from '../../src/query/format.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import type { Position } from '../../src/query/position.ts';
import { createQuestion } from '../../src/query/question.ts';
import { createRunner, type Run, type RunOptions } from '../../src/query/run.ts';
import type { Sink, TailRequest } from '../../src/tail/member.ts';
import { createTails } from '../../src/tail/tails.ts';
import { openTestStore, storeEvents } from '../support/service.ts';

const { core, config, close } = await openTestStore();
afterAll(close);

const NOW = Date.now();
const caller = { keyId: 'key', scopes: ['query'], pins: {} } as const;
const cursors = createCursors(Buffer.from('secret'));
const ended: string[] = [];
const failures: unknown[] = [];
let queries = 0;
const lanes: (string | undefined)[] = [];
/** Called for each query, before it runs. */
let onQuery: (options: RunOptions | undefined) => unknown = () => undefined;
/** Fails a query if it returns an error. */
let fault: () => Error | undefined = () => undefined;

const runner = createRunner(core.engine, () => NOW);
const run: Run = async (question, options) => {
  queries++;
  lanes.push(options?.lane);
  await onQuery(options);
  const error = fault();
  if (error !== undefined) throw error;
  return await runner(question, options);
};

/** Tails that are closed after the test. */
function openTails(limits: object = {}) {
  const tails = createTails({
    ...{ run, writes: core.writes, seesEveryWrite: true, cursors },
    registry: core.registry,
    now: () => NOW,
    limits: { ...config, tailBufferBytesMax: 4_096, ...limits },
    onEnded: (reason) => void ended.push(reason),
    onFailure: (error) => void failures.push(error),
  });
  onTestFinished(() => tails.close());
  return tails;
}

const endpoint = core.registry.getEndpoint('logs.all');
let project = '';
let projects = 0;
beforeEach(() => {
  project = `project-${++projects}`;
  ended.length = 0;
  failures.length = 0;
  fault = () => undefined;
  onQuery = () => undefined;
  lanes.length = 0;
});

/** What a response would get; its reader takes nothing while `isSlow`. */
function createSink() {
  let text = '';
  let waiting = 0;
  let reason: string | undefined;
  const state = { isSlow: false, drained: Promise.resolve(true) };
  const sink: Sink = {
    get waitingBytes() {
      return waiting;
    },
    write(events) {
      text += events.toString();
      if (state.isSlow) waiting += events.length;
    },
    end(event) {
      text += event.toString();
      reason = /"reason":"(\w+)"/.exec(event.toString())?.[1];
    },
    drained: async () => await state.drained,
  };
  const ids = () => [...text.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id);
  return { sink, state, ids, text: () => text, reason: () => reason };
}

/** A request to follow the logs of the test's project. */
function ask(more: Partial<TailRequest> = {}): TailRequest {
  const question = createQuestion(endpoint, parseParameters(endpoint, { project }, 1_000), NDJSON_FORMAT);
  const { signal } = new AbortController();
  const authenticate = () => caller;
  const how = { position: undefined, caller, authenticate, lane: 'key', signal, isCurrent: () => true };
  return { question, ...how, ...more };
}

async function open(tails: ReturnType<typeof openTails>, position?: Position, lane = 'key') {
  const reader = createSink();
  const tail = await tails.open(ask({ position, lane }));
  tail.start(reader.sink);
  return { ...reader, leave: tail.leave };
}

async function storeRows(ids: readonly string[], agoMs: (i: number) => number = () => 1_000) {
  const events = ids.map((id, i) => ({ id, project, timestamp: new Date(NOW - agoMs(i)).toISOString() }));
  await storeEvents(core, 'cloudflare.logs.prod', events, NOW);
}

/** Ticks until all queries have ended. */
async function tick(tails: ReturnType<typeof openTails>, until: () => boolean) {
  tails.tick();
  await expect.poll(until, { interval: 5 }).toBe(true);
}

const HOUR_AGO: Position = [String((NOW - 3_600_000) * 1_000), ''];

/** Readers that go on after a position, in these lanes; each takes no more until `drain`. */
function openResumed(tails: ReturnType<typeof openTails>, wanted: readonly string[]) {
  const { promise: drained, resolve } = Promise.withResolvers<boolean>();
  const readers: (ReturnType<typeof createSink> & { readonly lane: string })[] = [];
  const opened = wanted.map(async (lane) => {
    const tail = await tails.open(ask({ position: HOUR_AGO, lane }));
    const reader = createSink();
    Object.assign(reader.state, { isSlow: true, drained });
    readers.push({ ...reader, lane });
    tail.start(reader.sink);
    return tail;
  });
  const served = () => readers.map(({ lane }) => lane).toSorted();
  return { readers, opened, served, drain: () => resolve(true) };
}

const many = (lane: string, count: number) => Array.from({ length: count }, () => lane);

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `e${String(from + i).padStart(6, '0')}`);

describe('the tails of one question', () => {
  test('share one query a tick, and none while nothing is written', async () => {
    const tails = openTails();
    const readers = await Promise.all(Array.from({ length: 50 }, () => open(tails)));
    expect(queries).toBe(1);
    queries = 0;
    await storeRows(['a']);
    await tick(tails, () => readers.every(({ ids }) => ids().length === 1));
    expect(queries).toBe(1);
    tails.tick();
    tails.tick();
    await new Promise((resolve) => setImmediate(resolve));
    expect(queries).toBe(1);
    tails.close();
    expect(tails.count).toBe(0);
  });

  test('ask in the lanes of all by turns, so that a key with a full queue ends no tail of another', async () => {
    const tails = openTails();
    const busy = await open(tails, undefined, 'busy');
    const other = await open(tails, undefined, 'other');
    lanes.length = 0;
    await storeRows(['a']);
    await tick(tails, () => other.ids().length === 1);
    await storeRows(['b']);
    await tick(tails, () => other.ids().length === 2);
    busy.leave();
    await storeRows(['c']);
    await tick(tails, () => other.ids().length === 3);
    expect([lanes.slice(0, 2).toSorted(), lanes.slice(2)]).toEqual([['busy', 'other'], ['other']]);
  });

  test('miss no row of a burst, and lose none when they connect again, beside a row from the future', async () => {
    const tails = openTails({ tailBufferBytesMax: 1_000_000 });
    await storeRows(['ahead'], () => -1_800_000);
    await storeRows(range(0, 150), (i) => 60_000 - i);
    const reader = await open(tails);
    await storeRows(range(150, 480), (i) => 50_000 - i);
    await tick(tails, () => reader.ids().length >= 330);
    expect(reader.ids()).toEqual(range(150, 480));
    await storeRows(['ahead too'], () => -1_900_000);
    await tick(tails, () => reader.ids().length >= 331);
    const [last = ''] = [...reader.text().matchAll(/^id: (.*)$/gm)].map(([, id]) => id).slice(-1);
    await storeRows(range(480, 500), (i) => 40_000 - i);
    const values = parseParameters(endpoint, { project }, 1_000);
    const again = await open(tails, cursors.read(endpoint, values, { cursor: last }));
    await tick(tails, () => again.ids().length >= 22);
    expect(again.ids().toSorted()).toEqual(['ahead', 'ahead too', ...range(480, 500)].toSorted());
  });

  test('end with a reason if more rows come at once than are read', async () => {
    const tails = openTails();
    const reader = await open(tails);
    await storeRows(range(0, 10_101), (i) => 60_000 - i);
    await tick(tails, () => reader.reason() !== undefined);
    expect([reader.reason(), reader.ids(), ended]).toEqual(['too_many_rows', [], ['too_many_rows']]);
    const position = [String((NOW - 60_001) * 1_000), 'e'];
    await expect(open(tails, position)).rejects.toThrow(/is more than 10000 rows or 8 MiB back/);
    expect(tails.count).toBe(0);
  });
});

test('a reader that is too slow is ended with a reason, and the others go on', async () => {
  const tails = openTails();
  const [slow, quick] = [await open(tails), await open(tails)];
  slow.state.isSlow = true;
  await storeRows(range(0, 90), (i) => 60_000 - i);
  await tick(tails, () => quick.ids().length === 90);
  expect([slow.reason(), slow.ids()]).toEqual([undefined, range(0, 90)]);
  await storeRows(['next'], () => 10);
  await tick(tails, () => quick.ids().length === 91);
  expect([slow.reason(), slow.ids().length, quick.reason()]).toEqual(['slow_reader', 90, undefined]);
  expect(ended).toEqual(['slow_reader']);
});

test('a tail goes on after queries that fail, and ends if they go on failing', async () => {
  const tails = openTails();
  const reader = await open(tails);
  fault = () => new Error('no engine');
  await storeRows(['a']);
  for (let i = 1; i < 40; i++) await tick(tails, () => failures.length === i);
  expect(reader.reason()).toBeUndefined();
  fault = () => undefined;
  await tick(tails, () => reader.ids().length === 1);
  fault = () => new Error('no engine');
  await storeRows(['b']);
  for (let i = 40; i < 80; i++) await tick(tails, () => failures.length === i);
  expect([reader.reason(), ended]).toEqual(['unavailable', ['unavailable']]);
});

describe('tails that go on after a position', () => {
  test('hold their rows four of a key at a time, and give way when they are read or left', async () => {
    const tails = openTails();
    await storeRows(['a', 'b']);
    const { readers, opened, drain } = openResumed(tails, many('key', 6));
    await expect.poll(() => readers.length).toBe(4);
    (await opened[0])?.leave();
    await expect.poll(() => readers.length).toBe(5);
    drain();
    await Promise.all(opened);
    expect(readers.map(({ ids }) => ids())).toEqual(readers.map(() => ['a', 'b']));
  });

  test('are served while another key or another token has many slow readers', async () => {
    const tails = openTails();
    await storeRows(['a']);
    const lanes = [...many('greedy/token', 20), ...many('second', 20), 'greedy/other', 'third', 'fourth'];
    const { served, opened, drain } = openResumed(tails, lanes);
    const expected = [...many('greedy/token', 2), ...many('second', 3), 'greedy/other', 'third', 'fourth'];
    await expect.poll(served).toEqual(expected.toSorted());
    drain();
    await Promise.all(opened);
  });

  test('leave the queue with their reader', async () => {
    const tails = openTails();
    await storeRows(['a']);
    const { opened, readers } = openResumed(tails, many('key', 4));
    await Promise.all(opened);
    const gone = new AbortController();
    const waiting = tails.open(ask({ position: HOUR_AGO, signal: gone.signal }));
    await expect.poll(() => tails.count).toBe(5);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(tails.count).toBe(4);
    const next = openResumed(tails, ['key']);
    (await opened[0])?.leave();
    await expect.poll(() => [readers.length, next.readers.length]).toEqual([4, 1]);
  });
});

test('the first query of a question waits in the lanes of all that open it, and only until the last of them has gone', async () => {
  const tails = openTails();
  const joined: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const signals: (AbortSignal | undefined)[] = [];
  onQuery = async (options) => {
    options?.onJoin?.((lane) => void joined.push(lane));
    signals.push(options?.signal);
    await promise;
  };
  const gone = new AbortController();
  const opened = ['busy', 'other'].map((lane) => tails.open(ask({ lane, signal: gone.signal })));
  await expect.poll(() => joined).toEqual(['other']);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  gone.abort(new Error('gone'));
  for (const tail of opened) await expect(tail).rejects.toThrow('gone');
  expect([signals[0]?.aborted, tails.count]).toEqual([true, 0]);
  resolve();
});
