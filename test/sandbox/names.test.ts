import { describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { trusted } from '../../src/sql/sql.ts';
import { LATER_TABLES } from './attacks.ts';
import { ESCAPES } from './escapes.ts';
import { LEGITIMATE } from './legitimate.ts';
import { CANARY, openSandbox } from './support.ts';

// Views with the names of tables: app_logs has 30 entries of project p, of 76 in the table; secret_logs has none, of 1.
const { core, check, ask, tryAsk, canaryFile } = await openSandbox({}, 'sandbox.named');

const rename = (sql: string) =>
  sql.replaceAll(/\bapp\b/g, 'app_logs').replaceAll(/\berrors\b/g, 'secret_logs');

describe('a view with the name of a table', () => {
  test('is what a caller reads, wherever the name stands', async () => {
    for (const [sql, n] of [
      ['SELECT count() AS n FROM app_logs', 30],
      ['SELECT count() AS n FROM secret_logs', 0],
      ['SELECT count() AS n FROM app_logs AS a JOIN app_logs AS b ON a.id = b.id', 30],
      ['SELECT count() AS n FROM (SELECT id FROM app_logs UNION ALL SELECT id FROM app_logs)', 60],
      ['SELECT (SELECT count() FROM app_logs) + (SELECT count() FROM secret_logs) AS n', 30],
      ['WITH x AS (SELECT id FROM app_logs) SELECT count() AS n FROM x, secret_logs', 0],
      ['SELECT max(arrayMap(x -> (SELECT count() FROM app_logs), [1])[1]) AS n FROM app_logs', 30],
      ['SELECT count() AS app_logs, app_logs AS n FROM app_logs', 30],
    ] as const)
      expect([sql, (await ask(sql))[0]?.['n']]).toEqual([sql, n]);
  });

  test.each([
    'WITH app_logs AS (SELECT * FROM app_logs) SELECT * FROM app_logs',
    'WITH secret_logs AS (SELECT 1 AS id) SELECT * FROM secret_logs',
    'SELECT * FROM (WITH app_logs AS (SELECT id FROM secret_logs) SELECT id FROM app_logs)',
    'SELECT * FROM app_logs AS secret_logs, secret_logs',
    'SELECT * FROM tailrace.secret_logs AS secret_logs',
    'SELECT id FROM app_logs WHERE id IN app_logs',
    'SELECT count() AS secret_logs FROM app_logs WHERE id IN secret_logs',
  ])('is not replaced or passed by: %s', async (sql) => {
    await expect(check(sql)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('is all that escapes and legitimate SELECTs read', async () => {
    const escapes = Object.values(ESCAPES).flat();
    let answered = 0;
    for (const sql of [...escapes.map((text) => text.replaceAll('@file@', canaryFile)), ...LEGITIMATE]) {
      const answer = await tryAsk(rename(sql));
      const isRejected = answer instanceof TailraceError;
      expect(isRejected ? answer.message : JSON.stringify(answer)).not.toContain(CANARY);
      if (!isRejected) answered++;
    }
    expect(answered).toBeGreaterThanOrEqual(LEGITIMATE.length);
  });
});

const OVER_LATER = [
  'WITH later AS (SELECT id FROM app_logs) SELECT id FROM (SELECT id FROM later) WHERE id IN (SELECT id FROM later)',
  'WITH later AS (SELECT id FROM app_logs), b AS (SELECT id FROM later) SELECT b.id, (SELECT max(id) FROM later) AS m FROM b JOIN later ON b.id = later.id',
  'WITH later AS (SELECT id FROM app_logs) SELECT id FROM later UNION ALL SELECT id FROM later',
  'SELECT * FROM (WITH later AS (SELECT id FROM app_logs) SELECT arrayMap(x -> (SELECT max(id) FROM later), [1]) AS m FROM later)',
  'WITH a AS (WITH later AS (SELECT id FROM app_logs) SELECT id FROM later) SELECT id FROM a',
];

/** Creates a table as another process on the same server may, at any moment. */
async function createTable(name: string): Promise<void> {
  await core.engine.command(trusted(`CREATE TABLE ${name} (id String) ENGINE = MergeTree ORDER BY id`));
  const bytes = Buffer.from(`${CANARY}\n`);
  await core.engine.insert({ table: name, columns: ['id'], format: 'TabSeparated', bytes });
}

test('a table that is created after a text was checked is never read by it', async () => {
  const before: unknown[] = [];
  for (const sql of OVER_LATER) before.push(await ask(sql));
  await createTable('later');
  for (const [i, sql] of OVER_LATER.entries()) {
    // Cached since before; then newly checked, by another spelling of the same.
    expect(await ask(sql)).toEqual(before[i]);
    expect(await ask(`${sql} -- again`)).toEqual(before[i]);
  }
  for (const sql of LATER_TABLES.map(rename))
    await expect(check(sql)).rejects.toMatchObject({ code: 'invalid_parameter' });
});
