import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runTests } from '../../src/cli/testing/run-tests.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a case of an alert expects the labels of what fires', async () => {
  await cp('template', folder.path, { recursive: true });
  const alertFile = join(folder.path, 'alerts/failing.paths.yaml');
  const shipped = await readFile(alertFile, 'utf8');
  await writeFile(alertFile, shipped.replace('above: 10', 'above: 0').replace('for: 120', 'for: 0'));
  const testFile = join(folder.path, 'endpoints/failing.paths/tests/last-hour.yaml');
  const cases = [
    '{ alert: failing.paths, rows: [{ path: /rest/v1/orders }, { path: /rest/v1/users }] }',
    '{ alert: failing.paths, rows: [] }',
    '{ alert: failing.paths, now: 2026-11-20T14:00:00Z, rows: [] }',
    '{ alert: nothing, rows: [] }',
  ];
  const text = await readFile(testFile, 'utf8');
  await writeFile(
    testFile,
    text.replace(/^cases:[\s\S]*/m, `cases:\n${cases.map((one) => `  - ${one}\n`).join('')}`),
  );
  const dir = (name: string) => join(folder.path, name);
  const config = testConfig(dir('data'), {
    TAILRACE_ENDPOINTS_DIR: dir('endpoints'),
    TAILRACE_SOURCES_DIR: dir('sources'),
    TAILRACE_ALERTS_DIR: dir('alerts'),
  });
  const results = await runTests({ config, names: [] });
  expect(results.map(({ isPassed }) => isPassed)).toEqual([true, false, true, false]);
  expect(results[0]?.case.name).toBe('alert=failing.paths');
  await writeFile(
    testFile,
    text.replace(/^cases:[\s\S]*/m, 'cases:\n  - { alert: a, parameters: {}, rows: [] }\n'),
  );
  await expect(runTests({ config, names: [] })).rejects.toThrow('a case with "alert" has no "parameters"');
});
