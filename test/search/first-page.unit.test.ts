import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { bindPosition, serviceValues } from '../../src/query/position.ts';
import { createLateStatement } from '../../src/query/statement.ts';
import { createSearch, SEARCH } from '../../src/search/search.ts';

const { sources } = (await readDefinitions(parseConfig({}))).definitions;

/** The statement of a page. @param position `undefined`: the first one */
function write(position?: readonly string[], q = 'heap', mayHaveRows?: (table: string) => boolean): string {
  const searched = parseParameters(SEARCH, { q, project: 'a' }, 1_000);
  const { endpoint, values } = createSearch(searched, {
    ...{ sources, nowMs: 1e12, limits: { searchClausesMax: 100 }, mayHaveRows },
  });
  const { writeSelect, pages } = endpoint;
  if (writeSelect === undefined) throw new Error('a search writes its query late');
  const bound = { ...values, ...bindPosition(pages, position) };
  const all = { ...bound, ...serviceValues(endpoint, bound, { instantMs: 1e12 }) };
  return createLateStatement(endpoint, writeSelect, { values: all }).sql();
}

test('the first page of a search has no conditions of a cursor in the SELECT of each source, and texts of levels once', () => {
  const first = write();
  const next = write(['1000000000000', 'an id', 'postgres.logs', 'a project']);
  expect(next.split("'an id'")).toHaveLength(2 * sources.length + 1);
  expect([first.includes('toUInt64OrZero'), first.includes('NULL OR')]).toEqual([false, false]);
  expect(first.split("'debug5'")).toHaveLength(2);
});

test('a search for a level has all texts of levels only in the SELECTs of sources that have a status, too', () => {
  const both = sources.filter(({ level }) => level?.column !== undefined && level.status !== undefined);
  expect(both.length).toBeLessThan(sources.length);
  expect(write(undefined, 'level:error').split("'debug5'")).toHaveLength(2 + both.length);
});

test('tables without rows are left out of the query, unless it would read none', () => {
  const tablesOf = (sql: string) => [...sql.matchAll(/FROM `(\w+)` AS T/g)].map(([, table]) => table);
  const [first, second, third] = sources.map(({ table }) => table);
  expect(tablesOf(write())).toEqual(sources.map(({ table }) => table));
  expect(tablesOf(write(undefined, 'a', (table) => [first, third].includes(table)))).toEqual([first, third]);
  expect(tablesOf(write(undefined, 'a', () => false))).toEqual([first]);
  expect(second).toBeDefined();
});
