import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createRefresh, type RefreshExtent } from '../../src/cache/incremental.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createWriteMarks, watchWrites } from '../../src/engine/write-marks.ts';
import { type Committer, createCommitter } from '../../src/ingest/committer.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { encodeRows } from '../../src/ingest/rows.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import { type Answer, createRunner, type Run } from '../../src/query/run.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { type Core, openCore } from '../../src/service/open-core.ts';
import { runs } from '../support/property.ts';
import { createTestRetention } from '../support/retention.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INVOCATIONS = 'deno-relay-logs';
const REQUESTS = 'cloudflare.logs.prod';
// The range of a week reaches back further: what is read of it shrinks while the tests run.
const RETENTION_DAYS = 6;

const folder = await temporaryFolder();
const config = testConfig(folder.path, {
  TAILRACE_SOURCES_DIR: join(folder.path, 'sources'),
  TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
});
await writeDefinitions();
const world = {
  now: Date.now(),
  insertFails: undefined as undefined | 'before' | 'after',
  extents: [] as RefreshExtent[],
};
let open = await openWorld();
afterAll(async () => {
  await open.close();
  await folder.remove();
});

/** The shipped definitions, invocations kept for less than a week, and the same statistics cut at a few rows, open to SELECTs of callers. */
async function writeDefinitions(): Promise<void> {
  await mkdir(config.sourcesDir);
  for (const name of await readdir('sources')) {
    const text = await readFile(join('sources', name), 'utf8');
    const days = name.startsWith(INVOCATIONS) ? RETENTION_DAYS : 90;
    await writeFile(
      join(config.sourcesDir, name),
      text.replace('retention_days: 90', `retention_days: ${days}`),
    );
  }
  await cp('endpoints', config.endpointsDir, { recursive: true });
  const cut = join(config.endpointsDir, 'test.cut');
  await cp('endpoints/functions.invocation-stats', cut, { recursive: true });
  const yaml = await readFile(join(cut, 'endpoint.yaml'), 'utf8');
  const other = yaml.replace(/^id: .*$/m, 'id: a0000000-0000-4000-8000-000000000001');
  // For callers' SELECTs, the rows in a view.
  const sql = await readFile(join(cut, 'query.sql'), 'utf8');
  await writeFile(
    join(cut, 'query.sql'),
    `WITH buckets AS (${sql}) SELECT * FROM buckets ORDER BY timestamp`,
  );
  await writeFile(
    join(cut, 'endpoint.yaml'),
    other
      .replace(/^name: .*$/m, 'name: test.cut')
      .replace('max_rows: 1000', 'max_rows: 5')
      .replace('query_sandboxing: false', 'query_sandboxing: true'),
  );
}

/** An engine whose inserts fail when they are told to, whether the rows are stored then or not. */
function failing(engine: Engine): Engine {
  return {
    ...engine,
    async insert(batch) {
      const { insertFails } = world;
      if (insertFails === 'before') throw new Error('not stored');
      await engine.insert(batch);
      if (insertFails === 'after') throw new Error('stored, and nobody was told');
    },
  };
}

interface Open {
  readonly core: Core;
  readonly committer: Committer;
  /** A query of everything. */
  readonly run: Run;
  readonly refresh: ReturnType<typeof createRefresh>;
  close(): Promise<void>;
}

async function openWorld(): Promise<Open> {
  const core = await openCore(config, 'a test');
  const { writes } = core;
  const engine = watchWrites(failing(core.engine), writes);
  const committer = createCommitter(engine, {
    waitMs: 0,
    groupBytesMax: 1024 * 1024,
    queueBytesMax: 16 * 1024 * 1024,
    onCommit: () => {},
  });
  const now = () => world.now;
  const run = createRunner(core.engine, now);
  const onExtent = (_: unknown, extent: RefreshExtent) => void world.extents.push(extent);
  const refresh = createRefresh({ run, writes, seesEveryWrite: true, now, engineNow: Date.now, onExtent });
  const close = async () => {
    await committer.close();
    await core.close();
  };
  return { core, committer, run, refresh, close };
}

/** An event as a test draws it: how long ago, in ms and µs, and what it says. */
interface Drawn {
  readonly agoMs: number;
  readonly micros: number;
  readonly mine: boolean;
  readonly time: number | null;
  readonly path: string;
}

type Step =
  | { readonly do: 'store'; readonly events: readonly Drawn[]; readonly fails?: 'before' | 'after' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'drop'; readonly reason: 'age' | 'size' }
  | { readonly do: 'restart' };

const QUESTIONS = [
  ...['5min', '15min', '1hr', '1day', '7day'].map(
    (interval) => ['functions.invocation-stats', interval] as const,
  ),
  ...['hourly', 'minutely', 'daily'].map((interval) => ['usage.api-counts', interval] as const),
  ['test.cut', '1hr'] as const,
];

const around = (ms: number) => fc.integer({ min: -2 * SECOND, max: 2 * SECOND }).map((beside) => ms + beside);
const ago = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 * SECOND }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: HOUR }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: RETENTION_DAYS * DAY }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 8 * DAY }) },
  { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: 0 }) },
  // About to fall out of a range, or out of what is kept.
  { weight: 2, arbitrary: fc.constantFrom(5 * MINUTE, HOUR, DAY, 7 * DAY).chain(around) },
  { weight: 1, arbitrary: fc.integer({ min: -1_500, max: 0 }).map((ms) => RETENTION_DAYS * DAY + ms) },
);
const time = fc.oneof(
  fc.double({ min: 0, max: 400_000, noNaN: true }),
  fc.constantFrom(0.1, 0.2, 0.3, 1e-7, 5e-324, 3e9, 1e17, -1e17, 3.5e38, 1e300, -1e300, 1.7e308, -5.5, null),
);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  agoMs: ago,
  micros: fc.constantFrom(0, 1, 999),
  mine: fc.boolean(),
  time,
  path: fc.constantFrom('/rest/v1', '/auth/v1', '/storage/rest', '/'),
});
// Enough of them in one bucket for its percentiles to be two different ones, and neither the longest.
const many = fc
  .tuple(drawn, fc.array(time, { minLength: 101, maxLength: 130 }))
  .map(([one, times]) => times.map((value) => ({ ...one, time: value })));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      events: fc.array(drawn, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('store' as const), events: many }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      events: fc.array(drawn, { minLength: 1, maxLength: 3 }),
      fails: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(
        fc.integer({ min: 0, max: 2 * SECOND }),
        fc.constantFrom(SECOND, MINUTE, 5 * MINUTE, HOUR, DAY),
        fc.integer({ min: 0, max: 3 * HOUR }),
        fc.constantFrom(-1, -SECOND, -HOUR, -DAY),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('drop' as const),
      reason: fc.constantFrom('age' as const, 'size' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

async function storeAll(events: readonly Drawn[], project: string): Promise<void> {
  const requests = [INVOCATIONS, REQUESTS].map(async (name) => {
    const source = open.core.registry.getSource(name);
    const rules = { now: world.now * 1000, eventBytesMax: 1024 * 1024, project: '' };
    const parsed = events.flatMap(({ agoMs, micros, mine, time, path }) => {
      const whose = mine ? project : 'another';
      const metadata = {
        project_ref: whose,
        execution_time_ms: time,
        request: { path, url: `https://${whose}${path}` },
      };
      const timestamp = (world.now - agoMs) * 1000 - micros;
      try {
        return [parseEvent({ text: JSON.stringify({ timestamp, project: whose, metadata }) }, source, rules)];
      } catch {
        return []; // too old for this source
      }
    });
    await open.committer.commit(source, encodeRows(parsed));
  });
  await Promise.allSettled(requests);
}

async function take(one: Step, project: string, kept: Map<string, Answer>): Promise<void> {
  if (one.do === 'wait') world.now += one.ms;
  if (one.do === 'store') {
    world.insertFails = one.fails;
    await storeAll(one.events, project);
    world.insertFails = undefined;
  }
  if (one.do === 'drop') {
    const { engine, registry } = open.core;
    const storeBytesMax = one.reason === 'size' ? 1 : 0;
    const { retention } = createTestRetention({
      engine,
      sources: () => registry.sources,
      now: world.now,
      storeBytesMax,
      dropPercentMax: 100,
    });
    await retention.run();
  }
  if (one.do === 'restart') {
    kept.clear();
    await open.close();
    open = await openWorld();
  }
}

/** The refreshed answer is the one of a query of everything at that instant, by its bytes. */
async function expectSame(question: (typeof QUESTIONS)[number], project: string, kept: Map<string, Answer>) {
  const [name, interval] = question;
  const endpoint = open.core.registry.getEndpoint(name);
  const values = parseParameters(endpoint, { project, interval }, 1_000);
  const key = question.join(' ');
  const asked = createQuestion(endpoint, values);
  const all = async () => (await open.run(asked)).body.toString();
  const expected = await all();
  const answer = await open.refresh(asked, kept.get(key), {});
  const body = answer.body.toString();
  // An event may become too old to be read between the two.
  if (body !== expected) expect(body).toBe(await all());
  expect(answer).toMatchObject({ rows: JSON.parse(body).result.length, instantMs: world.now });
  kept.set(key, answer);
}

let cases = 0;
const newProject = () => `case-${cases++}-`;
/** Events that differ in their time only. */
const at = (...agoMs: number[]): Step => ({
  do: 'store',
  events: agoMs.map((ms) => ({ agoMs: ms, micros: 0, mine: true, time: 0.1, path: '/rest/v1' })),
});
const wait = (ms: number): Step => ({ do: 'wait', ms });

describe('a refreshed answer equals one computed anew', () => {
  const STATS = 'functions.invocation-stats';
  test.for<[string, (typeof QUESTIONS)[number], Step[], RefreshExtent]>([
    ['when nothing has happened', [STATS, '7day'], [at(0, DAY, 5 * DAY), wait(MINUTE)], 'incremental'],
    ['after events on time', [STATS, '7day'], [at(DAY), wait(MINUTE), at(0, 10)], 'incremental'],
    ['after late events', [STATS, '7day'], [at(0, 2 * DAY), at(4 * DAY, 4 * DAY + 1)], 'incremental'],
    ['after events that are ahead', [STATS, '1hr'], [at(0), at(-50 * MINUTE), wait(MINUTE)], 'incremental'],
    ['after new buckets', [STATS, '1hr'], [at(0, 55 * MINUTE), wait(20 * MINUTE), at(0)], 'incremental'],
    ['after a time longer than the range', [STATS, '1hr'], [at(0), wait(HOUR)], 'full'],
    ['after the clock went back', [STATS, '1hr'], [at(0, HOUR + MINUTE), wait(-5 * MINUTE)], 'full'],
    [
      'after its first events have left the range',
      ['usage.api-counts', 'minutely'],
      [at(HOUR - SECOND), wait(2 * SECOND)],
      'incremental',
    ],
    ['after days were dropped', [STATS, '7day'], [at(0, 3 * DAY), { do: 'drop', reason: 'size' }], 'full'],
    [
      'after events of which nobody knows',
      [STATS, '7day'],
      [at(0), { ...at(2 * DAY), fails: 'after' } as Step],
      'incremental',
    ],
    [
      'where it was cut at its rows',
      ['test.cut', '1hr'],
      [at(...[58, 57, 56, 55, 50, 40].map((m) => m * MINUTE)), wait(4 * MINUTE)],
      'full',
    ],
    [
      'where it has more rows than it may',
      ['test.cut', '1hr'],
      [at(...[50, 40, 30, 20].map((m) => m * MINUTE)), at(45 * MINUTE, 35 * MINUTE)],
      'full',
    ],
  ])('%s', async ([, question, [first = wait(0), ...rest], extent]) => {
    const project = newProject();
    const kept = new Map<string, Answer>();
    // In the middle of a minute and of a day, so that buckets are as long as they look.
    world.now = Math.floor(Date.now() / DAY) * DAY + DAY / 2 + MINUTE / 2;
    await take(first, project, kept);
    await expectSame(question, project, kept);
    for (const one of rest) await take(one, project, kept);
    await expectSame(question, project, kept);
    expect(world.extents.at(-1)).toBe(extent);
  });

  test('after an event became too old to be read', async () => {
    const project = newProject();
    const kept = new Map<string, Answer>();
    const question = [STATS, '7day'] as const;
    world.now = Date.now();
    // In one bucket, whatever the time of day.
    const old = RETENTION_DAYS * DAY - 4 * SECOND;
    await take(at(old, old - 1), project, kept);
    const body = async () => {
      await expectSame(question, project, kept);
      return kept.get(question.join(' '))?.body.toString();
    };
    expect(await body()).toContain('"count":2');
    // The engine goes by the real clock.
    await vi.waitFor(async () => expect(await body()).toBe('{"result":[]}'), {
      timeout: 10_000,
      interval: 200,
    });
    expect(world.extents.at(-1)).toBe('incremental');
  });

  test('where it is that of a SELECT of the caller, always in full', async () => {
    const project = newProject();
    const { core, refresh, run } = open;
    const stored = core.registry.getEndpoint('test.cut');
    const raw = { project, interval: '1hr', sql: 'SELECT sum(count) AS n FROM buckets' };
    const values = parseParameters(stored, raw, 1_000);
    const endpoint = await createSandbox(core.engine, config)(stored, raw);
    world.now = Date.now();
    await take(at(0, 30 * MINUTE, 2 * HOUR), project, new Map());
    const question = createQuestion(endpoint, values);
    const kept = await refresh(question, undefined, {});
    expect(kept.body.toString()).toBe('{"result":[{"n":2}]}');
    await take(at(MINUTE), project, new Map());
    const count = world.extents.length;
    const { body } = await refresh(question, kept, {});
    expect(body.toString()).toBe('{"result":[{"n":3}]}');
    expect(body).toEqual((await run(question)).body);
    expect(world.extents).toHaveLength(count);
  });

  test('where events come in unseen only as far as they may be late, and in full where nobody knows', async () => {
    const project = newProject();
    const { run } = open;
    const now = () => world.now;
    const onExtent = (_: unknown, extent: RefreshExtent) => void world.extents.push(extent);
    const writes = createWriteMarks(10); // nobody marks them
    const refresh = createRefresh({ run, writes, seesEveryWrite: false, now, engineNow: Date.now, onExtent });
    const shipped = open.core.registry.getEndpoint(STATS);
    const values = parseParameters(shipped, { project, interval: '1hr' }, 1_000);
    const late = { ...shipped, bucket: shipped.bucket && { ...shipped.bucket, latenessSeconds: 20 * 60 } };
    for (const [endpoint, extent] of [
      [shipped, 'full'],
      [late, 'incremental'],
    ] as const) {
      world.now = Date.now();
      const question = createQuestion(endpoint, values);
      const kept = await refresh(question, undefined, {});
      await take(at(0, 19 * MINUTE), project, new Map());
      world.now += MINUTE;
      const { body } = await refresh(question, kept, {});
      expect(body.toString()).toBe((await run(question)).body.toString());
      expect(world.extents.at(-1)).toBe(extent);
    }
  });

  test('whatever was stored, in whatever order, and whatever happened', { timeout: 300_000 }, async () => {
    const steps = fc.array(step, { minLength: 2, maxLength: 25, size: 'max' });
    world.extents.length = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...QUESTIONS), steps, async (question, all) => {
        const project = newProject();
        const kept = new Map<string, Answer>();
        world.now = Date.now();
        for (const one of all) {
          await take(one, project, kept);
          await expectSame(question, project, kept);
        }
      }),
      runs(20),
    );
    const incremental = world.extents.filter((extent) => extent === 'incremental').length;
    expect(incremental).toBeGreaterThan(world.extents.length / 4);
  });
});
