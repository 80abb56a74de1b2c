import { describe, expect, test } from 'vitest';
import { findProgram } from '../../../scripts/programs.js';
import { withSelect } from '../../../src/sandbox/base.ts';
import { SHARED_ENDPOINT, setUpReplicas } from '../../support/replica.ts';

const IN_HEX =
  "return (redis.call('GET', KEYS[1]):gsub('.', function (c) return string.format('%02x', string.byte(c)) end))";
const textOf = ({ answer }: { answer: { body: Buffer } }) => answer.body.toString();

describe.skipIf(findProgram('redis-server') === undefined)('replicas over one Redis', () => {
  const { client, open, openTwo } = setUpReplicas();
  const namesOf = (kind: string) => client().keys(`tailrace:1:${kind}:*`);
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
    expect([found.outcome, textOf(found), b.queries.length]).toEqual(['shared', 'answer 0 of x', 0]);
    expect((await b.ask({ a: 'x' })).outcome).toBe('hit');
    expect([b.counts.hit, a.counts.miss]).toEqual([1, 1]);
    expect(await namesOf('lease')).toEqual([]);
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
      expect(replica.counts.refused).toBe(0);
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
    expect(await client().keys('*')).toEqual([expect.stringMatching(/^tailrace:1:answer:[\w-]{43}$/)]);
  });

  describe('an answer in Redis', () => {
    test('that was changed, cut or made up is not served, is deleted and counted', async () => {
      const { name, bytes } = await share();
      const last = Buffer.from(bytes);
      last.writeUInt8(last.readUInt8(60) ^ 1, 60);
      for (const spoilt of [last, bytes.subarray(0, -1), Buffer.from('nonsense'), Buffer.alloc(5_000_000)]) {
        const replica = await open({ isPrompt: false });
        await client().set(name, spoilt);
        const asked = replica.ask({ a: 'x' });
        const query = await replica.query();
        expect(await client().exists(name)).toBe(0);
        query.answer('true');
        expect(textOf(await asked)).toBe('true');
        await replica.idle();
        expect(replica.counts.refused).toBe(1);
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
      expect(b.counts.refused).toBe(2);
    });
  });
});
