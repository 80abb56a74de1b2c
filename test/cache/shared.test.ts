import { describe, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { withSelect } from '../../src/sandbox/base.ts';
import { SHARED_ENDPOINT, setUpReplicas } from '../support/replica.ts';

const IN_HEX =
  "return (redis.call('GET', KEYS[1]):gsub('.', function (c) return string.format('%02x', string.byte(c)) end))";
const textOf = ({ answer }: { answer: { body: Buffer } }) => answer.body.toString();

describe.skipIf(findProgram('redis-server') === undefined)('replicas over one Redis', () => {
  const { client, open, openTwo } = setUpReplicas();
  const namesOf = (kind: string) => client().keys(`tailrace:2:${kind}:*`);
  const bytesOf = async (name: string) =>
    Buffer.from(String(await client().eval(IN_HEX, { keys: [name] })), 'hex');

  /** An answer that one has shared, its name in Redis, and a replica that has none. */
  async function share() {
    const [a, b] = await openTwo();
    await a.ask({ a: 'x' });
    await a.idle();
    const [name = ''] = await namesOf('answer');
    return { a, b, name, bytes: await bytesOf(name) };
  }

  test('later have the answer of the first, as old as it is, and keep it', async () => {
    const { a, b } = await share();
    b.clock.aheadMs += 7_000;
    const found = await b.ask({ a: 'x' });
    expect(found.answer).toEqual((await a.ask({ a: 'x' })).answer);
    expect([found.outcome, textOf(found), b.queries.length]).toEqual(['shared', 'answer 0 of x', 0]);
    expect((await b.ask({ a: 'x' })).outcome).toBe('hit');
    expect([b.counts.hit, a.counts.miss]).toEqual([1, 1]);
    expect(await namesOf('lease')).toEqual([]);
  });

  test('refresh an answer once: one computes, the other has its answer', async () => {
    const { a, b } = await share();
    await b.ask({ a: 'x' });
    for (const { clock } of [a, b]) clock.aheadMs = 300_000;
    expect(await a.refresh({ a: 'x' })).toBe(true);
    await a.idle();
    expect(await b.refresh({ a: 'x' })).toBe(false);
    expect(textOf(await b.ask({ a: 'x' }))).toBe('answer 1 of x');
    expect(b.counts.taken).toBe(1);
  });

  test('with other values, another definition or another secret never meet', async () => {
    const { b } = await share();
    expect((await b.ask({ a: 'y' })).outcome).toBe('miss');
    for (const other of [
      { endpoint: { ...SHARED_ENDPOINT, hash: 'another hash' } },
      { secret: 'another secret' },
    ]) {
      const replica = await open(other);
      expect((await replica.ask({ a: 'x' })).outcome).toBe('miss');
      expect(replica.counts.rejected).toBe(0);
    }
  });

  test('of an endpoint without caching, in words of the caller, or unstored share nothing', async () => {
    const uncached = { ...SHARED_ENDPOINT, cachingSeconds: undefined, warmingSeconds: undefined };
    const own = withSelect(SHARED_ENDPOINT, { sql: '', names: [] } as never, 'SELECT 1');
    for (const endpoint of [uncached, own, SHARED_ENDPOINT]) {
      const replica = await open({ endpoint });
      await replica.ask(undefined, endpoint === SHARED_ENDPOINT ? { noStore: true, maxAgeSeconds: 0 } : {});
      await replica.idle();
    }
    expect(await client().dbSize()).toBe(0);
  });

  test('leave neither values nor names in Redis in clear', async () => {
    const a = await open();
    await a.ask({ a: 'the-project' });
    await a.idle();
    expect(await client().keys('*')).toEqual([expect.stringMatching(/^tailrace:2:answer:[\w-]{43}$/)]);
  });

  describe('an answer in Redis', () => {
    test('that was changed, cut or made up is not served, is counted and replaced', async () => {
      const { name, bytes } = await share();
      const flip = (at: number) => {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
        return flipped;
      };
      const made = [Buffer.from('nonsense'), Buffer.alloc(5_000_000)];
      for (const spoilt of [flip(3), flip(60), flip(bytes.length - 1), bytes.subarray(0, -1), ...made]) {
        const replica = await open({ isPrompt: false });
        await client().set(name, spoilt);
        const asked = replica.ask({ a: 'x' });
        const query = await replica.query();
        query.answer('true');
        expect(textOf(await asked)).toBe('true');
        await replica.idle();
        expect(replica.counts.rejected).toBeGreaterThan(0);
        expect((await (await open()).ask({ a: 'x' })).outcome).toBe('shared');
      }
    });

    test('in the place of another is not served', async () => {
      const { a, b, name, bytes } = await share();
      await a.ask({ a: 'secret' });
      await a.idle();
      const other = (await namesOf('answer')).find((one) => one !== name) ?? '';
      await client().set(name, await bytesOf(other));
      await client().set(other, bytes);
      expect(textOf(await b.ask({ a: 'x' }))).toBe('answer 0 of x');
      expect(textOf(await b.ask({ a: 'secret' }))).toBe('answer 1 of secret');
      expect(b.counts.rejected).toBeGreaterThan(0);
    });

    test('from a clock that is ahead is not younger than now, and none if it is far ahead', async () => {
      const [a, b] = await openTwo();
      a.clock.aheadMs = 1_500;
      await a.ask({ a: 'x' });
      a.clock.aheadMs = 60_000;
      await a.ask({ a: 'y' });
      await a.idle();
      expect(await b.ask({ a: 'x' })).toMatchObject({ outcome: 'shared', ageSeconds: 0 });
      expect((await b.ask({ a: 'y' })).outcome).toBe('miss');
    });
  });
});
