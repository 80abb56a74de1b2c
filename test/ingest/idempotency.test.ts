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
async function openOn(place: Place, { answersMax = 100_000 } = {}) {
  const clock = { now: 1_000_000 };
  const failures: unknown[] = [];
  const openAgain = async (): Promise<Idempotency> => {
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
  return {
    idempotency: await openAgain(),
    openAgain,
    clock,
    tokens,
    work,
    failures,
    countRemembered: place.count,
  };
}

/** What it does, wherever answers are kept. */
function idempotencyContract(makePlace: () => Promise<Place>): void {
  const open = async (options = {}) => await openOn(await makePlace(), options);

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
    await idempotency.close();
    expect(await (await openAgain()).once(requestOf('k'), work)).toEqual(first);
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
    await expect(idempotency.once(requestOf('k'.repeat(257)), work)).rejects.toThrow(
      'at most 256 characters',
    );
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
      expect(await countRemembered()).toBe(999);
      await fill(idempotency, 999, 1);
      expect(await countRemembered()).toBe(1);
    });

    test('takes the oldest beyond the bound', async () => {
      const { idempotency, clock, countRemembered, work, tokens } = await open({ answersMax: 10 });
      await fill(idempotency, 0, 500);
      clock.now += 1;
      await fill(idempotency, 500, 500);
      expect(await countRemembered()).toBe(10);
      await idempotency.once(requestOf('k0'), work);
      expect(tokens).toHaveLength(1);
    });
  });

  describe('two processes', () => {
    test('give one answer, and refuse another body under its key', async () => {
      const { idempotency, openAgain, work, tokens } = await open();
      const other = await openAgain();
      const first = await idempotency.once(requestOf('k', 'one'), work);
      expect(await other.once(requestOf('k', 'one'), work)).toEqual(first);
      await expect(other.once(requestOf('k', 'two'), work)).rejects.toThrow('another body');
      expect(tokens).toHaveLength(1);
    });

    test('that do the same at the same time do it under one token, and the first answer is kept', async () => {
      const { idempotency, openAgain, work, tokens } = await open();
      const other = await openAgain();
      const gate = Promise.withResolvers<Received>();
      const slow = (token: string) => {
        tokens.push(token);
        return gate.promise;
      };
      const late = other.once(requestOf('k'), slow);
      const first = await idempotency.once(requestOf('k'), work);
      gate.resolve(answerOf(9));
      await late;
      expect(new Set(tokens).size).toBe(1);
      expect(await other.once(requestOf('k'), work)).toEqual(first);
    });
  });

  test('a repeat is not taken for another body while one that is, is about to be refused', async () => {
    const { idempotency, work } = await open();
    const first = await idempotency.once(requestOf('k', 'one'), work);
    const wrong = idempotency.once(requestOf('k', 'two'), work);
    const repeat = idempotency.once(requestOf('k', 'one'), work);
    await expect(wrong).rejects.toThrow('another body');
    expect(await repeat).toEqual(first);
  });
}

describe('in the data directory', () => idempotencyContract(inFolder));

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());

  idempotencyContract(inPostgres);

  test('a heap of old answers goes step by step, the oldest first, however large it is', async () => {
    const url = await postgres.createDatabase();
    const answers = await openPostgresAnswers(url);
    opened.push(answers.close);
    const made = `SELECT i::text, 'body', '{}', i FROM generate_series(1, 25000) AS i`;
    await postgres.run(url, `INSERT INTO tailrace_answers ${made}`);
    for (const [first, count] of [
      [10_001, 15_000],
      [20_001, 5_000],
      [24_001, 1_000],
    ]) {
      await answers.prune(24_000, 3_000);
      const left = 'SELECT min(answered_ms)::int AS first, count(*)::int AS count FROM tailrace_answers';
      expect(await postgres.run(url, left)).toEqual([{ first, count }]);
    }
  });

  test('without it the work is done all the same, under the same token, and each failure is told', async () => {
    const { idempotency, work, tokens, failures } = await openOn(await inPostgres());
    await postgres.kill();
    try {
      for (let i = 1; i <= 2; i++) expect(await idempotency.once(requestOf('k'), work)).toEqual(answerOf(i));
      expect(new Set(tokens).size).toBe(1);
      expect(failures).toHaveLength(4); // looked up and kept, each twice
    } finally {
      await postgres.start();
    }
  });
});
