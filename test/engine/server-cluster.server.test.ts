import { afterAll, expect, test } from 'vitest';
import { applySchema } from '../../src/engine/schema.ts';
import { readStoreState } from '../../src/engine/store-state.ts';
import { createTable } from '../../src/engine/table.ts';
import { InputError } from '../../src/errors.ts';
import { hasEvents } from '../../src/sample/fill.ts';
import { openCore } from '../../src/service/open-core.ts';
import { sql } from '../../src/sql/sql.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { ownFront } from '../support/front.ts';
import { ownFolder, storeEvents, testConfig } from '../support/service.ts';

const folder = await ownFolder();
const front = await ownFront('main');
const env = { CLICKHOUSE_URL: `${front.url}?cluster=main` };
const config = testConfig(folder.path, env);
const core = await openCore(config, 'a test');
const { engine, registry } = core;
const made = front.requests.map(({ sql }) => sql);
afterAll(core.close);

const NAME = 'cloudflare.logs.prod';
const now = Date.now();
const event = { id: 'a', timestamp: now * 1000, project: 'p', event_message: 'x', metadata: {} };

test('every statement that makes tables says so for the whole cluster, and can be read by the engine', async () => {
  const statements = registry.sources.flatMap((source) => createTable(source, 'main'));
  expect(statements).toHaveLength(2 * registry.sources.length);
  for (const { text } of statements) {
    expect(text).toContain(' ON CLUSTER `main`');
    expect(made).toContain(text);
    expect(await engine.inspect(sql`SELECT formatQuery(${text}) AS sql`)).toHaveLength(1);
  }
  expect(made.filter((sql) => sql.startsWith('CREATE DATABASE'))).toEqual([
    'CREATE DATABASE IF NOT EXISTS `tailrace` ON CLUSTER `main`',
  ]);
});

test('events are stored through the table over the cluster, in full before the answer, and read back', async () => {
  await storeEvents(core, NAME, [event], now);
  const insert = front.requests.findLast(({ sql }) => sql.startsWith('INSERT'));
  expect(insert?.sql).toMatch(/^INSERT INTO `edge_logs` /);
  expect(insert?.settings.get('distributed_foreground_insert')).toBe('1');
  const { bytes } = await engine.query('SELECT id FROM edge_logs', {}, { format: 'TSVRaw' });
  expect(bytes.toString()).toBe('a\n');
  expect(await engine.inspect('SELECT id FROM edge_logs_local')).toEqual([{ id: 'a' }]);
  expect((await readStoreState(engine, registry.sources)).get('edge_logs')?.rows).toBe(1);
  expect(await hasEvents(engine, registry.sources)).toBe(true);
});

test('rows are deleted from the tables on every server, and looked for on all of their replicas', async () => {
  const source = registry.getSource(NAME);
  await storeEvents(core, NAME, [{ ...event, id: 'd', project: 'gone' }], now);
  const from = front.requests.length;
  await deleteRows(engine, source, "project = 'gone'");
  expect(await core.followDeletions()).toBe(true);
  const sent = front.requests.slice(from).map(({ sql }) => sql);
  for (const sql of sent.filter((one) => one.startsWith('ALTER')))
    expect(sql).toMatch(/^ALTER TABLE `edge_logs_local` ON CLUSTER `main` /);
  expect(sent.join('\n')).toContain("clusterAllReplicas('main', system.mutations)");
  expect(await engine.inspect('SELECT id FROM edge_logs_local')).toEqual([{ id: 'a' }]);
});

test('a new table in which another process has stored events stays where this one’s definitions are rejected', async () => {
  const reject = async () => {
    throw new InputError(['rejected']);
  };
  const source = { ...registry.getSource(NAME), table: 'stored_logs', columns: [] };
  const columns = ['id', 'timestamp', 'project', 'event_message', 'metadata', 'attributes'];
  const row = { format: 'JSONCompactEachRow' } as const;
  const storeThenReject = async () => {
    await applySchema(engine, [source]); // as the other process, which finds the table
    const bytes = Buffer.from('["a", "2026-11-20 07:00:00", "p", "x", "{}", ""]\n');
    await engine.insert({ ...row, table: source.table, columns, bytes });
    await reject();
  };
  await expect(applySchema(engine, [source], storeThenReject)).rejects.toThrow('rejected');
  expect(await engine.inspect('SELECT id FROM stored_logs')).toEqual([{ id: 'a' }]);
  const empty = { ...source, table: 'empty_logs' };
  await expect(applySchema(engine, [empty], reject)).rejects.toThrow('rejected');
  const tables = await engine.inspect("SELECT table FROM system.columns WHERE name = 'event_message'");
  expect(tables.map(({ table }) => table)).not.toContain('empty_logs_local');
});
