import { afterEach, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import {
  type AnswerStore,
  createIdempotency,
  type Received,
} from '../../src/ingest/idempotency/idempotency.ts';

const WINDOW_MS = 60_000;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const answerOf = (stored: number): Received => ({ stored, refused: 1, reasons: ['event 2: is no …'] });
const requestOf = (key: string, body = 'body', scope = 'scope') => ({ key, scope, bodyHash: body });

/** Where answers are kept: an empty place, and another process' way to it. */
export interface Place {
  open(): Promise<AnswerStore>;
}

/** With a clock that the test moves and work that counts how often it was done. */
async function openOn(place: Place) {
  const clock = { now: 1_000_000 };
  const openAgain = async () => {
    const idempotency = createIdempotency({
      store: await place.open(),
      now: () => clock.now,
      windowMs: WINDOW_MS,
      answersMax: 100_000,
      onFailure: (error) => expect.unreachable(String(error)),
    });
    opened.push(() => idempotency.close().catch(() => {})); // the test may have closed it
    return idempotency;
  };
  const tokens: string[] = [];
  const work = async (token: string): Promise<Received> => answerOf(tokens.push(token));
  const fail = async (token: string): Promise<Received> => {
    tokens.push(token);
    throw new TailraceError('overloaded', 'full');
  };
  return { idempotency: await openAgain(), openAgain, clock, tokens, work, fail };
}

/** What it does, wherever answers are kept. */
export function idempotencyContract(createPlace: () => Promise<Place>): void {
  const open = async () => await openOn(await createPlace());

  test('a repeat is answered like the first and does nothing, also after a restart', async () => {
    const { idempotency, openAgain, work, tokens } = await open();
    const first = await idempotency.once(requestOf('k'), work);
    expect(await idempotency.once(requestOf('k'), work)).toEqual(first);
    await idempotency.close();
    expect(await (await openAgain()).once(requestOf('k'), work)).toEqual(first);
    expect([first, tokens.length]).toEqual([answerOf(1), 1]);
  });

  test('a repeat that comes while the first runs waits for it; one with another body is rejected', async () => {
    const { idempotency, tokens, work } = await open();
    const gate = Promise.withResolvers<Received>();
    const slow = (token: string) => {
      tokens.push(token);
      return gate.promise;
    };
    const all = Array.from({ length: 10 }, () => idempotency.once(requestOf('k'), slow));
    await expect(idempotency.once(requestOf('k', 'two'), work)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    gate.resolve(answerOf(7));
    expect(await Promise.all(all)).toEqual(Array(10).fill(answerOf(7)));
    expect(tokens).toHaveLength(1);
  });

  test('what failed is tried again under the same token, and another body under its own', async () => {
    const { idempotency, work, fail, tokens } = await open();
    await expect(idempotency.once(requestOf('k', 'one'), fail)).rejects.toThrow('full');
    expect(await idempotency.once(requestOf('k', 'one'), work)).toEqual(answerOf(2));
    expect(new Set(tokens).size).toBe(1);
    await expect(idempotency.once(requestOf('j', 'one'), fail)).rejects.toThrow('full');
    await idempotency.once(requestOf('j', 'two'), work);
    expect(new Set(tokens).size).toBe(3);
  });

  test('two processes do the same under one token, and the first answer is kept', async () => {
    const { idempotency, openAgain, work, tokens } = await open();
    const other = await openAgain();
    const gate = Promise.withResolvers<Received>();
    const late = other.once(requestOf('k'), (token) => {
      tokens.push(token);
      return gate.promise;
    });
    const first = await idempotency.once(requestOf('k'), work);
    gate.resolve(answerOf(9));
    await late;
    expect(new Set(tokens).size).toBe(1);
    expect(await other.once(requestOf('k'), work)).toEqual(first);
    await expect(other.once(requestOf('k', 'two'), work)).rejects.toThrow('another body');
  });
}
