import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyQueries } from '../../src/verify/verify.ts';
import { openTestStore } from '../support/service.ts';

/**
 * What a stored query may not do: the check rejects its definition. That the engine rejects the text too, on a reader that was handed
 * it past the check, is a part of the engines' contract.
 */
const { core, config, close } = await openTestStore();
const { engine } = core;
let called = 0;
const stranger = createServer((_request, response) => {
  called++;
  response.end('1\n');
});
await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
const address = stranger.address();
const port = typeof address === 'object' ? address?.port : 0;
afterAll(async () => {
  stranger.close();
  await close();
});

const written = join(config.dataDir, 'written');
const host = `127.0.0.1:${port}`;

const REJECTED = {
  'files, as a table': `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
  'the network, by url()': `SELECT * FROM url('http://${host}/', 'LineAsString')`,
  'the network, by remote()': `SELECT * FROM remote('${host}', 'system.one')`,
  'other processes': `SELECT * FROM executable('id', 'LineAsString', 'x String')`,
  users: 'SELECT name FROM system.users',
  'the rows that it inserts': `INSERT INTO edge_logs (id) VALUES ('1')`,
  'the file that it inserts into': `INSERT INTO FUNCTION file('${written}', 'CSV') SELECT 1`,
  'the rights that it gives': 'GRANT ALL ON *.* TO default',
  'the server that it stops': 'SYSTEM SHUTDOWN',
  'the backup that it writes': `BACKUP TABLE tailrace.edge_logs TO File('${written}')`,
  'the limits that it lifts': 'SELECT 1 SETTINGS max_execution_time = 0',
  'the lock that it opens': 'SET readonly = 0',
  'a file as a value': `SELECT file('/etc/passwd')`,
  'a file through another function': `SELECT arrayMap(file, ['/etc/passwd'])`,
  'the queries of others that it kills': `KILL QUERY WHERE query_id = 'nothing' ASYNC`,
  'a second statement': 'SELECT 1; SELECT 2',
  'a file that its answer goes into': `SELECT 1 INTO OUTFILE '${written}.out'`,
  'another database': 'USE system',
  'a file through a lambda of APPLY': `SELECT * APPLY(x -> File(x)) FROM (SELECT '/etc/passwd' AS n)`,
  'system tables in a subquery': 'SELECT id FROM edge_logs WHERE id IN (SELECT query FROM system.processes)',
  'system tables by a text inside APPLY': `SELECT * APPLY(x -> (SELECT count() FROM merge('system', 'proc'))) FROM (SELECT 1 AS n)`,
  'the index past what may be seen': `SELECT part_name FROM mergeTreeIndex('tailrace', 'edge_logs')`,
  'a name that writes lines into the parse tree': 'SELECT 2 AS `odd\n  name`',
  'limits that are lifted inside': 'SELECT * FROM (SELECT 1 AS id SETTINGS readonly = 0)',
  'what stands behind its brackets': 'SELECT 1) UNION ALL SELECT * FROM (SELECT 1',
  'a statement behind a comment': 'SELECT 1 /*\n*/) FORMAT Null; DROP TABLE edge_logs --',
} as const;

const [endpoint] = core.registry.endpoints;
async function rejections(sql: string): Promise<string[]> {
  if (endpoint === undefined) throw new Error('an endpoint ships');
  const faults = await verifyQueries(engine, [{ ...endpoint, sql }]);
  return faults.map((fault) => fault.message);
}

describe('a stored query never reaches', () => {
  test.each(Object.entries(REJECTED))('%s: the check rejects it', async (_, sql) => {
    const [message = '', ...others] = await rejections(sql);
    expect(message).not.toMatch(/returns (a|no) column|is of type/); // that would be rejected only for its shape
    expect([message !== '', others]).toEqual([true, []]);
  });

  test('anything outside: nobody was called, nothing was written', () => {
    expect([called, existsSync(written), existsSync(`${written}.out`)]).toEqual([0, false, false]);
  });
});

test('as a request runs it, a stored query is a part of another, where no second statement and no KILL can stand', async () => {
  for (const sql of [
    'KILL QUERY WHERE 1',
    'SELECT 1; SELECT 2',
    'SHOW PROCESSLIST',
    'USE system',
    `SELECT 1 INTO OUTFILE '${written}.in'`,
  ]) {
    const inside = `SELECT * FROM (\n${sql}\n) LIMIT 1`;
    await expect(engine.query(inside, {}, { format: 'TSVRaw' })).rejects.toMatchObject({
      code: 'query_failed',
    });
  }
  expect(existsSync(`${written}.in`)).toBe(false);
});
