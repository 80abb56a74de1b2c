import { openPostgres, type Postgres } from '../../lib/postgres.ts';
import type { AnswerStore } from './idempotency.ts';

// A separate pool: senders of events must not keep busy the connections that read keys.
const CONNECTIONS_MAX = 4;
const RETRY_AFTER_MS = 1_000;
// Delete in batches, each ten times what is added in between: one DELETE of a backlog, as after an outage, would exceed the
// statement timeout every time and never succeed.
const PRUNED_MAX = 10_000;

/** One step for each version; a released step is never changed. */
const MIGRATIONS = [
  `CREATE TABLE tailrace_answers (
    token text COLLATE "C" PRIMARY KEY,
    body text NOT NULL,
    answer text NOT NULL,
    answered_ms bigint NOT NULL
  );
  CREATE INDEX tailrace_answers_by_time ON tailrace_answers (answered_ms)`,
] as const;

/** Opens the answers in PostgreSQL, shared by all processes that use it. @throws InputError if it cannot be used, or a newer version wrote it; TransientError if it is not up */
export async function openPostgresAnswers(url: string): Promise<AnswerStore> {
  const database = { connectionsMax: CONNECTIONS_MAX, part: 'idempotency', steps: MIGRATIONS };
  return await openPostgres(url, database, createAnswers);
}

function createAnswers({ query: ask, close }: Postgres): AnswerStore {
  let failedMs = Number.NEGATIVE_INFINITY;

  /** While PostgreSQL is unavailable, one request a second waits for the timeout; the others fail at once. */
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
