import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { isBoundedScan } from '../../src/sql/bounded-scan.ts';

const SCAN = { table: 'logs', column: 'timestamp', parameter: 'page_from' };
const BOUND = 'timestamp >= @page_from';

test.each([
  `SELECT id FROM logs WHERE ${BOUND}`,
  `SELECT id FROM logs WHERE project = @project AND ${BOUND} ORDER BY timestamp DESC LIMIT 5`,
  `WITH v AS (SELECT id, timestamp AS at FROM logs WHERE ${BOUND}) SELECT at AS timestamp FROM v`,
  `SELECT max(at) AS timestamp FROM (SELECT timestamp AS at FROM logs WHERE ${BOUND})`,
])('%s reads only rows from the bound on', (sql) => {
  expect(isBoundedScan(sql, SCAN)).toBe(true);
});

test.each([
  'SELECT id FROM logs',
  'SELECT id FROM logs WHERE timestamp >= @page_until',
  `SELECT id FROM logs WHERE a OR ${BOUND}`,
  `SELECT id FROM logs WHERE NOT ${BOUND}`,
  `SELECT id FROM other.logs WHERE ${BOUND}`,
  `SELECT id, (SELECT count() FROM logs) FROM logs WHERE ${BOUND}`,
  `SELECT id FROM logs WHERE ${BOUND} AND id IN logs`,
  `SELECT now() AS timestamp FROM logs WHERE ${BOUND}`,
  `WITH now() AS timestamp SELECT id FROM logs WHERE ${BOUND}`,
  `SELECT id FROM a JOIN logs WHERE ${BOUND}`,
])('%s may read others', (sql) => {
  expect(isBoundedScan(sql, SCAN)).toBe(false);
});

test('the shipped log of a project reads only the range of its page', async () => {
  const { definitions } = await readDefinitions(parseConfig({}));
  const pages = definitions.endpoints.find(({ name }) => name === 'logs.all')?.pages;
  expect(pages?.readsOnlyRange).toBe(true);
});
