import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createRefresh, type RefreshExtent } from '../../src/cache/incremental.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { watchWrites } from '../../src/engine/write-marks.ts';
import { type Committer, createCommitter } from '../../src/ingest/committer.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { enforceRetention } from '../../src/ingest/retention.ts';
import { encodeRows } from '../../src/ingest/rows.ts';
import { openStore, type Store } from '../../src/open-store.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { type Answer, createRunner, type Run } from '../../src/query/run.ts';
import { runs } from '../endpoints/support.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INVOCATIONS = 'deno-relay-logs';
const REQUESTS = 'cloudflare.logs.prod';
// The range of a week reaches back further: what is read of it shrinks while the test runs.
const RETENTION_DAYS = 2;

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

/** The shipped definitions, invocations kept for two days, and the same statistics cut at a few rows. */
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
  await writeFile(
    join(cut, 'endpoint.yaml'),
    other.replace(/^name: .*$/m, 'name: test.cut').replace('max_rows: 1000', 'max_rows: 5'),
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
  readonly store: Store;
  readonly committer: Committer;
  /** A query of everything. */
  readonly run: Run;
  readonly refresh: ReturnType<typeof createRefresh>;
  close(): Promise<void>;
}

async function openWorld(): Promise<Open> {
  const store = await openStore(config, 'a test');
  const { writes } = store;
  const engine = watchWrites(failing(store.engine), writes);
  const committer = createCommitter(engine, {
    waitMs: 0,
    groupBytesMax: 1024 * 1024,
    queueBytesMax: 16 * 1024 * 1024,
    onCommit: () => {},
  });
  const now = () => world.now;
  const run = createRunner(store.engine, now);
  const onExtent = (_: unknown, extent: RefreshExtent) => void world.extents.push(extent);
  const refresh = createRefresh({ run, writes, seesEveryWrite: true, now, engineNow: Date.now, onExtent });
  const close = async () => {
    await committer.close();
    await store.close();
  };
  return { store, committer, run, refresh, close };
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
  fc.constantFrom(0.1, 0.2, 0.3, 1e-7, 5e-324, 3e9, 1e17, -1e17, 1e300, -5.5, null),
);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  agoMs: ago,
  micros: fc.constantFrom(0, 1, 999),
  mine: fc.boolean(),
  time,
  path: fc.constantFrom('/rest/v1', '/auth/v1', '/storage/rest', '/'),
});
// More of them in one bucket than have percentiles of their own.
const many = fc
  .tuple(drawn, fc.array(time, { minLength: 101, maxLength: 130 }))
  .map(([one, times]) => times.map((value) => ({ ...one, time: value })));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      events: fc.array(drawn, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('store' as const), events: many }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('store' as const),
      events: fc.array(drawn, { minLength: 1, maxLength: 3 }),
      fails: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 6,
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
    const source = open.store.registry.getSource(name);
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
    const { engine, registry } = open.store;
    const storeBytesMax = one.reason === 'size' ? 1 : 0;
    await enforceRetention({
      engine,
      sources: () => registry.sources,
      now: () => world.now,
      storeBytesMax,
      onDropped: () => {},
    });
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
  const endpoint = open.store.registry.getEndpoint(name);
  const values = parseParameters(endpoint, { project, interval }, 1_000);
  const key = question.join(' ');
  const all = async () => (await open.run(endpoint, values)).body.toString();
  const expected = await all();
  const answer = await open.refresh(endpoint, { values, kept: kept.get(key) }, {});
  const body = answer.body.toString();
  // An event may become too old to be read between the two.
  if (body !== expected) expect(body).toBe(await all());
  expect(answer).toMatchObject({ rows: JSON.parse(body).result.length, instantMs: world.now });
  kept.set(key, answer);
}

let cases = 0;

test('a refreshed answer equals one computed anew, whatever was stored, in whatever order, and whatever happened', {
  timeout: 120_000,
}, async () => {
  const plan = fc.array(fc.tuple(step, fc.subarray(QUESTIONS, { minLength: 1 })), {
    minLength: 1,
    maxLength: 14,
  });
  await fc.assert(
    fc.asyncProperty(plan, async (steps) => {
      const project = `case-${cases++}-`;
      const kept = new Map<string, Answer>();
      world.now = Date.now();
      for (const question of QUESTIONS) await expectSame(question, project, kept);
      for (const [one, questions] of steps) {
        await take(one, project, kept);
        for (const question of questions) await expectSame(question, project, kept);
      }
    }),
    runs(40),
  );
  const incremental = world.extents.filter((extent) => extent === 'incremental').length;
  expect(incremental).toBeGreaterThan(world.extents.length / 4);
});
