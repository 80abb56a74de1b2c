import { describe, expect, test, vi } from 'vitest';
import { createCached, createWarmer } from '../../src/cache/cached.ts';
import { type CallerOptions, createMemoryStore } from '../../src/cache/store.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { TailraceError } from '../../src/errors.ts';
import { JSON_FORMAT } from '../../src/query/format.ts';
import type { ParameterValues } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import type { Answer, Run } from '../../src/query/run.ts';
import { CACHED } from '../support/cached-endpoint.ts';

/** Cached, and never refreshed. */
const UNWARMED: Endpoint = { ...CACHED, warmingSeconds: undefined };
const UNCACHED: Endpoint = { ...CACHED, cachingSeconds: undefined, warmingSeconds: undefined };

/** One query that the runner was asked for; the test decides when and how it ends. */
interface Asked {
  readonly values: ParameterValues;
  readonly signal: AbortSignal | undefined;
  answer(text?: string): void;
  fail(error: Error): void;
}

function setUp(options: { endpoint?: Endpoint; bytesMax?: number; staleIfErrorSeconds?: number } = {}) {
  const clock = { now: 1_000_000_000_000 };
  const now = () => clock.now;
  const queries: Asked[] = [];
  const run: Run = ({ values }, { signal } = {}) => {
    const instantMs = clock.now; // as the real runner: the instant is taken when the query begins
    return new Promise<Answer>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      const answer = (text = `answer ${queries.length}`) =>
        resolve({ body: Buffer.from(text), rows: 1, format: JSON_FORMAT, instantMs, engineMs: 1, coreMs: 0 });
      queries.push({ values, signal, answer, fail: reject });
    });
  };
  const store = createMemoryStore(options.bytesMax ?? 1_000_000);
  const refreshes: unknown[] = [];
  const cached = createCached({
    ...{ run, store, now, random: () => 0 },
    staleIfErrorSeconds: options.staleIfErrorSeconds ?? 0,
    onRefresh: (_, error) => refreshes.push(error),
  });
  const endpoints: { current: [Endpoint] } = { current: [options.endpoint ?? CACHED] };
  const warmer = createWarmer({ store, cached, endpoints: () => endpoints.current, now });
  async function askFor(endpoint: Endpoint, values: ParameterValues, caller: CallerOptions = {}) {
    const question = createQuestion(endpoint, values);
    return cached.find(question, caller) ?? (await cached.compute(question, caller));
  }
  const ask = (values: ParameterValues = { a: '', b: '' }, signal?: AbortSignal, maxAgeSeconds?: number) =>
    askFor(endpoints.current[0], values, { signal, maxAgeSeconds });
  const askWithin = (maxAgeSeconds: number) => ask(undefined, undefined, maxAgeSeconds);
  const query = (index: number): Asked => {
    const found = queries.at(index);
    if (found === undefined) throw new Error('there was no such query');
    return found;
  };
  /** Asks and lets the query answer. */
  const fill = async (values?: ParameterValues, text?: string) => {
    const asked = ask(values);
    query(-1).answer(text);
    return await asked;
  };
  /** Moves the clock on, a tick of the warmer each second, as the service does. */
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.now += 1000;
      warmer.tick();
    }
  };
  return { clock, queries, query, store, endpoints, refreshes, warmer, ask, askFor, askWithin, fill, pass };
}

describe('an answer', () => {
  test('is served again until it is `caching` seconds old', async () => {
    const t = setUp({ endpoint: UNWARMED });
    expect(await t.fill()).toMatchObject({ outcome: 'miss', ageSeconds: 0 });
    t.clock.now += 899_999;
    expect(await t.ask()).toMatchObject({ outcome: 'hit', ageSeconds: 899 });
    t.clock.now += 1;
    expect(await t.fill()).toMatchObject({ outcome: 'miss', ageSeconds: 0 });
    expect(t.queries).toHaveLength(2);
  });

  test('from before the clock was set back is not served, and the new one lives and stays warm as any', async () => {
    const t = setUp();
    await t.fill();
    t.clock.now -= 86_400_000;
    expect(await t.fill()).toMatchObject({ outcome: 'miss', ageSeconds: 0 });
    expect(await t.ask()).toMatchObject({ outcome: 'hit' });
    t.pass(300);
    expect(t.queries).toHaveLength(3);
  });

  test('of other parameters is another answer, however they are joined', async () => {
    const t = setUp();
    const all = [
      { a: 'x', b: 'y' },
      { a: 'xy', b: '' },
      { a: '', b: 'xy' },
      { a: 'x","y', b: '' },
      { a: 'X', b: 'y' },
    ];
    for (const values of all) expect((await t.fill(values)).outcome).toBe('miss');
    expect(t.store.size).toBe(all.length);
  });

  test('does not depend on what the endpoint does not declare', () => {
    const keyOf = (values: ParameterValues) => createQuestion(CACHED, values).key;
    expect(keyOf({ a: '1', b: '2', junk: '3' })).toBe(keyOf({ b: '2', a: '1' }));
  });

  test('of an endpoint without caching is never kept nor shared', async () => {
    const t = setUp({ endpoint: UNCACHED });
    const asked = [t.ask(), t.ask()];
    expect(t.queries).toHaveLength(2);
    t.query(0).answer('first');
    t.query(1).answer('second');
    const served = await Promise.all(asked);
    expect(served.map(({ outcome, answer }) => [outcome, answer.body.toString()])).toEqual([
      ['bypass', 'first'],
      ['bypass', 'second'],
    ]);
    expect(t.store.size).toBe(0);
  });
});

describe('identical requests at once', () => {
  test('share one query', async () => {
    const t = setUp();
    const asked = Array.from({ length: 1000 }, () => t.ask());
    expect(t.queries).toHaveLength(1);
    t.query(0).answer();
    const outcomes = (await Promise.all(asked)).map((served) => served.outcome);
    expect(outcomes.filter((outcome) => outcome === 'miss')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'collapsed')).toHaveLength(999);
  });

  test('all fail with it; the error is not kept, and the next asks anew', async () => {
    const t = setUp();
    const asked = [t.ask(), t.ask()];
    t.query(0).fail(new Error('no'));
    for (const one of asked) await expect(one).rejects.toThrow('no');
    expect(t.store.size).toBe(0);
    expect((await t.fill()).outcome).toBe('miss');
  });

  test.each([0, 1, 2])('are not cancelled by the hang-up of number %i', async (leaver) => {
    const t = setUp();
    const callers = [0, 1, 2].map(() => new AbortController());
    const asked = callers.map((caller) => t.ask(undefined, caller.signal));
    callers[leaver]?.abort(new Error('hung up'));
    await expect(asked[leaver]).rejects.toThrow('hung up');
    expect(t.query(0).signal?.aborted).toBe(false);
    t.query(0).answer();
    const rest = await Promise.all(asked.filter((_, i) => i !== leaver));
    expect(rest).toHaveLength(2);
    expect(t.store.size).toBe(1);
  });

  test('stop the query when the last has hung up, and a newcomer starts afresh', async () => {
    const t = setUp();
    const callers = [0, 1].map(() => new AbortController());
    const asked = callers.map((caller) => t.ask(undefined, caller.signal).catch(() => 'gone'));
    callers[0]?.abort();
    expect(t.query(0).signal?.aborted).toBe(false);
    callers[1]?.abort();
    expect(await Promise.all(asked)).toEqual(['gone', 'gone']);
    expect(t.query(0).signal?.aborted).toBe(true);
    expect(await t.fill()).toMatchObject({ outcome: 'miss' });
    expect(t.queries).toHaveLength(2);
    expect(t.store.size).toBe(1);
  });
});

describe('a warm answer', () => {
  test('is refreshed every `cache_warming` seconds while it is asked for, and callers always hit', async () => {
    const t = setUp();
    await t.fill(undefined, 'v0');
    for (let i = 1; i <= 5; i++) {
      t.pass(299);
      expect(t.queries).toHaveLength(i);
      t.pass(1);
      expect(t.queries).toHaveLength(i + 1);
      expect(await t.ask()).toMatchObject({ outcome: 'hit', ageSeconds: 300 });
      t.query(-1).answer(`v${i}`);
      await t.warmer.idle();
      const { outcome, answer, ageSeconds } = await t.ask();
      expect([outcome, answer.body.toString(), ageSeconds]).toEqual(['hit', `v${i}`, 0]);
    }
    expect(t.refreshes).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  test('is left alone once nobody asked for `caching` seconds, and refreshes do not count as asking', async () => {
    const t = setUp();
    await t.fill();
    for (let i = 0; i < 10; i++) {
      t.pass(300);
      t.query(-1).answer();
      await t.warmer.idle();
    }
    expect(t.refreshes).toHaveLength(3);
    expect(t.queries).toHaveLength(4);
  });

  test('that fails to refresh stays for the rest of its life, is counted, and is tried again an interval later', async () => {
    const t = setUp();
    await t.fill(undefined, 'good');
    t.pass(300);
    const error = new Error('no');
    t.query(-1).fail(error);
    await t.warmer.idle();
    expect(t.refreshes).toEqual([error]);
    expect(await t.ask()).toMatchObject({ outcome: 'hit', ageSeconds: 300 });
    t.pass(299);
    expect(t.queries).toHaveLength(2);
    t.pass(1);
    expect(t.queries).toHaveLength(3);
    t.query(-1).fail(error);
    await t.warmer.idle();
    t.clock.now += 299_999;
    expect((await t.ask()).answer.body.toString()).toBe('good');
    t.clock.now += 1;
    expect((await t.fill()).outcome).toBe('miss');
  });

  test('is refreshed after another one', async () => {
    const t = setUp();
    for (const a of ['1', '2', '3']) await t.fill({ a, b: '' });
    t.pass(300);
    for (const length of [4, 5, 6]) {
      expect(t.queries).toHaveLength(length);
      t.query(-1).answer();
      await t.warmer.idle();
      t.pass(1);
    }
    expect(new Set(t.queries.slice(3).map((query) => query.values['a']))).toEqual(new Set(['1', '2', '3']));
  });

  test.each([
    ['changed', { ...CACHED, hash: 'other' }],
    ['gone', { ...CACHED, id: '00000000-0000-4000-8000-000000000000' }],
  ])('of a definition that has %s cannot be asked for, and leaves', async (_, next) => {
    const t = setUp();
    await t.fill();
    t.endpoints.current = [next];
    expect((await t.fill()).outcome).toBe('miss');
    expect(t.store.size).toBe(2);
    t.warmer.tick();
    expect(t.store.size).toBe(1);
    expect((await t.ask()).outcome).toBe('hit');
  });

  test("to a caller's SELECT, whose endpoint is not served by itself, stays while definitions do", async () => {
    const t = setUp();
    const select: Endpoint = { ...CACHED, hash: 'select', sqlOrigin: 'select' };
    const asked = t.askFor(select, {});
    t.query(-1).answer();
    await asked;
    t.pass(2);
    expect(t.store.size).toBe(1);
    expect((await t.askFor(select, {})).outcome).toBe('hit');
  });
});

describe('a caller that bounds the age', () => {
  test('gets what is kept where that is young enough, else an answer of now, which is kept', async () => {
    const t = setUp({ endpoint: UNWARMED });
    await t.fill(undefined, 'old');
    t.clock.now += 60_000;
    expect(await t.askWithin(61)).toMatchObject({ outcome: 'hit', ageSeconds: 60 });
    const fresh = t.askWithin(60);
    t.query(-1).answer('new');
    expect(await fresh).toMatchObject({ outcome: 'miss', ageSeconds: 0 });
    expect((await t.ask()).answer.body.toString()).toBe('new');
  });

  test('to nothing at all gets a query each time, shared with those who ask at the same time', async () => {
    const t = setUp();
    await t.fill();
    const both = [t.askWithin(0), t.askWithin(0)];
    t.query(-1).answer();
    expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(['miss', 'collapsed']);
    expect(t.queries).toHaveLength(2);
  });
});

test('an answer whose refresh is overdue is served at once and refreshed once, however many ask', async () => {
  const t = setUp();
  await t.fill(undefined, 'old');
  t.clock.now += 300_000; // no tick of the warmer meanwhile
  for (let i = 0; i < 3; i++)
    expect(await t.ask()).toMatchObject({ outcome: 'hit', answer: { body: Buffer.from('old') } });
  expect(t.queries).toHaveLength(2);
  t.query(-1).answer('new');
  await vi.waitFor(async () => expect((await t.ask()).answer.body.toString()).toBe('new'));
  expect(t.queries).toHaveLength(2);
});

describe('an answer past its time', () => {
  const away = new TailraceError('engine_unavailable', 'away');
  type SetUp = ReturnType<typeof setUp>;

  /** Expects that a question whose query fails is rejected with that error. */
  async function expectFailure(t: SetUp, error: Error, ask: () => Promise<unknown> = t.ask) {
    const asked = ask();
    t.query(-1).fail(error);
    await expect(asked).rejects.toBe(error);
  }

  test('is served, marked, as long as the engine is away and the settings allow', async () => {
    const t = setUp({ endpoint: UNWARMED, staleIfErrorSeconds: 60 });
    await t.fill(undefined, 'old');
    t.clock.now += 959_999;
    const asked = t.ask();
    t.query(-1).fail(away);
    const answer = { body: Buffer.from('old') };
    expect(await asked).toMatchObject({ outcome: 'stale', ageSeconds: 959, answer });
    t.clock.now += 1;
    await expectFailure(t, away);
  });

  test('is not served for failures of the query itself, nor to whoever bounds the age, nor by default', async () => {
    const t = setUp({ endpoint: UNWARMED, staleIfErrorSeconds: 60 });
    await t.fill();
    t.clock.now += 900_000;
    await expectFailure(t, new TailraceError('query_failed', 'no'));
    await expectFailure(t, away, () => t.askWithin(5));
    const plain = setUp({ endpoint: UNWARMED });
    await plain.fill();
    plain.clock.now += 900_000;
    await expectFailure(plain, away);
  });
});

test('the store lets the answers least recently used go beyond its bytes', async () => {
  const t = setUp({ bytesMax: 10_000 });
  const body = 'x'.repeat(1_000); // counted with its compressed forms
  await t.fill({ a: '1', b: '' }, body);
  await t.fill({ a: '2', b: '' }, body);
  await t.ask({ a: '1', b: '' });
  await t.fill({ a: '3', b: '' }, body);
  expect(t.store.calculatedSize).toBeLessThanOrEqual(10_000);
  expect((await t.ask({ a: '1', b: '' })).outcome).toBe('hit');
  expect((await t.ask({ a: '3', b: '' })).outcome).toBe('hit');
  expect((await t.fill({ a: '2', b: '' })).outcome).toBe('miss');
});
