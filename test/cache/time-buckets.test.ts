import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type Basis, createRefresh, type RefreshExtent } from '../../src/cache/incremental.ts';
import { openStoredAnswers } from '../../src/cache/stored/stored-answers.ts';
import { beginDeletion, finishDeletion } from '../../src/engine/delete-rows.ts';
import { createCommitter } from '../../src/ingest/committer.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { encodeRows } from '../../src/ingest/rows.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import { type Answer, createRunner } from '../../src/query/run.ts';
import { openCore } from '../../src/service/open-core.ts';
import { sql } from '../../src/sql/sql.ts';
import { runs } from '../support/property.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const INVOCATIONS = 'deno-relay-logs';
const STATS = 'functions.invocation-stats';
const NOON = Date.UTC(2026, 10, 20, 12, 0, 30);

const folder = await temporaryFolder();
const config = testConfig(folder.path);
const world = { now: NOON, extents: [] as RefreshExtent[] };
let open = await openWorld();
afterAll(async () => {
  await open.close();
  await folder.remove();
});

async function openWorld() {
  const core = await openCore(config, 'a test');
  const { writes, engine } = core;
  await engine.setReadFilters(new Map()); // they follow the real clock
  const now = () => world.now;
  const bases = new WeakMap<Answer, Basis>();
  const stored = await openStoredAnswers({
    ...{ dataDir: config.dataDir, engine, writes, bases, now, program: 'a', bytesMax: 1_000_000 },
    tables: () => core.registry.sources.map(({ table }) => table),
    onFailure(error) {
      throw error;
    },
  });
  const committer = createCommitter(engine, {
    ...{ waitMs: 0, groupBytesMax: 1024 * 1024, queueBytesMax: 16 * 1024 * 1024 },
    onCommit: () => {},
  });
  const run = createRunner(engine, now);
  const onExtent = (_: unknown, extent: RefreshExtent) => void world.extents.push(extent);
  const timing = { now, engineNow: now, onExtent, onBasis: stored.note };
  const refresh = createRefresh({ run, writes, seesEveryWrite: true, bases, ...timing });
  /** Without `saves` as a kill does, which stores nothing more. */
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

async function store(project: string, ...agoMs: readonly number[]): Promise<void> {
  const source = open.core.registry.getSource(INVOCATIONS);
  const rules = { now: world.now * 1000, eventBytesMax: 1024 * 1024, project: '' };
  const metadata = { project_ref: project, execution_time_ms: 7 };
  const parsed = agoMs.map((ago) => {
    const event = { timestamp: (world.now - ago) * 1000, project, metadata };
    return parseEvent({ text: JSON.stringify(event) }, source, rules);
  });
  await open.committer.commit(source, encodeRows(parsed));
}

async function deleteEvents(project: string): Promise<void> {
  const { core, stored } = open;
  const source = core.registry.getSource(INVOCATIONS);
  await beginDeletion(core.engine, source, sql`project = ${project}`, async () => {});
  await finishDeletion(core.engine, source, { pause: async () => {}, onParts: () => {} });
  stored.clear();
  await core.eventsDeleted([source], world.now);
}

function ask(project: string, interval: string) {
  const endpoint = open.core.registry.getEndpoint(STATS);
  return createQuestion(endpoint, parseParameters(endpoint, { project, interval }, 1_000));
}

/** A refresh of what is kept, or was kept by an earlier process, has the bytes of a query of everything. */
async function expectSame(project: string, interval: string, kept?: Answer) {
  const question = ask(project, interval);
  world.extents.length = 0;
  const answer = await open.refresh(question, kept ?? open.stored.find(question), {});
  const body = answer.body.toString();
  expect(body).toBe((await open.run(question)).body.toString());
  return { answer, events: body.match(/"count":1/g)?.length ?? 0, extent: world.extents[0] };
}

let cases = 0;
const newProject = () => `case-${cases++}-`;

describe('a refreshed answer equals one computed anew', () => {
  test('whatever was stored, in whatever order', async () => {
    const ago = fc.oneof(
      fc.integer({ min: 0, max: 3 * SECOND }),
      fc.integer({ min: -HOUR, max: HOUR }),
      fc.integer({ min: 0, max: 8 * DAY }),
      fc.constantFrom(5 * MINUTE, HOUR, DAY, 7 * DAY),
    );
    const events = fc.array(ago, { maxLength: 5 });
    const waitMs = fc.constantFrom(0, 1, SECOND, MINUTE, HOUR, DAY, -SECOND, -DAY);
    const steps = fc.array(fc.tuple(events, waitMs), { minLength: 2, maxLength: 20, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('5min', '1hr', '1day', '7day'), steps, async (interval, all) => {
        const project = newProject();
        world.now = NOON;
        let kept: Answer | undefined;
        for (const [ages, ms] of all) {
          await store(project, ...ages);
          world.now += ms;
          kept = (await expectSame(project, interval, kept)).answer;
        }
      }),
      runs(20),
    );
  });
});

describe('an answer of an earlier process', () => {
  test('is not found after a deletion, and names nobody in its file then', async () => {
    const project = newProject();
    world.now = NOON;
    await store(project, 0, DAY);
    await expectSame(project, '7day');
    await open.stored.save();
    expect(open.stored.find(ask(project, '7day'))).toBeDefined();
    await deleteEvents(project);
    expect(open.stored.find(ask(project, '7day'))).toBeUndefined();
    for (const suffix of ['', '-wal'])
      expect(await readFile(join(config.dataDir, `time-buckets.sqlite${suffix}`), 'latin1')).not.toContain(
        project,
      );
    await restart();
    expect(await expectSame(project, '7day')).toMatchObject({ events: 0, extent: undefined });
  });
});
