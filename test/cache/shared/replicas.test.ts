import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../../scripts/programs.js';
import { TailraceError } from '../../../src/errors.ts';
import { createQuestion } from '../../../src/query/question.ts';
import { withSelect } from '../../../src/sandbox/base.ts';
import { type FaultyProxy, startFaultyProxy } from '../../../trial/faulty-proxy.ts';
import { startRedis, type TestRedis } from '../../../trial/redis.ts';
import { openReplica, type Replica, type ReplicaOptions, SHARED_ENDPOINT } from '../../support/replica.ts';

const AWAY = new TailraceError('engine_unavailable', 'away', { retryAfterSeconds: 1 });
const IN_HEX =
  "return (redis.call('GET', KEYS[1]):gsub('.', function (c) return string.format('%02x', string.byte(c)) end))";
const textOf = ({ answer }: { answer: { body: Buffer } }) => answer.body.toString();

describe.skipIf(findProgram('redis-server') === undefined)('replicas over one Redis', () => {
  let redis: TestRedis;
  let spoiler: Awaited<ReturnType<TestRedis['client']>>;
  let proxy: FaultyProxy;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    proxy = await startFaultyProxy(redis.port);
  });
  beforeEach(async () => {
    spoiler = await redis.client();
    await spoiler.flushAll();
  });
  afterEach(() => {
    for (const replica of replicas.splice(0)) replica.die();
  });
  afterAll(async () => {
    await proxy.close();
    await redis.remove();
  });

  async function open(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const replica = await openReplica({ redisUrl: redis.url, isPrompt: true, ...options });
    replicas.push(replica);
    return replica;
  }
  const openTwo = (options: Partial<ReplicaOptions> = {}) => Promise.all([open(options), open(options)]);
  const namesOf = (kind: string) => spoiler.keys(`tailrace:1:${kind}:*`);
  async function onlyName(kind: string): Promise<string> {
    const [name = '', ...others] = await namesOf(kind);
    expect(others).toEqual([]);
    return name;
  }
  const bytesOf = async (name: string) =>
    Buffer.from(String(await spoiler.eval(IN_HEX, { keys: [name] })), 'hex');

  /** Has a replica share an answer whose query was so long ago. */
  async function shareAged(seconds: number, options: Partial<ReplicaOptions> = {}): Promise<void> {
    const replica = await open({ ...options, isPrompt: false });
    const asked = replica.ask();
    const query = await replica.query();
    replica.clock.aheadMs += seconds * 1000;
    query.answer();
    await asked;
    await replica.idle();
  }

  describe('asked the same', () => {
    test('a thousand times at once make one query, and all get its answer', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const asked = Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? a : b).ask({ a: 'same' }));
      const holder = await Promise.race([a.query().then(() => a), b.query().then(() => b)]);
      (await holder.query()).answer('the answer');
      const answers = await Promise.all(asked);
      expect(new Set(answers.map(textOf))).toEqual(new Set(['the answer']));
      expect(a.queries.length + b.queries.length).toBe(1);
      const outcomes = answers.map(({ outcome }) => outcome);
      expect(outcomes.filter((one) => one === 'miss')).toHaveLength(1);
      expect(outcomes.filter((one) => one === 'shared')).toHaveLength(1);
      expect(outcomes.filter((one) => one === 'collapsed')).toHaveLength(998);
    });

    test('later have the answer of the first, as old as it is, and keep it', async () => {
      const [a, b] = await openTwo();
      await a.ask({ a: 'x' });
      await a.idle();
      b.clock.aheadMs += 7_000;
      const found = await b.ask({ a: 'x' });
      expect([found.outcome, textOf(found), b.queries.length]).toEqual(['shared', 'answer 0 of x', 0]);
      expect((await b.ask({ a: 'x' })).outcome).toBe('hit');
      expect([b.counts.hit, a.counts.miss]).toEqual([1, 1]);
    });

    test('with other values have other answers', async () => {
      const [a, b] = await openTwo();
      await a.ask({ a: 'x' });
      await a.idle();
      expect((await b.ask({ a: 'y' })).outcome).toBe('miss');
    });

    test('of another definition never meet', async () => {
      const [a, b] = await Promise.all([
        open(),
        open({ endpoint: { ...SHARED_ENDPOINT, hash: 'another hash' } }),
      ]);
      await a.ask();
      await a.idle();
      expect((await b.ask()).outcome).toBe('miss');
    });

    test('with another secret never meet', async () => {
      const [a, b] = await Promise.all([open(), open({ secret: 'another secret' })]);
      await a.ask();
      await a.idle();
      expect((await b.ask()).outcome).toBe('miss');
      expect([a.counts.refused, b.counts.refused]).toEqual([0, 0]);
    });

    test('of an endpoint without caching, or in words of the caller, share nothing', async () => {
      const uncached = { ...SHARED_ENDPOINT, cachingSeconds: undefined, warmingSeconds: undefined };
      const own = withSelect(SHARED_ENDPOINT, { sql: '', names: [] } as never, 'SELECT 1');
      for (const endpoint of [uncached, own]) {
        const replica = await open({ endpoint });
        await replica.ask();
        await replica.idle();
      }
      expect(await spoiler.dbSize()).toBe(0);
    });

    test('leave neither values nor names in Redis in clear', async () => {
      const a = await open();
      await a.ask({ a: 'the-project' });
      await a.idle();
      const names = await spoiler.keys('*');
      expect(names).toHaveLength(1);
      expect(names[0]).toMatch(/^tailrace:1:answer:[\w-]{43}$/);
      expect(Math.abs((await spoiler.pTTL(await onlyName('answer'))) - 900_000)).toBeLessThan(5_000);
    });
  });

  describe('a caller', () => {
    test('who wants an answer of now has one, which the others then find', async () => {
      const [a, b] = await openTwo();
      await a.ask();
      await a.idle();
      b.clock.aheadMs += 1_000;
      const fresh = await b.ask(undefined, { maxAgeSeconds: 0 });
      expect([fresh.outcome, fresh.ageSeconds]).toEqual(['miss', 0]);
      await b.idle();
      const c = await open();
      expect(textOf(await c.ask())).toBe(textOf(fresh));
    });

    test('who wants a kept answer alone has that of another replica, within the age that he takes', async () => {
      const [b, c] = await openTwo();
      const only = { onlyIfCached: true };
      await expect(b.ask(undefined, only)).rejects.toMatchObject({ code: 'not_cached' });
      await shareAged(60);
      expect(await b.ask(undefined, only)).toMatchObject({ outcome: 'shared', ageSeconds: 60 });
      expect((await b.ask(undefined, only)).outcome).toBe('hit');
      const younger = c.ask(undefined, { ...only, maxAgeSeconds: 30 });
      await expect(younger).rejects.toMatchObject({ code: 'not_cached' });
      expect([...b.queries, ...c.queries]).toHaveLength(0);
    });

    test('who wants his answer kept nowhere leaves nothing in Redis either', async () => {
      const a = await open();
      const answer = await a.ask(undefined, { noStore: true, maxAgeSeconds: 0 });
      await a.idle();
      expect([answer.outcome, await spoiler.dbSize()]).toEqual(['bypass', 0]);
    });

    test('who wants an answer of now does not join those who wait for another replica', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const first = a.ask();
      const query = await a.query();
      const waiting = b.ask();
      const fresh = b.ask(undefined, { maxAgeSeconds: 0 });
      (await b.query()).answer('of now');
      expect(textOf(await fresh)).toBe('of now');
      query.answer('for the others');
      await Promise.all([first, waiting]);
      expect(b.queries).toHaveLength(1);
    });

    test('who bounds the age takes a shared answer within it, and no older one', async () => {
      const [b, c] = await openTwo();
      await shareAged(60);
      expect((await b.ask(undefined, { maxAgeSeconds: 120 })).outcome).toBe('shared');
      expect((await c.ask(undefined, { maxAgeSeconds: 30 })).outcome).toBe('miss');
    });

    test('who hangs up while another replica is asked leaves alone', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const first = a.ask();
      const query = await a.query();
      const controller = new AbortController();
      const [left, stays] = [b.ask(undefined, { signal: controller.signal }), b.ask()];
      controller.abort(new Error('hung up'));
      await expect(left).rejects.toThrow('hung up');
      query.answer('for both');
      expect([textOf(await first), textOf(await stays)]).toEqual(['for both', 'for both']);
      expect(b.queries).toHaveLength(0);
    });

    test('waits no longer than a query may take', async () => {
      const [a, b] = await openTwo({ isPrompt: false, queryTimeoutMs: 300 });
      void a.ask().catch(() => {});
      const query = await a.query();
      await expect(b.ask()).rejects.toMatchObject({ code: 'query_timeout' });
      query.answer();
    });

    test('asks for itself in half of its time, though someone renews the lease for ever', async () => {
      const [a, b] = await Promise.all([open({ isPrompt: false }), open({ queryTimeoutMs: 600 })]);
      const asked = a.ask();
      const query = await a.query();
      const lease = await onlyName('lease');
      const renewing = setInterval(() => void spoiler.set(lease, 'somebody', { PX: 3_000 }), 100);
      const { outcome } = await b.ask();
      clearInterval(renewing);
      expect([outcome, b.queries.length]).toEqual(['miss', 1]);
      query.answer();
      await asked;
    });
  });

  describe('a replica that makes an answer', () => {
    test('and fails lets the others try themselves', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const failing = a.ask();
      failing.catch(() => {});
      const query = await a.query();
      const waiting = b.ask();
      query.fail(new Error('failed here'));
      await expect(failing).rejects.toThrow('failed here');
      (await b.query()).answer('made there');
      expect(textOf(await waiting)).toBe('made there');
    });

    test('and dies holds the others up for the time of its lease', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const orphan = a.ask();
      const query = await a.query();
      const waiting = b.ask();
      const startMs = performance.now();
      a.die();
      (await b.query()).answer('made there');
      expect(textOf(await waiting)).toBe('made there');
      expect(performance.now() - startMs).toBeLessThan(9_000); // then its own time would be over
      query.answer();
      await orphan;
    });

    test('and takes longer than its lease keeps it', { tags: 'slow' }, async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const asked = [a.ask(), b.ask()];
      const holder = await Promise.race([a.query().then(() => a), b.query().then(() => b)]);
      await new Promise((resolve) => setTimeout(resolve, 4_000)); // leases end by Redis' own clock
      (await holder.query()).answer('at last');
      expect((await Promise.all(asked)).map(textOf)).toEqual(['at last', 'at last']);
      expect(a.queries.length + b.queries.length).toBe(1);
    });

    test('leaves no lease behind, however it ends', async () => {
      const a = await open({ isPrompt: false });
      const asked = [a.ask({ a: '1' }), a.ask({ a: '2' })];
      (await a.query(0)).answer();
      (await a.query(1)).fail(new Error('no'));
      await Promise.allSettled(asked);
      await a.idle();
      expect(await namesOf('lease')).toEqual([]);
    });
  });

  describe('a lease that none of them holds', () => {
    test.each(['without an end', 'with an end that never comes'])('%s holds nobody up', async (kind) => {
      const [a, b] = await openTwo();
      await a.ask();
      await a.idle();
      const lease = (await onlyName('answer')).replace('answer', 'lease');
      await spoiler.flushAll();
      await spoiler.set(lease, 'mine');
      if (kind !== 'without an end') await spoiler.pExpire(lease, 10_000_000);
      const startMs = performance.now();
      expect((await b.ask()).outcome).toBe('miss');
      expect(performance.now() - startMs).toBeLessThan(5_000);
      await b.idle();
      expect(await spoiler.exists(lease)).toBe(0);
    });
  });

  describe('refreshes', () => {
    test('are one for each interval in total, and all replicas have their answers', async () => {
      const redisClock = { aheadMs: 0 };
      const all = [await open({ redisClock }), await open({ redisClock }), await open({ redisClock })];
      for (const replica of all) await replica.ask();
      for (const replica of all) await replica.idle();
      const before = all.reduce((sum, { queries }) => sum + queries.length, 0);
      for (let interval = 0; interval < 6; interval++) {
        // Those that were held off look again.
        for (const seconds of [300, 1, 1]) {
          redisClock.aheadMs += seconds * 1000;
          await Promise.all(all.map((replica) => replica.pass(seconds)));
        }
        for (const replica of all) {
          const { outcome, ageSeconds } = await replica.ask();
          expect([outcome, ageSeconds < 60]).toEqual(['hit', true]);
        }
      }
      expect(all.reduce((sum, { queries }) => sum + queries.length, 0) - before).toBe(6);
      expect(all.reduce((sum, { counts }) => sum + counts.refreshed, 0)).toBe(6);
      expect(all.reduce((sum, { counts }) => sum + counts.taken, 0)).toBe(12);
    });

    test('are one in total also where the clocks differ by seconds', async () => {
      const redisClock = { aheadMs: 0 };
      const all: Replica[] = [];
      for (const aheadMs of [0, 4_000, -4_000]) all.push(await open({ aheadMs, redisClock }));
      for (const replica of all) await replica.ask();
      for (const replica of all) await replica.idle();
      const queries = () => all.reduce((sum, replica) => sum + replica.queries.length, 0);
      expect(queries()).toBe(1);
      for (let interval = 0; interval < 5; interval++)
        for (const seconds of [300, 1, 1]) {
          for (const replica of all) await replica.ask(); // or they would not be kept warm
          redisClock.aheadMs += seconds * 1000;
          await Promise.all(all.map((replica) => replica.pass(seconds)));
        }
      expect(queries()).toBe(6);
    });

    test('does not wait for a caller who waits for the same replica to make it', async () => {
      const a = await open({ isPrompt: true, queryTimeoutMs: 3_000 });
      await a.ask();
      await a.idle();
      a.clock.aheadMs += 3_600_000; // past its time, so that the caller has to ask, too
      await spoiler.flushAll();
      const [[key, entry] = []] = [...a.store.entries()];
      if (key === undefined || entry === undefined) throw new Error('nothing is kept');
      const refreshing = a.cached.refresh(entry); // takes the lease first
      const { answer } = await a.ask();
      expect(answer.instantMs).toBeGreaterThan(entry.answer.instantMs);
      await refreshing;
      await a.idle();
      expect((await a.shared.probe(key))?.holder).toBe('');
    });

    test('that fail leave the good answer, and others may try', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const asked = a.ask();
      (await a.query()).answer('good');
      await asked;
      await a.idle();
      expect((await b.ask()).outcome).toBe('shared');
      const passing = a.pass(301);
      (await a.query(1)).fail(AWAY);
      await passing;
      expect([textOf(await a.ask()), a.counts.failedRefreshes]).toEqual(['good', 1]);
      const trying = b.pass(301);
      (await b.query()).answer('better');
      await trying;
      expect(textOf(await b.ask())).toBe('better');
    });

    test('that are overdue are made behind the back of a caller, by one of them', async () => {
      const redisClock = { aheadMs: 0 };
      const [a, b] = await openTwo({ redisClock });
      await a.ask();
      await a.idle();
      await b.ask();
      for (const clock of [a.clock, b.clock, redisClock]) clock.aheadMs += 600_000;
      await Promise.all([a.ask(), b.ask()]);
      await vi.waitFor(() => expect(a.queries.length + b.queries.length).toBe(2), 10_000);
      await Promise.all([a.idle(), b.idle()]);
      redisClock.aheadMs += 2_000;
      for (const replica of [a, b]) await replica.pass(2);
      expect(a.queries.length + b.queries.length).toBe(2);
    });
  });

  describe('clocks that differ', () => {
    test.each([-5_000, -50, 50, 5_000])('by %i ms make no answer younger than it is', async (aheadMs) => {
      const [a, b] = [await open(), await open({ aheadMs })];
      const query = a.ask();
      await query;
      await a.idle();
      const { answer, outcome } = await b.ask();
      expect(outcome).toBe('shared');
      const ageMs = b.now() - answer.instantMs;
      expect(ageMs).toBeGreaterThanOrEqual(0);
      expect(ageMs).toBeLessThan(4_000);
    });
  });

  describe('an answer in Redis', () => {
    /** An answer of `a`, and a replica that has none. */
    async function share() {
      const [a, b] = await openTwo();
      await a.ask({ a: 'x' });
      await a.idle();
      const name = await onlyName('answer');
      return { a, b, name, bytes: await bytesOf(name) };
    }

    test('that was changed, cut or made up is not served, is deleted and counted', async () => {
      const { name, bytes } = await share();
      const last = Buffer.from(bytes);
      last.writeUInt8(last.readUInt8(60) ^ 1, 60);
      for (const spoilt of [last, bytes.subarray(0, -1), Buffer.from('nonsense'), Buffer.alloc(5_000_000)]) {
        const replica = await open({ isPrompt: false });
        await spoiler.set(name, spoilt);
        const asked = replica.ask({ a: 'x' });
        const query = await replica.query();
        expect(await spoiler.exists(name)).toBe(0);
        query.answer('true');
        expect(textOf(await asked)).toBe('true');
        await replica.idle();
        expect(replica.counts.refused).toBe(1);
      }
    });

    test('that is no text at all makes room', async () => {
      const { b, name } = await share();
      await spoiler.del(name);
      await spoiler.rPush(name, 'list');
      expect((await b.ask({ a: 'x' })).outcome).toBe('miss');
      await b.idle();
      expect(await spoiler.type(name)).toBe('string');
    });

    test('in the place of another is not served', async () => {
      const { a, b, name, bytes } = await share();
      await a.ask({ a: 'secret' });
      await a.idle();
      const other = (await namesOf('answer')).find((one) => one !== name) ?? '';
      await spoiler.set(name, await bytesOf(other));
      await spoiler.set(other, bytes);
      expect(textOf(await b.ask({ a: 'x' }))).toBe('answer 0 of x');
      expect(textOf(await b.ask({ a: 'secret' }))).toBe('answer 1 of secret');
      expect(b.counts.refused).toBe(2);
    });

    test('that was replaced by an older one does not replace a later one, and makes way for the next', async () => {
      const { a, b, name, bytes } = await share();
      const key = createQuestion(SHARED_ENDPOINT, { a: 'x' }).key;
      const refresh = async (replica: Replica) => {
        const entry = replica.store.get(key);
        if (entry === undefined) throw new Error('is not kept');
        const isOurs = await replica.cached.refresh(entry);
        await replica.idle();
        return isOurs;
      };
      await b.ask({ a: 'x' });
      await new Promise((resolve) => setTimeout(resolve, 20)); // answers a moment apart, by Redis' clock
      expect(await refresh(a)).toBe(true);
      await spoiler.set(name, bytes);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect([await refresh(a), textOf(await a.ask({ a: 'x' }))]).toEqual([true, 'answer 2 of x']);
      expect([await refresh(b), textOf(await b.ask({ a: 'x' }))]).toEqual([false, 'answer 2 of x']);
    });

    test('from a time that is yet to come is not served, and makes way', async () => {
      const { b, name, bytes } = await share();
      await spoiler.set(name, Buffer.concat([Buffer.from('1999999999999999'), bytes.subarray(16)]));
      expect((await b.ask({ a: 'x' })).outcome).toBe('miss');
      await b.idle();
      expect((await bytesOf(name)).toString('latin1', 0, 16)).not.toBe('1999999999999999');
    });

    test('that seems to be from then does not keep a real one out', async () => {
      const { b, name, bytes } = await share();
      await spoiler.set(name, '1999999999999999');
      await b.ask({ a: 'x' }, { maxAgeSeconds: 0 }); // does not look at what is there
      await b.idle();
      expect((await bytesOf(name)).length).toBeGreaterThanOrEqual(bytes.length);
    });

    test('is served past its time while the engine is away, by a replica that has none itself', async () => {
      const options = { staleIfErrorSeconds: 3_600 };
      await shareAged(1_000, options);
      const b = await open({ ...options, isPrompt: false });
      const late = b.ask();
      (await b.query()).fail(AWAY);
      expect(await late).toMatchObject({ outcome: 'stale', ageSeconds: 1_000 });
    });
  });

  describe('without Redis', () => {
    test('each has its own cache, and none fails', async () => {
      const [a, b] = await openTwo();
      await redis.kill();
      await vi.waitFor(() => expect([a.redis.isUp, b.redis.isUp]).toEqual([false, false]), {
        timeout: 15_000,
      });
      expect((await a.ask()).outcome).toBe('miss');
      expect((await b.ask()).outcome).toBe('miss');
      expect((await b.ask()).outcome).toBe('hit');
      await a.pass(301);
      expect(a.counts.refreshed).toBe(1);
      await redis.start();
      await vi.waitFor(() => expect([a.redis.isUp, b.redis.isUp]).toEqual([true, true]), { timeout: 30_000 });
      await a.ask({ a: 'again' });
      await a.idle();
      expect((await b.ask({ a: 'again' })).outcome).toBe('shared');
    });

    test('that goes while one waits for another, both are answered', async () => {
      const [a, b] = await openTwo({ isPrompt: false });
      const first = a.ask();
      const query = await a.query();
      const waiting = b.ask();
      await redis.kill();
      (await b.query()).answer('made there');
      query.answer('made here');
      expect([textOf(await first), textOf(await waiting)]).toEqual(['made here', 'made there']);
      await redis.start();
    });

    test('that swallows everything costs a little once, and nothing after', async () => {
      const a = await open({ redisUrl: proxy.url.replace('http:', 'redis:'), redisDeadlineMs: 250 });
      proxy.fault = { kind: 'silent' };
      const startMs = performance.now();
      await Promise.all(Array.from({ length: 100 }, (_, i) => a.ask({ a: String(i) })));
      expect(performance.now() - startMs).toBeLessThan(5_000);
      const afterMs = performance.now();
      for (let i = 100; i < 200; i++) expect((await a.ask({ a: String(i) })).outcome).toBe('miss');
      expect(performance.now() - afterMs).toBeLessThan(5_000); // a deadline for each would be 25 s
      proxy.fault = { kind: 'none' };
    });
  });
});
