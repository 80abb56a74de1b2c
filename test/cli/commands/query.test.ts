import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { writeDefinitions } from '../../sandbox/support.ts';
import { endLeftProcesses, runCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
const definitions = await writeDefinitions();
afterAll(async () => {
  await definitions.remove();
  await folder.remove();
});
afterEach(endLeftProcesses);
const env = { ...definitions.env, TAILRACE_DATA_DIR: join(folder.path, 'data') };
const query = (...args: string[]) => runCli(['query', ...args], { env });

describe('tailrace query --format', () => {
  test.each([
    [['--format', 'csv'], '"n"\r\n0\r\n'],
    [['--format', 'ndjson'], '{"n":0}\n'],
    [['-p', 'format=csv'], '"n"\r\n0\r\n'],
    [['--format', 'json'], '{"result":[{"n":0}]}\n'],
  ])('%j prints the answer as it is', async (args, expected) => {
    const { code, stdout, stderr } = await query('sandbox.off', '-p', 'project=a', ...args);
    expect([code, stdout, stderr]).toEqual([0, expected, '']);
  });

  test.each([
    [['--format', 'xml'], 2, /json, ndjson, csv, arrow, parquet, prometheus/],
    [['--format', 'csv', '--table'], 2, /--table.*--format/],
    [['-p', 'format=csv', '--table'], 1, /--table needs an answer in JSON, not in csv/],
    [
      ['-p', 'format=xml'],
      1,
      /format must be one of json, ndjson, csv, arrow, parquet(, prometheus)?, not "xml"/,
    ],
  ])('%j is refused', async (args, exit, message) => {
    const { code, stdout, stderr } = await query('sandbox.off', '-p', 'project=a', ...args);
    expect([code, stdout, stderr]).toEqual([exit, '', expect.stringMatching(message)]);
  });
});

describe('tailrace query with a parameter that the endpoint does not have', () => {
  test('is refused, with the names that may be meant', async () => {
    const { code, stdout, stderr } = await query('sandbox.off', '-p', 'projct=a', '-p', 'zzz=1');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^tailrace: parameter "projct" of sandbox\.off is not known; did you mean project\? known here: project/,
    );
    expect(stderr).toContain('parameter "zzz" of sandbox.off is not known; known here: ');
  });
});

describe('tailrace query with a SELECT of its own', () => {
  test.each([
    ['--sql', 'SELECT @project AS p'],
    ['-p', 'sql=SELECT @project AS p'],
  ])('runs it, given by %s', async (option, sql) => {
    const { code, stdout } = await query('sandbox.on', '-p', 'project=a', option, sql);
    expect([code, stdout]).toEqual([0, '{"result":[{"p":"a"}]}\n']);
  });

  test('is refused where the endpoint has sandboxing off', async () => {
    const { code, stderr } = await query('sandbox.off', '-p', 'project=a', '--sql', 'SELECT 1');
    expect([code, stderr]).toEqual([
      1,
      'tailrace: --sql needs an endpoint with query_sandboxing: true, which sandbox.off does not have\n',
    ]);
  });
});
