import { join } from 'node:path';
import { openSqlite } from '../../lib/open-sqlite.ts';
import type { AnswerStore } from './idempotency.ts';

const TABLES = `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS answers (
    token TEXT PRIMARY KEY, body TEXT NOT NULL, answer TEXT NOT NULL, answered_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS answers_by_time ON answers (answered_ms)`;

/** Answers in the data directory. Synchronous: each promise is settled when it is returned. @throws InputError if the file cannot be opened, TransientError if that may pass */
export function openSqliteAnswers(dataDir: string): AnswerStore {
  const file = join(dataDir, 'idempotency.sqlite');
  const database = openSqlite(file, 'the answers to Idempotency-Keys', (opened) => opened.exec(TABLES));
  const find = database.prepare('SELECT body, answer FROM answers WHERE token = ? AND answered_ms > ?');
  const add = database.prepare(
    `INSERT INTO answers (token, body, answer, answered_ms) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (token) DO UPDATE SET body = ?2, answer = ?3, answered_ms = ?4 WHERE answered_ms <= ?5`,
  );
  const prune = database.prepare(`DELETE FROM answers WHERE answered_ms <= ?
    OR token IN (SELECT token FROM answers ORDER BY answered_ms DESC LIMIT -1 OFFSET ?)`);
  return {
    async find(token, sinceMs) {
      const row = find.get(token, sinceMs);
      return row && { body: String(row['body']), answer: String(row['answer']) };
    },
    add: async (token, { body, answer }, { nowMs, sinceMs }) =>
      void add.run(token, body, answer, nowMs, sinceMs),
    prune: async (sinceMs, answersMax) => void prune.run(sinceMs, answersMax),
    close: async () => database.close(),
  };
}
