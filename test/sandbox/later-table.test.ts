import { afterAll, expect, test } from 'vitest';
import { trusted } from '../../src/sql/sql.ts';
import { ATTACKS } from './attacks.ts';
import { CANARY, openSandbox } from './support.ts';

const { core, check, ask, close } = await openSandbox();
afterAll(close);

const ALLOWED = [
  'WITH later AS (SELECT id FROM app) SELECT id FROM later',
  'WITH later AS (SELECT id FROM app) SELECT id FROM (SELECT id FROM later) WHERE id IN (SELECT id FROM later)',
  'WITH later AS (SELECT id FROM app), b AS (SELECT id FROM later) SELECT b.id, (SELECT max(id) FROM later) AS m FROM b JOIN later ON b.id = later.id',
  'WITH later AS (SELECT id FROM app) SELECT id FROM later UNION ALL SELECT id FROM later',
  'SELECT * FROM (WITH later AS (SELECT id FROM app) SELECT arrayMap(x -> (SELECT max(id) FROM later), [1]) AS m FROM later)',
  'WITH a AS (WITH later AS (SELECT id FROM app) SELECT id FROM later) SELECT id FROM a',
];

/** Creates a table as another process on the same server may, at any moment. */
async function createTable(name: string): Promise<void> {
  await core.engine.command(trusted(`CREATE TABLE ${name} (id String) ENGINE = MergeTree ORDER BY id`));
  await core.engine.insert({
    table: name,
    columns: ['id'],
    format: 'TabSeparated',
    bytes: Buffer.from(`${CANARY}\n`),
  });
}

test('a text that was checked before a table of its name was there never reads it', async () => {
  const before: unknown[] = [];
  for (const sql of ALLOWED) before.push(await ask(sql));
  for (const sql of ATTACKS['names of tables to come'] ?? [])
    await expect(check(sql)).rejects.toMatchObject({ code: 'invalid_parameter' });
  await createTable('later');
  for (const [i, sql] of ALLOWED.entries()) {
    // Kept since before; then newly checked, by another spelling of the same.
    const rows = await ask(sql);
    expect(rows).toEqual(before[i]);
    expect(JSON.stringify(rows)).not.toContain(CANARY);
    expect(await ask(`${sql} -- again`)).toEqual(before[i]);
  }
  for (const sql of ATTACKS['names of tables to come'] ?? [])
    await expect(check(sql)).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('the engine itself reads a view where the check says so, and the table elsewhere', async () => {
  await createTable('shadow');
  const rows = async (sql: string) => JSON.stringify(await core.engine.inspect(trusted(sql)));
  const view = "shadow AS (SELECT 'own' AS id)";
  expect(await rows(`WITH ${view} SELECT id FROM (SELECT id FROM shadow)`)).not.toContain(CANARY);
  expect(await rows(`WITH ${view} SELECT id FROM shadow UNION ALL SELECT id FROM shadow`)).not.toContain(
    CANARY,
  );
  expect(
    await rows(`SELECT t.id, shadow.id FROM (WITH ${view} SELECT id FROM shadow) AS t, shadow`),
  ).toContain(CANARY);
  expect(await rows('WITH shadow AS (SELECT id FROM shadow) SELECT id FROM shadow')).toContain(CANARY);
});
