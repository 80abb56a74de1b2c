import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openCore } from '../../src/service/open-core.ts';
import { faultsIn } from '../support/faults.ts';
import { testConfig } from '../support/service.ts';
import { NAMED_SQL, SQL, writeDefinitions, YAML } from './support.ts';

const definitions = await writeDefinitions();
const core = await openCore(testConfig(join(definitions.path, 'data'), definitions.env), 'a test');
afterAll(core.close);

async function faults(sql: string, yaml = YAML): Promise<string> {
  await writeFile(join(definitions.path, 'endpoints/sandbox.on/query.sql'), sql);
  await writeFile(join(definitions.path, 'endpoints/sandbox.on/endpoint.yaml'), yaml);
  return (await faultsIn(core.reload)).join('\n').replaceAll(`${definitions.path}/`, '');
}

test('a sandboxed query with plain views is taken, whatever else stands before its SELECT', async () => {
  expect(await faults(SQL)).toBe('');
  expect(await faults(NAMED_SQL)).toBe('');
  expect(await faults(SQL.replace('errors AS (', '(SELECT 1) AS one, errors AS ('))).toBe('');
  expect(await faults(SQL.replace('  app AS (\n', '  app AS (\n    WITH 1 AS z\n'))).toBe('');
});

test.each([
  ['without a view', "SELECT 1 AS n WHERE @project = '' AND @pattern = ''", /needs a query with views/],
  [
    'with a view that has the name of a table and is read by another view',
    SQL.replace('app AS (', 'app_logs AS (').replaceAll(/FROM app\b/g, 'FROM app_logs'),
    /must not read app_logs in view "errors": .* only callers read a view with the name of a table/,
  ],
  [
    'with a view that has the name of a table and is read by an expression',
    SQL.replace('errors AS (', '(SELECT count() FROM secret_logs) AS secrets, secret_logs AS ('),
    /must not read secret_logs in an expression of WITH/,
  ],
  ['with a view that the engine rejects', SQL.replace('status >= worst', 'nobody = 1'), /nobody/],
])('a sandboxed query %s is a fault', async (_, sql, message) => {
  expect(await faults(sql)).toMatch(message);
});

test('a parameter called sql is a fault where sandboxing is on, and a parameter where it is off', async () => {
  const sql = SQL.replace('project = @project', 'project = @project AND id != @sql');
  const yaml = YAML.replace('parameters:', 'parameters:\n  sql: { type: string, description: A text. }');
  const fault = /^endpoints\/sandbox.on\/endpoint.yaml:9: "sql" is where callers send their SELECT/;
  expect(await faults(sql, yaml)).toMatch(fault);
  expect(await faults(sql, yaml.replace('query_sandboxing: true', 'query_sandboxing: false'))).toBe('');
});
