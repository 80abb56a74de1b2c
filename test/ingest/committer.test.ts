import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { blockColumns } from '../../src/engine/block-column.ts';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { TailraceError } from '../../src/errors.ts';
import { type CommitterOptions, createCommitter } from '../../src/ingest/committer.ts';
import { type Event, parseEvent } from '../../src/ingest/event.ts';
import { createRowEncoder, encodeRows } from '../../src/ingest/rows.ts';
import { MICROS_PER_DAY } from '../../src/lib/instant.ts';
import { idsOf } from '../support/ingest.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
afterEach(() => void vi.useRealTimers());
const EDGE = core.registry.getSource('cloudflare.logs.prod');
const POSTGRES = core.registry.getSource('postgres.logs');
const NOW = Date.now();

let projects = 0;
/** A project of its own for each test. */
const newProject = () => `commit-${++projects}`;

function event(project: string, id: string, { daysAgo = 0, text = '' } = {}) {
  const wire = { id, project, timestamp: NOW - daysAgo * 86_400_000, event_message: text };
  const rules = { now: NOW * 1000, eventBytesMax: 1024 * 1024, project: '' };
  return parseEvent({ text: JSON.stringify(wire) }, EDGE, rules);
}

/** The real engine; its inserts are noted, and wait or fail where the test says so. */
function watch(before: (batch: InsertBatch) => Promise<void> | undefined = () => undefined) {
  const inserts: InsertBatch[] = [];
  const engine: Engine = {
    ...core.engine,
    async insert(batch) {
      inserts.push(batch);
      await before(batch);
      await core.engine.insert(batch);
    },
  };
  return { engine, inserts, ids: () => inserts.map((batch) => idsIn(batch)) };
}

const textOf = (batch: InsertBatch) =>
  (batch.format === 'blocks' ? Buffer.concat(batch.blocks) : batch.bytes).toString();

const idsIn = (batch: InsertBatch) =>
  textOf(batch)
    .trimEnd()
    .split('\n')
    .map((row) => (JSON.parse(row) as string[])[0]);

function open(engine: Engine, options: Partial<CommitterOptions> = {}) {
  const commits: [string, number, boolean][] = [];
  const committer = createCommitter(engine, {
    waitMs: 5,
    groupBytesMax: 1024 * 1024,
    queueBytesMax: 16 * 1024 * 1024,
    onCommit: (source, rows, error) => void commits.push([source, rows, error !== undefined]),
    ...options,
  });
  return { committer, commits };
}

describe('grouping', () => {
  test('tells the engine the minutes of the events of a group', async () => {
    const { engine, inserts } = watch();
    const { committer } = open(engine);
    const daysAgo = [0, 0, 1 / 24, 1].map((days) => event(newProject(), `${days}`, { daysAgo: days }));
    await Promise.all(daysAgo.map((one) => committer.commit(EDGE, encodeRows([one, one]))));
    const minutes = inserts.flatMap((batch) => [...(batch.minutes ?? [])]).sort((a, b) => b - a);
    const now = Math.floor(NOW / 60_000);
    expect(minutes).toEqual([now, now - 60, now - 1440]);
    await committer.close();
  });

  describe('while more large requests are expected', () => {
    const day = Math.floor((NOW * 1_000) / MICROS_PER_DAY);
    const asBlocks = (one: Event) => {
      const encoder = createRowEncoder({ columns: blockColumns(EDGE), day });
      encoder.add(one);
      return encoder.finish();
    };

    test('blocks wait for them, to be committed together', async () => {
      const project = newProject();
      const { engine, inserts } = watch();
      const expectsMore = vi.fn(() => true);
      const { committer } = open(engine, { waitMs: 50, expectsMore });
      const first = committer.commit(EDGE, asBlocks(event(project, '1')));
      await vi.waitFor(() => expect(expectsMore.mock.calls.length).toBeGreaterThan(1));
      expectsMore.mockReturnValue(false);
      await Promise.all([first, committer.commit(EDGE, asBlocks(event(project, '2')))]);
      expect(inserts.map(({ format }) => format)).toEqual(['blocks']);
      expect(await idsOf(core, project)).toEqual(['1', '2']);
      await committer.close();
    });

    test('blocks wait a bounded time, and text not at all', async () => {
      const project = newProject();
      const expectsMore = vi.fn(() => true);
      const { committer } = open(core.engine, { waitMs: 1, expectsMore });
      await committer.commit(EDGE, encodeRows([event(project, '1')]));
      expect(expectsMore).not.toHaveBeenCalled();
      await committer.commit(EDGE, asBlocks(event(project, '2')));
      expect(expectsMore.mock.calls.length).toBeLessThan(20);
      expect(await idsOf(core, project)).toEqual(['1', '2']);
      await committer.close();
    });
  });

  test('what comes while others wait or are committed is committed with what follows', async () => {
    const project = newProject();
    const { engine, inserts } = watch();
    const { committer, commits } = open(engine);
    const ids = Array.from({ length: 500 }, (_, i) => `e${i}`);
    await Promise.all(ids.map((id) => committer.commit(EDGE, encodeRows([event(project, id)]))));
    expect(inserts.length).toBeLessThan(5);
    expect(commits.reduce((sum, [, rows]) => sum + rows, 0)).toBe(500);
    expect(await idsOf(core, project)).toEqual(ids.sort());
    expect(committer.gauges()).toEqual({ queuedBytes: 0, queuedRequests: 0 });
    await committer.close();
  });

  test('while one group is being committed the next gathers', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, inserts, ids } = watch(() => (inserts.length === 1 ? gate.promise : undefined));
    const { committer } = open(engine, { waitMs: 0 });
    const first = committer.commit(EDGE, encodeRows([event(project, '1')]));
    await vi.waitFor(() => expect(inserts).toHaveLength(1));
    const others = ['2', '3', '4'].map((id) => committer.commit(EDGE, encodeRows([event(project, id)])));
    expect(committer.gauges().queuedRequests).toBe(4);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(ids()).toEqual([['1'], ['2', '3', '4']]);
    await committer.close();
  });

  test('a group that is large enough does not wait, and those after it are committed too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const project = newProject();
    const { engine, ids } = watch();
    const { committer } = open(engine, { waitMs: 100, groupBytesMax: 1_000 });
    await committer.commit(EDGE, encodeRows([event(project, '1', { text: 'x'.repeat(2_000) })]));
    vi.advanceTimersByTime(100); // the time that the group would have waited passes while nothing is queued
    const second = committer.commit(EDGE, encodeRows([event(project, '2')]));
    vi.advanceTimersByTime(100);
    await second;
    expect(ids()).toEqual([['1'], ['2']]);
    await committer.close();
  });

  test('each source and each day is an insert of its own', async () => {
    const project = newProject();
    const { engine, inserts, ids } = watch();
    const { committer } = open(engine, { waitMs: 20 });
    const days = (prefix: string) =>
      [0, 1, 0, 2].map((daysAgo, i) => event(project, `${prefix}${i}`, { daysAgo }));
    const postgres = event(project, 'p');
    await Promise.all([
      committer.commit(EDGE, encodeRows(days('a'))),
      committer.commit(EDGE, encodeRows(days('b'))),
      committer.commit(POSTGRES, encodeRows([{ ...postgres, typed: POSTGRES.columns.map(() => null) }])),
    ]);
    expect(inserts.map(({ table }) => table)).toEqual([
      'edge_logs',
      'edge_logs',
      'edge_logs',
      'postgres_logs',
    ]);
    expect(ids()).toEqual([['a0', 'a2', 'b0', 'b2'], ['a1', 'b1'], ['a3', 'b3'], ['p']]);
    expect(await idsOf(core, project)).toHaveLength(8);
    expect(await idsOf(core, project, 'postgres_logs')).toEqual(['p']);
    await committer.close();
  });

  test('a request of no events is committed at once', async () => {
    const { engine, inserts } = watch();
    const { committer } = open(engine);
    await committer.commit(EDGE, encodeRows([]));
    expect(inserts).toEqual([]);
    await committer.close();
  });
});

describe('the answer', () => {
  test('comes only after the commit', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, inserts } = watch(() => gate.promise);
    const { committer } = open(engine, { waitMs: 0 });
    let answered = false;
    const commit = committer.commit(EDGE, encodeRows([event(project, '1')])).then(() => {
      answered = true;
    });
    await vi.waitFor(() => expect(inserts).toHaveLength(1));
    expect([answered, await idsOf(core, project)]).toEqual([false, []]);
    gate.resolve();
    await commit;
    expect(await idsOf(core, project)).toEqual(['1']);
    await committer.close();
  });

  test('of a commit that fails is its failure, for exactly the requests in it', async () => {
    const project = newProject();
    const failure = new TailraceError('overloaded', 'the disk is full');
    const { engine } = watch((batch) =>
      textOf(batch).includes('"bad') ? Promise.reject(failure) : undefined,
    );
    const { committer, commits } = open(engine, { waitMs: 0 });
    const both = [event(project, 'bad-1'), event(project, 'yesterday-1', { daysAgo: 1 })];
    const results = await Promise.allSettled([
      committer.commit(EDGE, encodeRows(both)),
      committer.commit(EDGE, encodeRows([event(project, 'bad-2')])),
      committer.commit(EDGE, encodeRows([event(project, 'yesterday-2', { daysAgo: 1 })])),
    ]);
    expect(results.map((result) => (result.status === 'rejected' ? result.reason : 'stored'))).toEqual([
      failure,
      failure,
      'stored',
    ]);
    expect(commits).toEqual([
      [EDGE.name, 2, true],
      [EDGE.name, 2, false],
    ]);
    await committer.commit(EDGE, encodeRows([event(project, 'later')]));
    expect(await idsOf(core, project)).toEqual(['later', 'yesterday-1', 'yesterday-2']);
    expect(committer.gauges()).toEqual({ queuedBytes: 0, queuedRequests: 0 });
    await committer.close();
  });
});

describe('the queue', () => {
  test('when it is full turns requests away at once, with nothing of them stored', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, inserts } = watch(() => gate.promise);
    const { committer } = open(engine, { waitMs: 0, queueBytesMax: 1_000 });
    const large = event(project, '1', { text: 'x'.repeat(2_000) });
    const first = committer.commit(EDGE, encodeRows([large]));
    await vi.waitFor(() => expect(inserts).toHaveLength(1));
    await expect(committer.commit(EDGE, encodeRows([event(project, '2')]))).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterSeconds: 1,
    });
    expect(committer.gauges().queuedRequests).toBe(1);
    gate.resolve();
    await first;
    await committer.commit(EDGE, encodeRows([event(project, '3')]));
    expect(await idsOf(core, project)).toEqual(['1', '3']);
    await committer.close();
  });

  test('has its room back after a commit that failed', async () => {
    const project = newProject();
    const { engine, inserts } = watch(() =>
      inserts.length === 1 ? Promise.reject(new Error('once')) : undefined,
    );
    const { committer } = open(engine, { waitMs: 0, queueBytesMax: 1_000 });
    const large = (id: string) => [event(project, id, { text: 'x'.repeat(2_000) })];
    await expect(committer.commit(EDGE, encodeRows(large('1')))).rejects.toThrow('once');
    await committer.commit(EDGE, encodeRows(large('2')));
    expect(await idsOf(core, project)).toEqual(['2']);
    await committer.close();
  });
});

describe('holding the queue', () => {
  test('waits for the insert that runs; what comes then is stored after the last release', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, inserts } = watch(() => (inserts.length === 1 ? gate.promise : undefined));
    const { committer } = open(engine, { waitMs: 0, groupBytesMax: 1 });
    const first = committer.commit(EDGE, encodeRows([event(project, '1')]));
    await vi.waitFor(() => expect(inserts).toHaveLength(1));
    const holds = [committer.hold(), committer.hold()];
    const second = committer.commit(EDGE, encodeRows([event(project, '2')]));
    gate.resolve();
    await Promise.all(holds.map(({ idle }) => idle));
    await first;
    holds[0]?.release();
    holds[0]?.release(); // no effect: the other one still holds
    expect([inserts.length, await idsOf(core, project)]).toEqual([1, ['1']]);
    holds[1]?.release();
    await second;
    expect(await idsOf(core, project)).toEqual(['1', '2']);
    await committer.close();
  });

  test('ends, and a close that came meanwhile stores what waits', async () => {
    const project = newProject();
    const { engine } = watch();
    const { committer } = open(engine, { waitMs: 0 });
    const { release } = committer.hold();
    const commit = committer.commit(EDGE, encodeRows([event(project, '1')]));
    const closing = committer.close();
    expect(committer.gauges().queuedRequests).toBe(1);
    release();
    await closing;
    await commit;
    expect(await idsOf(core, project)).toEqual(['1']);
  });

  test('again while a close stores what waits: it is all stored when the close resolves', async () => {
    const project = newProject();
    const { engine, inserts } = watch();
    const { committer } = open(engine, { waitMs: 0 });
    const first = committer.hold();
    const rows = [0, 1, 2].map((daysAgo) => event(project, `${daysAgo}`, { daysAgo }));
    const commit = committer.commit(EDGE, encodeRows(rows));
    const closing = committer.close();
    first.release();
    const second = committer.hold();
    await second.idle;
    expect(inserts).toHaveLength(1);
    second.release();
    await closing;
    expect(committer.gauges().queuedRequests).toBe(0);
    await commit;
    expect(await idsOf(core, project)).toEqual(['0', '1', '2']);
  });
});

describe('keys', () => {
  const keys = (key: string) => ({ key });
  /** Groups without a wait become due by timers that were started before this one. */
  const untilDue = () => new Promise((resolve) => setTimeout(resolve, 1));

  test('take turns, so that many inserts of one do not delay another one’s', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, ids } = watch(() => gate.promise);
    const { committer } = open(engine, { waitMs: 0 });
    const commit = (key: string, id: string) =>
      committer.commit(EDGE, encodeRows([event(project, id)]), { key, token: `${project} ${id}` });
    const commits = [commit('greedy', 'g0')];
    await vi.waitFor(() => expect(ids()).toEqual([['g0']]));
    commits.push(...Array.from({ length: 20 }, (_, i) => commit('greedy', `g${i + 1}`)));
    await untilDue();
    commits.push(commit('other', 'o1'), commit('other', 'o2'));
    await untilDue();
    gate.resolve();
    await Promise.all(commits);
    expect(ids().flat().slice(0, 5)).toEqual(['g0', 'g1', 'o1', 'g2', 'o2']);
    await committer.close();
  });

  test('share a group, which is sent at the first turn of any of them', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, ids } = watch(() => gate.promise);
    const { committer } = open(engine, { waitMs: 0 });
    const commit = (key: string, id: string, daysAgo: number) =>
      committer.commit(EDGE, encodeRows([event(project, id, { daysAgo })]), keys(key));
    const commits = [commit('greedy', 'now', 0)];
    await vi.waitFor(() => expect(ids()).toHaveLength(1));
    commits.push(...[1, 2, 3].map((daysAgo) => commit('greedy', `g${daysAgo}`, daysAgo)));
    await untilDue();
    commits.push(commit('other', 'o3', 3));
    gate.resolve();
    await Promise.all(commits);
    expect(ids()).toEqual([['now'], ['g1'], ['g3', 'o3'], ['g2']]);
    await committer.close();
  });

  test('have a share of the backlog each', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine } = watch(() => gate.promise);
    const { committer } = open(engine, { queueBytesMax: 10_000 });
    const row = (id: string) => encodeRows([event(project, id, { text: 'x'.repeat(700) })]);
    const fill = (key: string) =>
      Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => committer.commit(EDGE, row(`${key}${i}`), keys(key))),
      );
    const filled = [fill('first'), fill('second')];
    gate.resolve();
    const [ofFirst = [], ofSecond = []] = (await Promise.all(filled)).map((outcomes) =>
      outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
    );
    expect(ofFirst[0]).toMatchObject({ code: 'overloaded', message: expect.stringContaining('of this key') });
    expect(ofSecond[0]).toMatchObject({ code: 'overloaded' });
    expect(20 - ofSecond.length).toBeGreaterThan(0);
    expect(committer.gauges()).toEqual({ queuedBytes: 0, queuedRequests: 0 });
    await committer.close();
  });
});

describe('closing', () => {
  test('commits what is queued without its wait, and refuses what comes later', async () => {
    const project = newProject();
    const { engine, ids } = watch();
    const { committer } = open(engine, { waitMs: 600_000 });
    const commits = [0, 1, 2].map((daysAgo) =>
      committer.commit(EDGE, encodeRows([event(project, `${daysAgo}`, { daysAgo })])),
    );
    const closing = committer.close();
    await expect(committer.commit(EDGE, encodeRows([event(project, 'late')]))).rejects.toMatchObject({
      code: 'engine_unavailable',
    });
    await closing;
    expect(await idsOf(core, project)).toEqual(['0', '1', '2']);
    await Promise.all(commits);
    expect(ids()).toEqual([['0'], ['1'], ['2']]);
  });

  test('waits for the group that is being committed', async () => {
    const project = newProject();
    const gate = Promise.withResolvers<void>();
    const { engine, inserts } = watch(() => gate.promise);
    const { committer } = open(engine, { waitMs: 0 });
    const first = committer.commit(EDGE, encodeRows([event(project, '1')]));
    await vi.waitFor(() => expect(inserts).toHaveLength(1));
    const second = committer.commit(EDGE, encodeRows([event(project, '2')]));
    const closing = committer.close();
    gate.resolve();
    await closing;
    expect(await idsOf(core, project)).toEqual(['1', '2']);
    await Promise.all([first, second]);
  });
});

describe('a token', () => {
  test('that came before stores nothing again, day by day', async () => {
    const project = newProject();
    const { engine, inserts } = watch();
    const { committer } = open(engine);
    const events = [event(project, '1'), event(project, '2', { daysAgo: 1 })];
    await committer.commit(EDGE, encodeRows(events.slice(0, 1)), { token: `${project}-token` });
    await committer.commit(EDGE, encodeRows(events), { token: `${project}-token` });
    expect(inserts.map(({ token }) => token)).toEqual(Array(3).fill(`${project}-token`));
    expect(await idsOf(core, project)).toEqual(['1', '2']);
    await committer.close();
  });

  test('keeps a group to itself, and events without one are stored as often as they come', async () => {
    const project = newProject();
    const { engine, inserts } = watch();
    const { committer } = open(engine, { waitMs: 20 });
    const one = [event(project, '1')];
    await Promise.all([
      committer.commit(EDGE, encodeRows(one), { token: `${project}-a` }),
      committer.commit(EDGE, encodeRows(one), { token: `${project}-b` }),
      committer.commit(EDGE, encodeRows(one)),
    ]);
    await committer.commit(EDGE, encodeRows(one));
    expect(inserts.map(({ token }) => token?.slice(-1)).sort()).toEqual(['a', 'b', undefined, undefined]);
    expect(await idsOf(core, project)).toEqual(['1', '1', '1', '1']);
    await committer.close();
  });
});
