import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TailraceError } from '../errors.ts';
import { makePrivateFile } from '../lib/private-file.ts';
import type { Received } from './receive.ts';

/** Remembers what was answered to requests that carry an Idempotency-Key, across restarts. */
export interface Idempotency {
  /**
   * The answer of the first request with this key, or that of `work`, which is then remembered. A repeat that comes while
   * the first still runs waits for it. What fails is not remembered, so that it can be tried again.
   *
   * @param scope who asks and for what, so that two callers cannot meet in one key
   * @throws TailraceError `invalid_request` when the key came before with another body
   */
  once(request: IdempotentRequest, work: (token: string) => Promise<Received>): Promise<Received>;
  close(): void;
}

export interface IdempotentRequest {
  readonly key: string;
  readonly scope: string;
  readonly bodyHash: string;
}

export interface IdempotencyOptions {
  readonly dataDir: string;
  /** ms since the epoch. */
  readonly now: () => number;
  /** How long an answer is remembered. */
  readonly windowMs: number;
  /** Answers remembered; beyond it the oldest go first. */
  readonly answersMax: number;
}

const KEY_CHARS_MAX = 256;
// Old answers go now and then, not with every request.
const PRUNE_EVERY = 1_000;

/**
 * Two guards together. The answer is kept in SQLite after the events are committed; should the process die between the two,
 * the repeat commits under the same token, and the engine, which keeps the tokens with the data, stores nothing twice.
 */
export function openIdempotency({ dataDir, now, windowMs, answersMax }: IdempotencyOptions): Idempotency {
  const file = join(dataDir, 'idempotency.sqlite');
  makePrivateFile(file);
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS answers (
      token TEXT PRIMARY KEY, body TEXT NOT NULL, answer TEXT NOT NULL, answered_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS answers_by_time ON answers (answered_ms)`);
  const find = database.prepare('SELECT body, answer FROM answers WHERE token = ? AND answered_ms > ?');
  const add = database.prepare(
    'INSERT OR REPLACE INTO answers (token, body, answer, answered_ms) VALUES (?, ?, ?, ?)',
  );
  const prune = database.prepare(`DELETE FROM answers WHERE answered_ms <= ?
    OR token IN (SELECT token FROM answers ORDER BY answered_ms DESC LIMIT -1 OFFSET ?)`);
  const running = new Map<string, { body: string; answer: Promise<Received> }>();
  let added = 0;

  function remember(token: string, body: string, answer: Received): void {
    add.run(token, body, JSON.stringify(answer), now());
    if (++added % PRUNE_EVERY === 0) prune.run(now() - windowMs, answersMax);
  }

  return {
    async once(request, work) {
      if (request.key.length > KEY_CHARS_MAX) {
        throw new TailraceError(
          'invalid_request',
          `Idempotency-Key must have at most ${KEY_CHARS_MAX} characters`,
        );
      }
      const token = hash('sha256', `${request.scope}\0${request.key}`);
      const { bodyHash: body } = request;
      const known = find.get(token, now() - windowMs);
      if (known !== undefined) {
        refuseOtherBody(String(known['body']), body);
        return JSON.parse(String(known['answer'])) as Received; // written by `remember` alone
      }
      const first = running.get(token);
      if (first !== undefined) {
        refuseOtherBody(first.body, body);
        return await first.answer;
      }
      // With the body in it: under a key that comes with another body after the first failed half-way, the engine must not
      // take the other events for those that it has.
      const answer = work(hash('sha256', `${token}\0${body}`));
      running.set(token, { body, answer });
      try {
        remember(token, body, await answer);
        return await answer;
      } finally {
        running.delete(token);
      }
    },
    close: () => database.close(),
  };
}

function refuseOtherBody(known: string, given: string): void {
  if (known === given) return;
  throw new TailraceError(
    'invalid_request',
    'this Idempotency-Key came before with another body; use a new key',
  );
}
