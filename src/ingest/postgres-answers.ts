import { InputError } from '../errors.ts';
import { describeFailure, openPostgres, type Postgres } from '../lib/postgres.ts';
import type { AnswerStore } from './answer-store.ts';

// Apart from those that keys are looked up with, which senders of events must not keep busy.
const CONNECTIONS_MAX = 4;
const RETRY_AFTER_MS = 1_000;
// Ten times as many as come in between, so that a heap of them, as after an outage, goes step by step: all of it at once would
// take longer than a statement may, each time anew, and never go.
const PRUNED_MAX = 10_000;

/** A step a version; one that was released is never changed. */
const MIGRATIONS = [
  `CREATE TABLE tailrace_answers (
    token text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    answer text NOT NULL,
    answered_ms bigint NOT NULL
  );
  CREATE INDEX tailrace_answers_by_time ON tailrace_answers (answered_ms)`,
] as const;

/**
 * In PostgreSQL, for all processes that name it.
 *
 * @throws InputError when it cannot be used, or was written by a newer version
 */
export async function openPostgresAnswers(url: string): Promise<AnswerStore> {
  let postgres: Postgres | undefined;
  try {
    postgres = openPostgres(url, CONNECTIONS_MAX);
    await postgres.migrate('idempotency', MIGRATIONS);
    return createAnswers(postgres);
  } catch (error) {
    await postgres?.close();
    throw new InputError([`TAILRACE_CONTROL_URL: cannot be used: ${describeFailure(error)}`], {
      cause: error,
    });
  }
}

function createAnswers({ query: ask, close }: Postgres): AnswerStore {
  let failedMs = Number.NEGATIVE_INFINITY;

  /** While PostgreSQL is away senders wait for it once a second at most, rather than each for a time-out. */
  const query: Postgres['query'] = async (...args) => {
    if (performance.now() - failedMs < RETRY_AFTER_MS) throw new Error('PostgreSQL failed a moment ago');
    try {
      return await ask(...args);
    } catch (error) {
      failedMs = performance.now();
      throw error;
    }
  };

  return {
    async find(token, sinceMs) {
      const [row] = await query(
        'SELECT body, answer FROM tailrace_answers WHERE token = $1 AND answered_ms > $2',
        [token, sinceMs],
      );
      return row && { body: String(row['body']), answer: String(row['answer']) };
    },
    async add(token, { body, answer }, { nowMs, sinceMs }) {
      await query(
        `INSERT INTO tailrace_answers AS kept (token, body, answer, answered_ms) VALUES ($1, $2, $3, $4)
          ON CONFLICT (token) DO UPDATE
          SET body = excluded.body, answer = excluded.answer, answered_ms = excluded.answered_ms
          WHERE kept.answered_ms <= $5`,
        [token, body, answer, nowMs, sinceMs],
      );
    },
    async prune(sinceMs, answersMax) {
      await query(
        `DELETE FROM tailrace_answers WHERE token IN (
          SELECT token FROM tailrace_answers ORDER BY answered_ms LIMIT least($3, greatest(0,
            (SELECT count(*) FROM tailrace_answers) - $2,
            (SELECT count(*) FROM tailrace_answers WHERE answered_ms <= $1))))`,
        [sinceMs, answersMax, PRUNED_MAX],
      );
    },
    close,
  };
}
