import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import {
  type AnswerStore,
  createIdempotency,
  type Idempotency,
  type Received,
} from '../../src/ingest/idempotency/idempotency.ts';
import { openPostgresAnswers } from '../../src/ingest/idempotency/postgres-answers.ts';
import { openSqliteAnswers } from '../../src/ingest/idempotency/sqlite-answers.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../trial/postgres.ts';
import { temporaryFolder } from '../support/service.ts';

const WINDOW_MS = 60_000;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const answerOf = (stored: number): Received => ({ stored, refused: 1, reasons: ['event 2: is no …'] });
const requestOf = (key: string, body = 'body', scope = 'scope') => ({ key, scope, bodyHash: body });

/** Where answers are kept: an empty place, another process' way to it, and how many are there. */
interface Place {
  open(): Promise<AnswerStore>;
  count(): Promise<number>;
}

async function inFolder(): Promise<Place> {
  const folder = await temporaryFolder();
  opened.push(folder.remove);
  return {
    open: async () => openSqliteAnswers(folder.path),
    async count() {
      const database = new DatabaseSync(join(folder.path, 'idempotency.sqlite'), { readOnly: true });
      const row = database.prepare('SELECT count(*) AS n FROM answers').get();
      database.close();
      return Number(row?.['n']);
    },
  };
}

let postgres: TestPostgres;

async function inPostgres(): Promise<Place> {
  const url = await postgres.createDatabase();
  return {
    open: () => openPostgresAnswers(url),
    async count() {
      const [row] = await postgres.run(url, 'SELECT count(*) AS n FROM tailrace_answers');
      return Number(row?.['n']);
    },
  };
}

/** With a clock that the test moves and work that counts how often it was done. */
async function openOn(place: Pick<Place, 'open'>, { answersMax = 100_000 } = {}) {
  const clock = { now: 1_000_000 };
  const failures: unknown[] = [];
  const openAgain = async () => {
    const idempotency = createIdempotency({
      store: await place.open(),
      now: () => clock.now,
      windowMs: WINDOW_MS,
      answersMax,
      onFailure: (error) => failures.push(error),
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
  return { idempotency: await openAgain(), openAgain, clock, tokens, work, fail, failures };
}

/** What it does, wherever answers are kept. */
function idempotencyContract(createPlace: () => Promise<Place>): void {
  const open = async (options = {}) => await openOn(await createPlace(), options);

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

  test('other keys, and other callers with the same key, are other requests', async () => {
    const { idempotency, work, tokens } = await open();
    const requests = [requestOf('a'), requestOf('b'), requestOf('a', 'body', 'other')];
    for (const request of [...requests, requestOf('ascope', 'body', '')])
      await idempotency.once(request, work);
    expect(new Set(tokens).size).toBe(4);
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

  describe('of every thousand requests, one deletes', () => {
    const fill = async (idempotency: Idempotency, from: number, count: number) => {
      for (let i = from; i < from + count; i++)
        await idempotency.once(requestOf(`k${i}`), async () => answerOf(i));
    };

    test('what is past the window', async () => {
      const place = await createPlace();
      const { idempotency, clock } = await openOn(place);
      await fill(idempotency, 0, 999);
      clock.now += WINDOW_MS;
      await fill(idempotency, 999, 1);
      expect(await place.count()).toBe(1);
    });

    test('the oldest beyond the bound', async () => {
      const place = await createPlace();
      const { idempotency, clock, work, tokens } = await openOn(place, { answersMax: 10 });
      await fill(idempotency, 0, 500);
      clock.now += 1;
      await fill(idempotency, 500, 500);
      expect(await place.count()).toBe(10);
      await idempotency.once(requestOf('k0'), work);
      expect(tokens).toHaveLength(1);
    });
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

describe('in the data directory', () => idempotencyContract(inFolder));

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());
  idempotencyContract(inPostgres);
});

test('a key longer than 256 characters is rejected', async () => {
  const { idempotency, work } = await openOn(await inFolder());
  await idempotency.once(requestOf('k'.repeat(256)), work);
  await expect(idempotency.once(requestOf('k'.repeat(257)), work)).rejects.toThrow('at most 256 characters');
});

test('without its store the work is done under the same token, and each failure is reported', async () => {
  const fail = () => Promise.reject(new Error('unavailable'));
  const store: AnswerStore = { find: fail, add: fail, prune: fail, close: async () => {} };
  const { idempotency, work, tokens, failures } = await openOn({ open: async () => store });
  for (let i = 1; i <= 2; i++) expect(await idempotency.once(requestOf('k'), work)).toEqual(answerOf(i));
  expect(new Set(tokens).size).toBe(1);
  expect(failures).toHaveLength(4); // looked up and kept, each twice
});
