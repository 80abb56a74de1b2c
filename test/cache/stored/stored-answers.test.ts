import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Basis, createRefresh, type RefreshExtent } from '../../../src/cache/incremental.ts';
import { openStoredAnswers, type StoredAnswers } from '../../../src/cache/stored/stored-answers.ts';
import { beginDeletion, finishDeletion } from '../../../src/engine/delete-rows.ts';
import { createWriteMarks } from '../../../src/engine/write-marks.ts';
import { type Committer, createCommitter } from '../../../src/ingest/committer.ts';
import { parseEvent } from '../../../src/ingest/event.ts';
import { encodeRows } from '../../../src/ingest/rows.ts';
import { parseParameters } from '../../../src/query/parameters.ts';
import { createQuestion } from '../../../src/query/question.ts';
import { type Answer, createRunner, type Run } from '../../../src/query/run.ts';
import { type Core, openCore } from '../../../src/service/open-core.ts';
import { type SqlText, sql, textOf } from '../../../src/sql/sql.ts';
import { runs } from '../../support/property.ts';
import { createTestRetention } from '../../support/retention.ts';
import { temporaryFolder, testConfig } from '../../support/service.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const INVOCATIONS = 'deno-relay-logs';
const REQUESTS = 'cloudflare.logs.prod';
const STATS = ['functions.invocation-stats', '7day'] as const;
const QUESTIONS = [STATS, ['usage.api-counts', 'daily']] as const;
type Asked = (typeof QUESTIONS)[number];

const folder = await temporaryFolder();
const config = testConfig(folder.path);
const FILE = join(config.dataDir, 'time-buckets.sqlite');
const world = { now: Date.now(), program: 'a', bytesMax: 1_000_000, extents: [] as RefreshExtent[] };
let failures: unknown[] = [];
let open = await openWorld();
afterAll(async () => {
  await open.close();
  await folder.remove();
});
beforeEach(() => {
  failures = [];
});

interface Open {
  readonly core: Core;
  readonly committer: Committer;
  readonly stored: StoredAnswers;
  /** A query of everything. */
  readonly run: Run;
  readonly refresh: ReturnType<typeof createRefresh>;
  /** Closes it; without `saves` as a kill does, which stores nothing more. */
  close(saves?: boolean): Promise<void>;
}

async function openWorld(): Promise<Open> {
  const core = await openCore(config, 'a test');
  const { writes, engine } = core;
  const now = () => world.now;
  const bases = new WeakMap<Answer, Basis>();
  const stored = await openStoredAnswers({
    ...{ dataDir: config.dataDir, engine, writes, bases, now, program: world.program },
    bytesMax: world.bytesMax,
    tables: () => core.registry.sources.map(({ table }) => table),
    onFailure: (error) => void failures.push(error),
  });
  const committer = createCommitter(engine, {
    waitMs: 0,
    groupBytesMax: 1024 * 1024,
    queueBytesMax: 16 * 1024 * 1024,
    onCommit: () => {},
  });
  const run = createRunner(engine, now);
  const onExtent = (_: unknown, extent: RefreshExtent) => void world.extents.push(extent);
  const timing = { now, engineNow: Date.now, onExtent, onBasis: stored.note };
  const refresh = createRefresh({ run, writes, seesEveryWrite: true, bases, ...timing });
  const close = async (saves = true) => {
    await committer.close();
    if (saves) await stored.close();
    await core.close();
  };
  return { core, committer, stored, run, refresh, close };
}

async function restart(saves = true): Promise<void> {
  await open.close(saves);
  open = await openWorld();
}

interface Drawn {
  readonly agoMs: number;
  readonly mine: boolean;
}

async function store(events: readonly Drawn[], project: string): Promise<void> {
  const requests = [INVOCATIONS, REQUESTS].map(async (name) => {
    const source = open.core.registry.getSource(name);
    const rules = { now: world.now * 1000, eventBytesMax: 1024 * 1024, project: '' };
    const parsed = events.map(({ agoMs, mine }) => {
      const whose = mine ? project : 'another';
      const request = { path: '/rest/v1', url: `https://${whose}/rest/v1` };
      const metadata = { project_ref: whose, execution_time_ms: 7, request };
      const timestamp = (world.now - agoMs) * 1000;
      return parseEvent({ text: JSON.stringify({ timestamp, project: whose, metadata }) }, source, rules);
    });
    await open.committer.commit(source, encodeRows(parsed));
  });
  await Promise.all(requests);
}

async function deleteEvents(project: string, finishes: boolean): Promise<void> {
  const { core, stored } = open;
  const pause = async () => {};
  const sources = [INVOCATIONS, REQUESTS].map((name) => core.registry.getSource(name));
  for (const source of sources) await beginDeletion(core.engine, source, sql`project = ${project}`, pause);
  if (!finishes) return;
  for (const source of sources) await finishDeletion(core.engine, source, { pause, onParts: () => {} });
  stored.clear();
  await core.eventsDeleted(sources, world.now);
}

function ask([name, interval]: Asked, project: string) {
  const endpoint = open.core.registry.getEndpoint(name);
  return createQuestion(endpoint, parseParameters(endpoint, { project, interval }, 1_000));
}

/** Answers from the stored answer, if there is one, have the bytes of a query of everything. @returns the body, and how it was computed */
async function expectSame(
  asked: Asked,
  project: string,
): Promise<{ body: string; extent: string | undefined }> {
  const question = ask(asked, project);
  world.extents.length = 0;
  for (let tries = 1; ; tries++) {
    // A deletion may reach the rows between two queries.
    const before = (await open.run(question)).body.toString();
    const found = open.stored.find(question);
    const body = (await open.refresh(question, found, {})).body.toString();
    const after = (await open.run(question)).body.toString();
    if (before !== after && tries < 10) continue;
    expect(body).toBe(after);
    return { body, extent: world.extents[0] };
  }
}

let cases = 0;
const newProject = () => `case-${cases++}-`;
const at = (...agoMs: number[]) => agoMs.map((ago) => ({ agoMs: ago, mine: true }));
/** The middle of a minute and of a day. */
const noon = () => Math.floor(Date.now() / DAY) * DAY - DAY / 2 + MINUTE / 2;

describe('an answer of an earlier process', () => {
  test.for([
    ['is used again if nothing has changed', 0, 'incremental'],
    ['is used again a little later', HOUR, 'incremental'],
    ['is not, if the clock went back', -HOUR, 'full'],
    ['is not, after half of its range', 4 * DAY, undefined],
  ] as const)('%s', async ([, laterMs, extent]) => {
    const project = newProject();
    world.now = noon();
    await store(at(0, DAY, 5 * DAY), project);
    await expectSame(STATS, project);
    await restart();
    world.now += laterMs;
    expect((await expectSame(STATS, project)).extent).toBe(extent);
  });

  test('has the late events that came before a kill, and after it', async () => {
    const project = newProject();
    world.now = noon();
    await store(at(0, DAY, 5 * DAY), project);
    await expectSame(STATS, project);
    await open.stored.save();
    await store(at(3 * DAY), project); // not saved
    await restart(false);
    const { body, extent } = await expectSame(STATS, project);
    expect([extent, body.match(/"count":1/g)?.length]).toEqual(['incremental', 4]);
    await store(at(2 * DAY), project);
    const later = await expectSame(STATS, project);
    expect([later.extent, later.body.match(/"count":1/g)?.length]).toEqual(['incremental', 5]);
  });

  test('is not found after a deletion, nor after one that a kill has interrupted', {
    timeout: 120_000,
  }, async () => {
    const project = newProject();
    world.now = noon();
    await store(at(0, DAY), project);
    await expectSame(STATS, project);
    await open.stored.save();
    const question = ask(STATS, project);
    const deleting = deleteEvents(project, true);
    expect(open.stored.find(question)).toBeDefined();
    await deleting;
    expect(open.stored.find(question)).toBeUndefined();
    for (const suffix of ['', '-wal']) expect(await readFile(FILE + suffix, 'latin1')).not.toContain(project);
    await restart();
    expect(await expectSame(STATS, project)).toEqual({ body: '{"result":[]}', extent: undefined });
    await store(at(0, DAY), project);
    await expectSame(STATS, project);
    await open.stored.save();
    await deleteEvents(project, false);
    await restart(false);
    for (let i = 0; i < 3; i++) await expectSame(STATS, project);
    const left = sql`SELECT count() AS left FROM system.mutations WHERE NOT is_done`;
    await expect.poll(() => open.core.engine.inspect(left)).toMatchObject([{ left: 0 }]); // the engine finishes it
    await restart();
    expect((await expectSame(STATS, project)).body).toBe('{"result":[]}');
  });

  test('is not used if the engine was still rewriting parts when it was computed', async () => {
    const dir = await temporaryFolder();
    const writes = createWriteMarks(10);
    const left = { count: 1 };
    const inspect = async (statement: SqlText<string>) => {
      const text = textOf(statement);
      if (text.includes('system.mutations')) return [{ table: 'a', last: '7', left: left.count }];
      return text.includes('system.tables') ? [{ name: 'a', found: 'x' }] : [];
    };
    const stored = await openStoredAnswers({
      ...{ dataDir: dir.path, engine: { inspect }, writes, bases: new WeakMap(), now: () => world.now },
      ...{ program: 'a', bytesMax: 1_000_000, tables: () => ['a'], onFailure: () => {} },
    });
    for (const count of [1, 0]) {
      left.count = count;
      const { version } = writes;
      await stored.save();
      expect(writes.changedMinutes('a', version)).toBeUndefined();
    }
    const { version } = writes;
    await stored.save();
    expect(writes.changedMinutes('a', version)).toEqual({ before: -Infinity, minutes: [] });
    await stored.close();
    await dir.remove();
  });

  test('is not found by another version of the program, nor with another definition', async () => {
    const project = newProject();
    world.now = noon();
    await store(at(0), project);
    await expectSame(STATS, project);
    await open.stored.save();
    const question = ask(STATS, project);
    expect(open.stored.find(question)).toBeDefined();
    expect(open.stored.find({ ...question, key: question.key.replace('7day', '1day') })).toBeUndefined();
    world.program = 'b';
    await restart();
    expect(open.stored.find(question)).toBeUndefined();
  });

  test('is not used if its table has another definition', async () => {
    const project = newProject();
    world.now = noon();
    await store(at(0), project);
    await expectSame(STATS, project);
    await open.close();
    const other = await openCore(config, 'another program');
    await other.engine.command(sql`ALTER TABLE function_edge_logs MODIFY COMMENT 'changed'`);
    await other.close();
    open = await openWorld();
    expect((await expectSame(STATS, project)).extent).toBe('full');
  });

  test('is removed beyond the size of the file, and if the file is damaged', async () => {
    const [first, second] = [newProject(), newProject()];
    world.now = noon();
    for (const project of [first, second]) await store(at(0), project);
    await expectSame(STATS, first);
    await open.stored.save();
    world.bytesMax = 900;
    await restart();
    world.now += 1;
    await expectSame(STATS, second);
    await open.stored.save();
    expect([first, second].map((project) => open.stored.find(ask(STATS, project)) !== undefined)).toEqual([
      false,
      true,
    ]);
    world.bytesMax = 1_000_000;
    await open.stored.save();
    const database = new DatabaseSync(FILE);
    database.exec("UPDATE answers SET body = x'7b'");
    database.close();
    expect(open.stored.find(ask(STATS, second))).toBeUndefined();
    await open.close();
    for (const suffix of ['-wal', '-shm']) await rm(FILE + suffix, { force: true });
    await writeFile(FILE, 'not a database, but long enough to be read as one'.repeat(100));
    open = await openWorld();
    await expectSame(STATS, second);
    await open.stored.save();
    expect(open.stored.find(ask(STATS, second))).toBeDefined();
    expect(failures).toEqual([]);
  });
});

const ago = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: DAY }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 8 * DAY }) },
  { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: 0 }) },
);
const events = fc.array(fc.record({ agoMs: ago, mine: fc.boolean() }), { minLength: 1, maxLength: 4 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('store' as const), events }) },
  { weight: 5, arbitrary: fc.constant({ do: 'save' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('restart' as const), saves: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), finishes: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'drop' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, SECOND, MINUTE, HOUR, 5 * HOUR, DAY, -SECOND, -DAY),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(one: Step, project: string): Promise<void> {
  if (one.do === 'wait') world.now += one.ms;
  if (one.do === 'store') await store(one.events, project);
  if (one.do === 'save') await open.stored.save();
  if (one.do === 'restart') await restart(one.saves);
  if (one.do === 'delete') await deleteEvents(project, one.finishes);
  if (one.do === 'drop') {
    const { engine, registry } = open.core;
    const sources = () => registry.sources;
    const bounds = { storeBytesMax: 1, dropPercentMax: 100 };
    await createTestRetention({ engine, sources, now: world.now, ...bounds }).retention.run();
  }
}

test('whatever happens to events and processes, answers are those of a query of everything', {
  timeout: 300_000,
}, async () => {
  const steps = fc.array(step, { minLength: 3, maxLength: 20, size: 'max' });
  const extents: (string | undefined)[] = [];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...QUESTIONS), steps, async (asked, all) => {
      const project = newProject();
      world.now = Date.now();
      for (const one of all) {
        await take(one, project);
        extents.push((await expectSame(asked, project)).extent);
      }
    }),
    runs(6),
  );
  expect(extents).toContain('incremental');
  expect(failures).toEqual([]);
});
