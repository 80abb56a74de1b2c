import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { transact } from '../../src/keys/sqlite-store.ts';
import { describeSystemFailure, findSqliteFailure, isTransient } from '../../src/lib/system-failure.ts';

/** One that has room for a few rows: SQLite then fails as on a full disk. */
function openSmall(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA page_size = 4096; CREATE TABLE rows (text TEXT); PRAGMA max_page_count = 8');
  return database;
}

test('a transaction that finds the disk full fails with that, not with "cannot rollback", and leaves nothing', () => {
  const database = openSmall();
  const add = database.prepare('INSERT INTO rows VALUES (?)');
  let error: unknown;
  try {
    transact(database, () => ['first', 'x'.repeat(100_000)].map((text) => add.run(text)));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ message: 'database or disk is full' });
  expect([findSqliteFailure(error), describeSystemFailure(error), isTransient(error)]).toEqual([
    'full',
    'the disk is full; make room',
    true,
  ]);
  expect(database.prepare('SELECT count(*) AS rows FROM rows').get()).toEqual({ rows: 0 });
  transact(database, () => add.run('after'));
  expect(database.prepare('SELECT text FROM rows').all()).toEqual([{ text: 'after' }]);
});
