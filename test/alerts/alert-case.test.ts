import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runTests } from '../../src/cli/testing/run-tests.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a case of an alert expects the labels of what fires', async () => {
  await cp('template', folder.path, { recursive: true });
  const dir = (name: string) => join(folder.path, name);
  const alertFile = dir('alerts/failing.paths.yaml');
  const shipped = await readFile(alertFile, 'utf8');
  await writeFile(alertFile, shipped.replace('above: 1 ', 'above: 0 ').replace('for: 120', 'for: 0'));
  await rm(dir('endpoints/failing.paths/tests/alert.yaml'));
  const testFile = dir('endpoints/failing.paths/tests/last-hour.yaml');
  const text = await readFile(testFile, 'utf8');
  const config = testConfig(dir('data'), {
    TAILRACE_ENDPOINTS_DIR: dir('endpoints'),
    TAILRACE_SOURCES_DIR: dir('sources'),
    TAILRACE_ALERTS_DIR: dir('alerts'),
  });
  const runCases = async (...cases: string[]) => {
    const lines = cases.map((one) => `  - ${one}\n`).join('');
    await writeFile(testFile, text.replace(/^cases:[\s\S]*/m, `cases:\n${lines}`));
    return await runTests({ config, names: ['failing.paths'] });
  };
  const results = await runCases(
    '{ alert: failing.paths, rows: [{ path: /rest/v1/orders }, { path: /rest/v1/users }] }',
    '{ alert: failing.paths, rows: [] }',
    '{ alert: failing.paths, now: 2026-11-20T14:00:00Z, rows: [] }',
  );
  expect(results.map(({ isPassed }) => isPassed)).toEqual([true, false, true]);
  const line = text.split('\n').findIndex((one) => one.startsWith('cases:')) + 2;
  for (const [wrong, message] of [
    ['{ alert: failing.paths, parameters: {}, rows: [] }', 'a case with "alert" has no "parameters"'],
    ['{ alert: failng.paths, rows: [] }', 'no alert is called "failng.paths"; did you mean failing.paths?'],
    ['{ alert: failing.paths, rows: [{ route: / }] }', 'has no label "route"; its labels are path'],
  ] as const) {
    const run = runCases(wrong);
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toThrow(`${testFile}:${line}: `);
  }
});
