import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { type Idempotency, openIdempotency } from '../../src/ingest/idempotency.ts';
import type { Received } from '../../src/ingest/receive.ts';
import { temporaryFolder } from '../support/service.ts';

const WINDOW_MS = 60_000;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const answerOf = (stored: number): Received => ({ stored, refused: 1, reasons: ['event 2: is no …'] });
const requestOf = (key: string, body = 'body', scope = 'scope') => ({ key, scope, bodyHash: body });

/** On a folder of its own, with a clock that the test moves and work that counts how often it was done. */
async function open({ answersMax = 100_000 } = {}) {
  const folder = await temporaryFolder();
  opened.push(folder.remove);
  const clock = { now: 1_000_000 };
  const openAgain = (): Idempotency => {
    const idempotency = openIdempotency({
      dataDir: folder.path,
      now: () => clock.now,
      windowMs: WINDOW_MS,
      answersMax,
    });
    opened.push(() => {
      try {
        idempotency.close();
      } catch {} // the test has closed it
    });
    return idempotency;
  };
  const tokens: string[] = [];
  const work = async (token: string): Promise<Received> => answerOf(tokens.push(token));
  const countRemembered = () => {
    const database = new DatabaseSync(join(folder.path, 'idempotency.sqlite'), { readOnly: true });
    const row = database.prepare('SELECT count(*) AS n FROM answers').get();
    database.close();
    return Number(row?.['n']);
  };
  return { idempotency: openAgain(), openAgain, clock, tokens, work, countRemembered };
}

test('a repeat is answered like the first and does nothing', async () => {
  const { idempotency, work, tokens } = await open();
  const first = await idempotency.once(requestOf('k'), work);
  expect(await idempotency.once(requestOf('k'), work)).toEqual(first);
  expect(first).toEqual(answerOf(1));
  expect(tokens).toHaveLength(1);
});

test('a repeat after a restart too', async () => {
  const { idempotency, openAgain, work, tokens } = await open();
  const first = await idempotency.once(requestOf('k'), work);
  idempotency.close();
  expect(await openAgain().once(requestOf('k'), work)).toEqual(first);
  expect(tokens).toHaveLength(1);
});

test('a repeat that comes while the first runs waits for it', async () => {
  const { idempotency, tokens } = await open();
  const gate = Promise.withResolvers<Received>();
  const slow = (token: string) => {
    tokens.push(token);
    return gate.promise;
  };
  const all = Array.from({ length: 10 }, () => idempotency.once(requestOf('k'), slow));
  gate.resolve(answerOf(7));
  expect(await Promise.all(all)).toEqual(Array(10).fill(answerOf(7)));
  expect(tokens).toHaveLength(1);
});

test('other keys, and other callers with the same key, are other requests', async () => {
  const { idempotency, work, tokens } = await open();
  for (const request of [
    requestOf('a'),
    requestOf('b'),
    requestOf('a', 'body', 'other'),
    requestOf('ascope', 'body', ''),
  ])
    await idempotency.once(request, work);
  expect(new Set(tokens).size).toBe(4);
});

describe('another body under a key', () => {
  const refusal = expect.objectContaining({ code: 'invalid_request' }) as TailraceError;

  test('that was answered is refused', async () => {
    const { idempotency, work, tokens } = await open();
    await idempotency.once(requestOf('k', 'one'), work);
    await expect(idempotency.once(requestOf('k', 'two'), work)).rejects.toEqual(refusal);
    expect(tokens).toHaveLength(1);
  });

  test('that is being answered is refused', async () => {
    const { idempotency, work } = await open();
    const gate = Promise.withResolvers<Received>();
    const first = idempotency.once(requestOf('k', 'one'), () => gate.promise);
    await expect(idempotency.once(requestOf('k', 'two'), work)).rejects.toEqual(refusal);
    gate.resolve(answerOf(1));
    await first;
  });

  test('that failed is done, under a token of its own', async () => {
    const { idempotency, work, tokens } = await open();
    const fail = async (token: string) => {
      tokens.push(token);
      throw new TailraceError('overloaded', 'full');
    };
    await expect(idempotency.once(requestOf('k', 'one'), fail)).rejects.toThrow('full');
    await idempotency.once(requestOf('k', 'two'), work);
    expect(new Set(tokens).size).toBe(2);
  });
});

test('what failed is tried again, under the same token', async () => {
  const { idempotency, work, tokens } = await open();
  const fail = async (token: string) => {
    tokens.push(token);
    throw new TailraceError('overloaded', 'full');
  };
  await expect(idempotency.once(requestOf('k'), fail)).rejects.toThrow('full');
  expect(await idempotency.once(requestOf('k'), work)).toEqual(answerOf(2));
  expect(new Set(tokens).size).toBe(1);
});

test('a key is remembered for the window, and may then come with another body', async () => {
  const { idempotency, clock, work, tokens } = await open();
  await idempotency.once(requestOf('k', 'one'), work);
  clock.now += WINDOW_MS - 1;
  await idempotency.once(requestOf('k', 'one'), work);
  expect(tokens).toHaveLength(1);
  clock.now += 1;
  expect(await idempotency.once(requestOf('k', 'two'), work)).toEqual(answerOf(2));
  await expect(idempotency.once(requestOf('k', 'one'), work)).rejects.toThrow('another body');
});

test('a key of 256 characters is taken, a longer one refused', async () => {
  const { idempotency, work } = await open();
  await idempotency.once(requestOf('k'.repeat(256)), work);
  await expect(idempotency.once(requestOf('k'.repeat(257)), work)).rejects.toThrow('at most 256 characters');
});

describe('pruning', () => {
  const fill = async (idempotency: Idempotency, from: number, count: number) => {
    for (let i = from; i < from + count; i++)
      await idempotency.once(requestOf(`k${i}`), async () => answerOf(i));
  };

  test('takes what is past the window', async () => {
    const { idempotency, clock, countRemembered } = await open();
    await fill(idempotency, 0, 999);
    clock.now += WINDOW_MS;
    expect(countRemembered()).toBe(999);
    await fill(idempotency, 999, 1);
    expect(countRemembered()).toBe(1);
  });

  test('takes the oldest beyond the bound', async () => {
    const { idempotency, clock, countRemembered, work, tokens } = await open({ answersMax: 10 });
    await fill(idempotency, 0, 500);
    clock.now += 1;
    await fill(idempotency, 500, 500);
    expect(countRemembered()).toBe(10);
    await idempotency.once(requestOf('k0'), work);
    expect(tokens).toHaveLength(1);
  });
});
