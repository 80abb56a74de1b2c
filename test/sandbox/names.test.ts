import { afterAll, describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { trusted } from '../../src/sql/sql.ts';
import { LATER_TABLES } from './attacks.ts';
import { ESCAPES } from './escapes.ts';
import { LEGITIMATE } from './legitimate.ts';
import { CANARY, openSandbox } from './support.ts';

// Views with the names of tables: app_logs has 30 entries of project p, of 76 in the table; secret_logs has none, of 1.
const { core, check, ask, canaryFile, close } = await openSandbox({}, 'sandbox.named');
afterAll(close);

const rename = (sql: string) =>
  sql.replaceAll(/\bapp\b/g, 'app_logs').replaceAll(/\berrors\b/g, 'secret_logs');

/** The rows, or `undefined` for a text that is refused, before it runs or by the engine. */
async function tryAsk(sql: string): Promise<Record<string, unknown>[] | undefined> {
  return await ask(sql).catch((error: unknown) => {
    if (!(error instanceof TailraceError)) throw error;
    expect(error.message).not.toContain(CANARY);
    return undefined;
  });
}

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
      const rows = await tryAsk(rename(sql));
      expect(JSON.stringify(rows ?? '')).not.toContain(CANARY);
      if (rows !== undefined) answered++;
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

describe('a table that is created after a text was checked', () => {
  test('is never read by it', async () => {
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

  test('is read by the engine only where the check says so', async () => {
    await createTable('shadow');
    const rows = async (sql: string) => JSON.stringify(await core.engine.inspect(trusted(sql)));
    const view = "shadow AS (SELECT 'own' AS id)";
    expect(await rows(`WITH ${view} SELECT id FROM (SELECT id FROM shadow)`)).not.toContain(CANARY);
    expect(await rows('WITH shadow AS (SELECT id FROM shadow) SELECT id FROM shadow')).toContain(CANARY);
    const beside = `SELECT t.id, shadow.id FROM (WITH ${view} SELECT id FROM shadow) AS t, shadow`;
    expect(await rows(beside)).toContain(CANARY);
  });
});

describe('views of one name', () => {
  test('may differ beside each other', async () => {
    const sql = `WITH v AS (SELECT 1 AS n) SELECT n FROM v UNION ALL WITH v AS (SELECT 2 AS n) SELECT n FROM v
      UNION ALL SELECT n FROM (WITH v AS (SELECT 3 AS n) SELECT n FROM v)
      UNION ALL SELECT a.n + b.n FROM (WITH v AS (SELECT 4 AS n), w AS (SELECT n FROM v) SELECT n FROM w) AS a,
        (WITH v AS (SELECT 10 AS n) SELECT n FROM v) AS b`;
    const rows = await ask(sql);
    expect(rows.map((row) => row['n']).toSorted()).toEqual([1, 14, 2, 3]);
  });

  // The engine looks for a table v inside of v, at any depth.
  test.each([
    'WITH v AS (WITH v AS (SELECT 1 AS n) SELECT n FROM v) SELECT n FROM v',
    'WITH w AS (WITH v AS (SELECT 1 AS n) SELECT n FROM v), v AS (SELECT n FROM w) SELECT n FROM v',
  ])('are refused if one is made of another: %s', async (sql) => {
    await expect(check(sql)).rejects.toThrow(/must not call a view v: the name is taken/);
  });
});

describe('a column', () => {
  test.each([
    ['SELECT status AS user, count() AS n FROM app_logs GROUP BY user ORDER BY user', 3],
    ["SELECT lower(id) AS version FROM app_logs WHERE version = 'p1' ORDER BY version", 1],
    ['SELECT database, file FROM (SELECT id AS database, 1 AS file FROM app_logs) WHERE file = 1', 30],
    ['WITH v AS (SELECT count() AS v FROM app_logs) SELECT v FROM v', 1],
    ['SELECT count() AS secret_logs FROM app_logs ORDER BY secret_logs', 1],
  ])('may have the name of a function or a view: %s', async (sql, rows) => {
    expect(await ask(sql)).toHaveLength(rows);
  });

  test.each([
    'arrayMap(file, [@file@])',
    'arrayMap(identity(file), [@file@])',
    'arrayMap(if(1, file, file), [@file@])',
    'arrayExists(t.file, [@file@])',
    'mapApply(file, map(@file@, 1))',
  ])('makes no function of its name: %s', async (call) => {
    for (const [place, decoy] of [
      ['SELECT', 'FROM (SELECT 1 AS file) AS t'],
      ['WITH 1 AS file SELECT', 'FROM app_logs'],
      ['WITH file AS f, file AS upper SELECT', 'FROM (SELECT 1 AS n WHERE (SELECT 1 AS file) = 1)'],
      ['SELECT (SELECT 1 AS file),', ''],
    ]) {
      const text = `${place} ${call} AS x ${decoy}`.replaceAll('@file@', `'${canaryFile}'`);
      expect(JSON.stringify((await tryAsk(text)) ?? '').replaceAll(canaryFile, '')).not.toContain(CANARY);
    }
  });
});
