import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runTests } from '../../src/cli/testing/run-tests.ts';
import { messageOf } from '../../src/errors.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a case of an alert expects the labels of what fires', async () => {
  await cp('template', folder.path, { recursive: true });
  const alertFile = join(folder.path, 'alerts/failing.paths.yaml');
  const shipped = await readFile(alertFile, 'utf8');
  await writeFile(alertFile, shipped.replace('above: 1 ', 'above: 0 ').replace('for: 120', 'for: 0'));
  await rm(join(folder.path, 'endpoints/failing.paths/tests/alert.yaml'));
  const testFile = join(folder.path, 'endpoints/failing.paths/tests/last-hour.yaml');
  const cases = [
    '{ alert: failing.paths, rows: [{ path: /rest/v1/orders }, { path: /rest/v1/users }] }',
    '{ alert: failing.paths, rows: [] }',
    '{ alert: failing.paths, now: 2026-11-20T14:00:00Z, rows: [] }',
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
  const results = await runTests({ config, names: ['failing.paths'] });
  expect(results.map(({ isPassed }) => isPassed)).toEqual([true, false, true]);
  expect(results[0]?.case.name).toBe('alert=failing.paths');
  const line = text.split('\n').findIndex((one) => one.startsWith('cases:')) + 2;
  for (const [wrong, message] of [
    ['{ alert: failing.paths, parameters: {}, rows: [] }', 'a case with "alert" has no "parameters"'],
    ['{ alert: failng.paths, rows: [] }', 'no alert is called "failng.paths"; did you mean failing.paths?'],
    ['{ alert: nothing, rows: [] }', 'no alert is called "nothing"; there are failing.paths'],
    ['{ alert: failing.paths, rows: [{ route: / }] }', 'has no label "route"; its labels are path'],
    ['{ alert: 7, rows: [] }', '"alert" must be the name of an alert'],
  ] as const) {
    await writeFile(testFile, text.replace(/^cases:[\s\S]*/m, `cases:\n  - ${wrong}\n`));
    const run = runTests({ config, names: ['failing.paths'] });
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toThrow(`${testFile}:${line}: `);
  }
  // The alert may be the one whose file has a fault, which is what counts.
  await writeFile(
    testFile,
    text.replace(/^cases:[\s\S]*/m, 'cases:\n  - { alert: failing.paths, rows: [] }\n'),
  );
  await writeFile(alertFile, shipped.replace('above: 1 ', 'above: one '));
  const faults = await runTests({ config, names: ['failing.paths'] }).catch(messageOf);
  expect(faults).toMatch(/failing\.paths\.yaml:\d+: /);
  expect(faults).not.toContain('no alert is called');
});
