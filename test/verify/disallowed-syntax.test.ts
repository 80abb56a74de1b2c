import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isManaged } from '../../src/definitions/source.ts';
import { readQueryTree } from '../../src/sandbox/syntax-tree.ts';
import { trusted } from '../../src/sql/sql.ts';
import { findForeignTable, findSourcesRead } from '../../src/verify/disallowed-syntax.ts';
import { runs, scale } from '../support/property.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
const { engine, registry } = core;
afterAll(close);
// What an operator may have made in the database by hand: it reads a table of a source without naming it in a query.
beforeAll(() => engine.command('CREATE VIEW others AS SELECT * FROM auth_logs'));

const TABLES = new Set(registry.sources.filter(isManaged).map(({ table }) => table));
const tablesOf = async (sql: string) =>
  findSourcesRead(sql, await readQueryTree(engine, sql), registry.sources)
    ?.map(({ table }) => table)
    .toSorted();

describe('the tables that a query can read', () => {
  test.each([
    ['SELECT 1 FROM edge_logs', ['edge_logs']],
    ['SELECT 1 FROM tailrace.edge_logs', undefined],
    ['SELECT 1 FROM edge_logs x JOIN postgres_logs y ON x.id = y.id', ['edge_logs', 'postgres_logs']],
    ['SELECT 1 FROM edge_logs WHERE id IN auth_logs', ['auth_logs', 'edge_logs']],
    ["SELECT if('a' = 'b', (SELECT count() FROM auth_logs), 0) FROM edge_logs", ['auth_logs', 'edge_logs']],
    ["SELECT COLUMNS('id') APPLY(x -> x IN auth_logs) FROM edge_logs", ['auth_logs', 'edge_logs']],
    ['WITH a AS (SELECT id FROM edge_logs), b AS (SELECT id FROM a) SELECT 1 FROM b', ['edge_logs']],
    ['WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r', []],
    ['SELECT 1 AS auth_logs FROM edge_logs ORDER BY auth_logs', ['auth_logs', 'edge_logs']],
    ['WITH edge_logs AS (SELECT 1 AS id) SELECT id FROM edge_logs', ['edge_logs']],
    [
      'WITH others AS (SELECT id FROM edge_logs) SELECT id FROM (WITH edge_logs AS (SELECT id FROM others) SELECT id FROM edge_logs)',
      ['edge_logs'],
    ],
    ['SELECT currentDatabase() FROM edge_logs', ['edge_logs']],
  ])('are told of %s', async (sql, tables) => {
    expect(await tablesOf(sql)).toEqual(tables);
  });

  test.each([
    ['SELECT 1 FROM others', 'others'],
    ['SELECT 1 FROM tailrace.edge_logs', 'tailrace.edge_logs'],
    ['WITH others AS (SELECT * FROM others) SELECT 1 FROM others', 'another table'],
    ["SELECT hasColumnInTable('tailrace', 'auth_logs', 'id') FROM edge_logs", 'hasColumnInTable()'],
    ['SELECT 1 FROM view(SELECT 1 FROM edge_logs)', 'view()'],
    [
      'SELECT 1 AS `a, identifier: edge_logs` FROM edge_logs WHERE `a, identifier: edge_logs` = 1',
      'another table',
    ],
  ])('are uncertain for %s, which reads beside the tables of sources: %s', async (sql, foreign) => {
    expect(await tablesOf(sql)).toBe(undefined);
    expect(findForeignTable(await readQueryTree(engine, sql), TABLES)).toBe(foreign);
  });

  test('include one that only a lambda names, which is another if it is of no source', async () => {
    const sql = "SELECT COLUMNS('id') APPLY(x -> x IN others) FROM edge_logs";
    expect(findForeignTable(await readQueryTree(engine, sql), TABLES)).toBe('another table');
  });
});

const NAME = fc.constantFrom('edge_logs', 'auth_logs', 'storage_logs', 'others', 'a', 'b');

/** SELECTs nested so deep, whose views may have the names of tables. */
function selects(depth: number): fc.Arbitrary<string> {
  const inner = depth === 0 ? undefined : selects(depth - 1);
  const maybe = (arbitrary: fc.Arbitrary<string> | undefined) =>
    arbitrary === undefined
      ? fc.constant('')
      : fc.oneof({ weight: 2, arbitrary: fc.constant('') }, arbitrary);
  const table = fc.oneof(NAME, ...(inner === undefined ? [] : [inner.map((sql) => `(${sql})`)]));
  const view = inner && fc.tuple(NAME, inner).map(([name, sql]) => `${name} AS (${sql})`);
  const views = view && fc.array(view, { minLength: 1, maxLength: 2 });
  const condition = fc.oneof(
    NAME.map((name) => ` WHERE project IN (SELECT project FROM ${name})`),
    ...(inner === undefined ? [] : [inner.map((sql) => ` WHERE project IN (${sql})`)]),
  );
  return fc
    .tuple(
      maybe(views?.map((list) => `WITH ${list.join(', ')} `)),
      table,
      maybe(table.map((second) => ` JOIN ${second} AS y ON x.project = y.project`)),
      maybe(condition),
      maybe(table.map((other) => ` UNION ALL SELECT project FROM ${other} AS z`)),
    )
    .map(
      ([list, first, join, where, union]) =>
        `${list}SELECT x.project AS project FROM ${first} AS x${join}${where}${union}`,
    );
}

/** What the engine itself finds when it has resolved every name; `undefined` where it does not take the query. */
async function resolve(sql: string): Promise<string[] | undefined> {
  const rows = await engine
    .inspect(trusted(`EXPLAIN QUERY TREE SELECT * FROM (${sql})`))
    .catch(() => undefined);
  return rows?.flatMap((row) => / table_name: tailrace\.(\w+)/.exec(String(row['explain']))?.[1] ?? []);
}

test('are never fewer than those that the engine resolves, views by the names of tables included', async () => {
  let [certain, uncertain] = [0, 0];
  await fc.assert(
    fc.asyncProperty(selects(2), async (sql) => {
      const resolved = await resolve(sql);
      if (resolved === undefined) return;
      const read = await tablesOf(sql);
      if (read === undefined) uncertain++;
      else {
        certain++;
        expect(read).toEqual(expect.arrayContaining(resolved));
      }
    }),
    runs(1_500),
  );
  expect(Math.min(certain, uncertain)).toBeGreaterThan(scale(40));
});
