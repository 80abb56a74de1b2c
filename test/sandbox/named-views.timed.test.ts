import { afterAll, describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { ESCAPES } from './escapes.ts';
import { LEGITIMATE } from './legitimate.ts';
import { CANARY, NAMED_SQL, openSandbox } from './support.ts';

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
      ['SELECT count() AS n FROM app_logs WHERE id IN (SELECT id FROM app_logs)', 30],
      ['SELECT (SELECT count() FROM app_logs) + (SELECT count() FROM secret_logs) AS n', 30],
      ['WITH x AS (SELECT id FROM app_logs) SELECT count() AS n FROM x, secret_logs', 0],
      ['WITH x AS (SELECT id FROM app_logs) SELECT count() AS n FROM x JOIN app_logs USING (id)', 30],
      [
        'SELECT count() AS n FROM (WITH x AS (SELECT id FROM app_logs), y AS (SELECT id FROM x) SELECT id FROM y)',
        30,
      ],
      ['SELECT max(arrayMap(x -> (SELECT count() FROM app_logs), [1])[1]) AS n FROM app_logs', 30],
      ['WITH (SELECT count() FROM app_logs) AS c SELECT any(c) AS n FROM app_logs', 30],
      ['SELECT count() AS app_logs, app_logs AS n FROM app_logs', 30],
    ] as const)
      expect([sql, (await ask(sql))[0]?.['n']]).toEqual([sql, n]);
  });

  test.each([
    'WITH app_logs AS (SELECT * FROM app_logs) SELECT * FROM app_logs',
    'WITH secret_logs AS (SELECT 1 AS id) SELECT * FROM secret_logs',
    'SELECT * FROM (WITH app_logs AS (SELECT id FROM secret_logs) SELECT id FROM app_logs)',
    'WITH x AS (WITH app_logs AS (SELECT id FROM app_logs) SELECT id FROM app_logs) SELECT id FROM x',
    'SELECT * FROM app_logs AS secret_logs, secret_logs',
    'SELECT * FROM (SELECT 1) AS app_logs, app_logs',
    'SELECT * FROM tailrace.app_logs',
    'SELECT * FROM tailrace.secret_logs AS secret_logs',
    'SELECT id FROM app_logs WHERE id IN app_logs',
    'SELECT id FROM app_logs WHERE id NOT IN (secret_logs)',
    'SELECT count() AS secret_logs FROM app_logs WHERE id IN secret_logs',
    'WITH (SELECT 1) AS app_logs SELECT * FROM app_logs',
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

  test('stays what it is whatever the caller gives the names that it is made of', async () => {
    const names = new Set([...(NAMED_SQL.match(/[a-z_]\w*/gi) ?? []), 'equals', 'less', 'and']);
    const forms = (name: string) => [
      `WITH 0 AS ${name} SELECT count() AS c FROM app_logs`,
      `WITH 'q' AS ${name} SELECT count() AS c FROM app_logs`,
      `WITH notEquals AS ${name} SELECT count() AS c FROM app_logs`,
      `SELECT 'q' AS ${name}, count() AS c FROM app_logs`,
      `SELECT count() AS c FROM app_logs AS ${name}`,
      `SELECT (SELECT count() FROM app_logs) AS c FROM (SELECT 'q' AS ${name}) AS z`,
      `SELECT (SELECT count() FROM app_logs) AS c FROM (SELECT 1) AS ${name}`,
      `SELECT arrayMap(${name} -> (SELECT count() FROM app_logs), [0])[1] AS c`,
      `WITH ${name} AS (SELECT 'q' AS id) SELECT (SELECT count() FROM app_logs) AS c FROM ${name}`,
      `SELECT (SELECT count() FROM app_logs) AS c FROM app_logs ARRAY JOIN [0] AS ${name} LIMIT 1`,
    ];
    let answered = 0;
    for (const sql of [...names].flatMap(forms))
      for (const row of (await tryAsk(sql)) ?? []) {
        answered++;
        expect([sql, row['c']]).toEqual([sql, 30]);
      }
    expect(answered).toBeGreaterThan(100);
  });

  test('is read beside tables that other processes create', async () => {
    await core.engine.command('CREATE TABLE own (id String) ENGINE = MergeTree ORDER BY id');
    expect(await ask('WITH own AS (SELECT id FROM app_logs) SELECT count() AS n FROM own')).toEqual([
      { n: 30 },
    ]);
    await expect(check('SELECT id FROM own')).rejects.toThrow(/must not read own/);
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
    'WITH v AS (SELECT n FROM (WITH v AS (SELECT 1 AS n) SELECT n FROM v)) SELECT n FROM v',
    'WITH w AS (WITH v AS (SELECT 1 AS n) SELECT n FROM v), v AS (SELECT n FROM w) SELECT n FROM v',
    'WITH w AS (WITH v AS (SELECT 1 AS n) SELECT n FROM v), u AS (SELECT n FROM w), v AS (SELECT n FROM u) SELECT n FROM v',
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
    'arrayMap(f, [@file@])',
    'arrayMap(upper, [@file@])',
    'arrayMap(identity(file), [@file@])',
    'arrayMap(if(1, file, file), [@file@])',
    'arrayMap(tuple(file).1, [@file@])',
    'arrayMap([file][1], [@file@])',
    'arrayMap(materialize(file), [@file@])',
    'arraySort(file, [@file@])',
    'arrayFilter((file), [@file@])',
    'arrayExists(t.file, [@file@])',
    'mapApply(file, map(@file@, 1))',
    'groupArrayForEach(file, [@file@])',
    'equals(file, @file@)',
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
