import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { TailraceError } from '../../src/errors.ts';
import { type CommitOptions, type CommitterOptions, createCommitter } from '../../src/ingest/committer.ts';
import { type Event, parseEvent } from '../../src/ingest/event.ts';
import { encodeRows } from '../../src/ingest/rows.ts';
import { idsOf } from '../support/http.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
afterEach(() => void vi.useRealTimers());
const EDGE = core.registry.getSource('cloudflare.logs.prod');
const POSTGRES = core.registry.getSource('postgres.logs');
const NOW = Date.now();
const IDLE = { queuedBytes: 0, queuedRequests: 0 };

const textOf = (batch: InsertBatch) =>
  (batch.format === 'blocks' ? Buffer.concat(batch.blocks) : batch.bytes).toString();

let projects = 0;

/**
 * A committer on the real engine, and a project of its own. Its inserts are noted, and wait or fail as `before` says.
 */
function open(
  options: Partial<CommitterOptions> = {},
  before: (batch: InsertBatch, number: number) => Promise<void> | undefined = () => undefined,
) {
  const project = `commit-${++projects}`;
  const inserts: InsertBatch[] = [];
  const engine: Engine = {
    ...core.engine,
    async insert(batch) {
      inserts.push(batch);
      await before(batch, inserts.length);
      await core.engine.insert(batch);
    },
  };
  const commits: [string, number, boolean][] = [];
  const committer = createCommitter(engine, {
    waitMs: 0,
    groupBytesMax: 1024 * 1024,
    onCommit: (source, rows, error) => void commits.push([source, rows, error !== undefined]),
    ...options,
  });
  onTestFinished(() => committer.close());
  const event = (id: string, { daysAgo = 0, text = '' } = {}) => {
    const wire = { id, project, timestamp: NOW - daysAgo * 86_400_000, event_message: text };
    const rules = { now: NOW * 1000, eventBytesMax: 1024 * 1024, project: '' };
    return parseEvent({ text: JSON.stringify(wire) }, EDGE, rules);
  };
  const commit = (events: readonly Event[], own: CommitOptions = {}) =>
    committer.commit(EDGE, encodeRows(events), own);
  const stored = (table?: string) => idsOf(core, project, table);
  const idOf = (row: string) => (JSON.parse(row) as string[])[0];
  const ids = () => inserts.map((batch) => textOf(batch).trimEnd().split('\n').map(idOf));
  const untilInserts = (count: number) => vi.waitFor(() => expect(inserts).toHaveLength(count));
  return { project, committer, commits, inserts, ids, event, commit, stored, untilInserts };
}

/** The same, whose inserts wait until the gate is opened. */
function openHeld(options: Partial<CommitterOptions> = {}, isHeld = (_number: number) => true) {
  const gate = Promise.withResolvers<void>();
  const opened = open(options, (_, number) => (isHeld(number) ? gate.promise : undefined));
  onTestFinished(() => gate.resolve()); // before the committer is closed, which a failed test would wait for
  return { ...opened, release: gate.resolve };
}

describe('grouping', () => {
  test('while one group is being committed the next gathers', async () => {
    const { committer, event, commit, ids, untilInserts, release } = openHeld({}, (number) => number === 1);
    const first = commit([event('1')]);
    await untilInserts(1);
    const others = ['2', '3', '4'].map((id) => commit([event(id)]));
    expect(committer.gauges().queuedRequests).toBe(4);
    release();
    await Promise.all([first, ...others]);
    expect(ids()).toEqual([['1'], ['2', '3', '4']]);
    expect(committer.gauges()).toEqual(IDLE);
  });

  test('each source and each day is an insert of its own', async () => {
    const { committer, event, commit, inserts, ids, stored } = open({ waitMs: 20 });
    const days = (prefix: string) => [0, 1, 0, 2].map((daysAgo, i) => event(`${prefix}${i}`, { daysAgo }));
    const typed = POSTGRES.columns.map(() => null);
    await Promise.all([
      commit(days('a')),
      commit(days('b')),
      committer.commit(POSTGRES, encodeRows([{ ...event('p'), typed }])),
    ]);
    expect(inserts.map(({ table }) => table)).toEqual([...Array(3).fill('edge_logs'), 'postgres_logs']);
    expect(ids()).toEqual([['a0', 'a2', 'b0', 'b2'], ['a1', 'b1'], ['a3', 'b3'], ['p']]);
    expect(await stored()).toHaveLength(8);
    expect(await stored('postgres_logs')).toEqual(['p']);
  });
});

describe('the answer', () => {
  test('comes only after the commit', async () => {
    const { event, commit, stored, untilInserts, release } = openHeld();
    let answered = false;
    const committed = commit([event('1')]).then(() => {
      answered = true;
    });
    await untilInserts(1);
    expect([answered, await stored()]).toEqual([false, []]);
    release();
    await committed;
    expect(await stored()).toEqual(['1']);
  });

  test('of a commit that fails is its failure, for exactly the requests in it', async () => {
    const failure = new TailraceError('overloaded', 'the disk is full');
    const { committer, commits, event, commit, stored } = open({}, (batch) =>
      textOf(batch).includes('"bad') ? Promise.reject(failure) : undefined,
    );
    const results = await Promise.allSettled([
      commit([event('bad-1'), event('yesterday-1', { daysAgo: 1 })]),
      commit([event('bad-2')]),
      commit([event('yesterday-2', { daysAgo: 1 })]),
    ]);
    expect(results.map((one) => (one.status === 'rejected' ? one.reason : 'stored'))).toEqual([
      failure,
      failure,
      'stored',
    ]);
    expect(commits).toEqual([
      [EDGE.name, 2, true],
      [EDGE.name, 2, false],
    ]);
    await commit([event('later')]);
    expect(await stored()).toEqual(['later', 'yesterday-1', 'yesterday-2']);
    expect(committer.gauges()).toEqual(IDLE);
  });
});

test('the queue held, waits for the insert that runs; what comes then is stored after the last release', async () => {
  const { committer, event, commit, inserts, stored, untilInserts, release } = openHeld(
    { groupBytesMax: 1 },
    (number) => number === 1,
  );
  const first = commit([event('1')]);
  await untilInserts(1);
  const holds = [committer.hold(), committer.hold()];
  const second = commit([event('2')]);
  release();
  await Promise.all(holds.map(({ idle }) => idle));
  await first;
  holds[0]?.release();
  holds[0]?.release(); // no effect: the other one still holds
  expect([inserts.length, await stored()]).toEqual([1, ['1']]);
  holds[1]?.release();
  await second;
  expect(await stored()).toEqual(['1', '2']);
});

test('keys take turns, so that many inserts of one do not delay another one’s', async () => {
  /** Groups without a wait become due by timers that were started before this one. */
  const untilDue = () => new Promise((resolve) => setTimeout(resolve, 1));
  const { project, event, commit, ids, untilInserts, release } = openHeld();
  const send = (key: string, id: string) => commit([event(id)], { key, token: `${project} ${id}` });
  const commits = [send('greedy', 'g0')];
  await untilInserts(1);
  commits.push(...Array.from({ length: 20 }, (_, i) => send('greedy', `g${i + 1}`)));
  await untilDue();
  commits.push(send('other', 'o1'), send('other', 'o2'));
  await untilDue();
  release();
  await Promise.all(commits);
  expect(ids().flat().slice(0, 5)).toEqual(['g0', 'g1', 'o1', 'g2', 'o2']);
});

describe('closing', () => {
  test('commits what is queued without its wait, and rejects what comes later', async () => {
    const { committer, event, commit, ids, stored } = open({ waitMs: 600_000 });
    const commits = [0, 1, 2].map((daysAgo) => commit([event(`${daysAgo}`, { daysAgo })]));
    const closing = committer.close();
    await expect(commit([event('late')])).rejects.toMatchObject({ code: 'engine_unavailable' });
    await closing;
    expect(await stored()).toEqual(['0', '1', '2']);
    await Promise.all(commits);
    expect(ids()).toEqual([['0'], ['1'], ['2']]);
  });

  test('waits for the holds: all is stored when it resolves, also if another hold came meanwhile', async () => {
    const { committer, event, commit, inserts, stored } = open();
    const first = committer.hold();
    const committed = commit([0, 1, 2].map((daysAgo) => event(`${daysAgo}`, { daysAgo })));
    const closing = committer.close();
    expect(committer.gauges().queuedRequests).toBe(1);
    first.release();
    const second = committer.hold();
    await second.idle;
    expect(inserts).toHaveLength(1);
    second.release();
    await closing;
    expect(committer.gauges()).toEqual(IDLE);
    await committed;
    expect(await stored()).toEqual(['0', '1', '2']);
  });
});

test('a token keeps a group to itself, and events without one are stored as often as they come', async () => {
  const { project, event, commit, inserts, stored } = open({ waitMs: 20 });
  const one = [event('1')];
  const tokens = [`${project}-a`, `${project}-b`].map((token) => commit(one, { token }));
  await Promise.all([...tokens, commit(one)]);
  await commit(one);
  expect(inserts.map(({ token }) => token?.slice(-1)).sort()).toEqual(['a', 'b', undefined, undefined]);
  expect(await stored()).toEqual(['1', '1', '1', '1']);
});
